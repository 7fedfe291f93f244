"""Entries with certain names in a tree of folders, found again at little cost."""

from __future__ import annotations

import os
import stat
import threading
import time
from collections.abc import Callable, Collection
from pathlib import Path
from typing import Final

_TOO_YOUNG: Final = 50_000_000
"""Nanoseconds. A folder that changed less than this before it was listed may change again without a newer
time: it is listed again."""
_LIST_AGAIN: Final = 0

IsWanted = Callable[[str, str, bool], bool]
"""Takes the name of a folder, the name of an entry in it, and whether the entry is a folder itself."""


class NamedEntries:
    """The entries below `top` that `is_wanted` names. Thread-safe.

    The first look lists every folder. Later looks ask each folder for its time of change and list only those
    that changed: some 3 ms for 1,000 folders. That time is ctime, which no program can set back. A wanted
    folder isn't entered, nor is one whose name is among `passed_over`, nor a link.
    """

    def __init__(self, top: Path, is_wanted: IsWanted, passed_over: Collection[str] = ()) -> None:
        self._top = str(top)
        self._is_wanted = is_wanted
        self._passed_over = frozenset(passed_over)
        self._stamps: dict[str, int] = {}
        """When each known folder had changed, in nanoseconds."""
        self._wanted: dict[str, list[str]] = {}
        self._lock = threading.Lock()

    def found(self) -> tuple[Path, ...]:
        """All that are there now. Blocks: it looks at the disk."""
        with self._lock:
            for folder in [*self._changed(), *(() if self._top in self._stamps else (self._top,))]:
                self._list_from(folder)
            return tuple(Path(path) for wanted in self._wanted.values() for path in wanted)

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
        name = os.path.basename(folder)  # noqa: PTH119 - asked for every folder
        inside: list[str] = []
        wanted: list[str] = []
        with os.scandir(folder) as entries:
            for entry in entries:
                is_folder = entry.is_dir(follow_symlinks=False)
                if self._is_wanted(name, entry.name, is_folder):
                    wanted.append(entry.path)
                elif is_folder and entry.name not in self._passed_over:
                    inside.append(entry.path)
        self._stamps[folder] = _LIST_AGAIN if is_young else changed
        self._wanted.pop(folder, None)
        if wanted:
            self._wanted[folder] = wanted
        return inside

    def _forget(self, folder: str) -> None:
        self._stamps.pop(folder, None)
        self._wanted.pop(folder, None)
