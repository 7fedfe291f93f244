"""Entries with certain names in a tree of folders, found again at little cost."""

from __future__ import annotations

import os
import stat
import threading
import time
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from keen_tui.system.folders import change_mode, opened_folder

_TOO_YOUNG: Final = 50_000_000
"""Nanoseconds. A folder that changed less than this before it was listed may change again without a newer
time: it is listed again."""
_LIST_AGAIN: Final = 0

KindOf = Callable[[str, bool], int]
"""Takes the name of an entry and whether it is a folder; gives its kinds as bits, 0 for none."""


class NamedEntries:
    """The entries below `top` that are of some kind. Thread-safe.

    The first look lists every folder. Later looks ask each folder for its time of change and list only those
    that changed: some 3 ms for 1,000 folders. That time is ctime, which no program can set back. Links aren't
    followed.

    Args:
        kinds: takes the path of a folder, from `top`, and gives what tells the kinds of its entries.
        passed_over: names of folders that aren't entered.
        closed: a folder of one of these kinds isn't entered either.
    """

    def __init__(
        self, top: Path, kinds: Callable[[str], KindOf], passed_over: Collection[str] = (), closed: int = -1
    ) -> None:
        self._top = str(top)
        self._kinds = kinds
        self._passed_over = frozenset(passed_over)
        self._closed = closed
        self._stamps: dict[str, int] = {}
        """When each known folder had changed, in nanoseconds."""
        self._found: dict[str, Mapping[str, int]] = {}
        """The entries of some kind by the folder that they are in, each with its kinds."""
        self._lock = threading.Lock()

    def look(self) -> Mapping[str, int]:
        """All that are there now, by their whole paths, each with its kinds. Blocks: it looks at the disk."""
        with self._lock:
            for folder in [*self._changed(), *(() if self._top in self._stamps else (self._top,))]:
                self._list_from(folder)
            return self._all()

    def last_seen(self) -> Mapping[str, int]:
        """What the last look found."""
        with self._lock:
            return self._all()

    def folders(self) -> frozenset[str]:
        """The folders that the last look found."""
        with self._lock:
            return frozenset(self._stamps)

    def _all(self) -> Mapping[str, int]:
        return {path: kinds for found in self._found.values() for path, kinds in found.items()}

    def _changed(self) -> list[str]:
        """The known folders that may hold other entries than when they were listed; those that are gone are
        forgotten."""
        changed, lstat = [], os.lstat
        for folder, stamp in tuple(self._stamps.items()):
            try:
                is_same = lstat(folder).st_ctime_ns == stamp
            except OSError:
                self._forget(folder)
            else:
                if not is_same:
                    changed.append(folder)
        return changed

    def _list_from(self, top: str) -> None:
        """List a folder, and those below that aren't known."""
        waiting = [top]
        while waiting:
            folder = waiting.pop()
            try:
                inside = self._list(folder)
            except OSError:
                self._forget(folder)
            else:
                waiting += (each for each in inside if each not in self._stamps)

    def _list(self, folder: str) -> list[str]:
        """List one folder; gives the folders in it.

        Raises:
            OSError: it isn't a folder, or can't be listed.
        """
        status = os.lstat(folder)
        if not stat.S_ISDIR(status.st_mode):
            raise NotADirectoryError(folder)
        changed = status.st_ctime_ns
        is_young = abs(time.time_ns() - changed) < _TOO_YOUNG
        kind_of = self._kinds(folder[len(self._top) :].lstrip("/"))
        inside: list[str] = []
        found: dict[str, int] = {}
        with _listed(folder) as entries:
            for entry in entries:
                is_folder = entry.is_dir(follow_symlinks=False)
                if kinds := kind_of(entry.name, is_folder):
                    found[entry.path] = kinds
                if is_folder and not kinds & self._closed and entry.name not in self._passed_over:
                    inside.append(entry.path)
        self._stamps[folder] = _LIST_AGAIN if is_young else changed
        self._found.pop(folder, None)
        if found:
            self._found[folder] = found
        return inside

    def _forget(self, folder: str) -> None:
        self._stamps.pop(folder, None)
        self._found.pop(folder, None)


@contextmanager
def _listed(folder: str) -> Iterator[Iterator[os.DirEntry[str]]]:
    """The entries of a folder. One whose owner, who we are, may not list it is made so meanwhile: what lies
    in it can be used all the same.

    Raises:
        OSError: it can't be listed.
    """
    try:
        entries = os.scandir(folder)
    except PermissionError:
        with _opened_up(folder), os.scandir(folder) as entries:
            yield entries
        return
    with entries:
        yield entries


@contextmanager
def _opened_up(folder: str) -> Iterator[None]:
    with opened_folder(Path(folder)) as descriptor:
        mode = stat.S_IMODE(os.fstat(descriptor).st_mode)
        change_mode(descriptor, mode | stat.S_IRWXU)
        try:
            yield
        finally:
            change_mode(descriptor, mode)
