"""The files of the workspace that git doesn't ignore, and which of them changed since the last look."""

from __future__ import annotations

import os
import stat
import sys
import time
from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Final

from msgspec import Struct

from keen_tui.tools.sandbox.noted_entries import PACKAGES
from keen_tui.tools.search.gitignore import IgnoreRules, is_ignored, start_of_rules, with_rules_of
from keen_tui.tools.work_tree.hints import Hints
from keen_tui.tools.work_tree.repository import Repository, repository_above, repository_at

MOST_FILES: Final = 50_000
"""A larger work tree isn't watched: looking at it would hold up every command."""

MOST_FOLDERS: Final = 10_000

MOST_ASKED: Final = 5_000
"""In a larger tree not every file is asked for its time of change, which takes some 3 ms for 1,000."""

_TOO_YOUNG: Final = 50_000_000
"""Nanoseconds. What changed less than this before a look may change again without a newer time: it counts as
changed at the next look too."""

_UNKNOWN: Final = 0

_COARSE_CLOCK: Final = 5
"""CLOCK_REALTIME_COARSE of Linux, which Python doesn't name."""

_IGNORE_FILE: Final = ".gitignore"

Stamp = tuple[int, int, int]
"""Time of change in nanoseconds, inode, and mode of a file. No program can set that time back."""


class TooLarge(Exception):
    """The work tree has more files or folders than can be watched."""


class Difference(Struct, frozen=True):
    """The differences that a check found, by paths from the root with forward slashes. A `changed` file may
    have the same content as before. `noticed` files were there before and were ignored until now."""

    new: frozenset[str]
    gone: frozenset[str]
    changed: frozenset[str]
    noticed: frozenset[str]


class _Folder(Struct):
    """A watched folder. `changed` is its time of change in nanoseconds when it was listed; `rules` are those
    inside it."""

    changed: int
    rules: IgnoreRules
    repository: Repository | None
    files: frozenset[str]
    folders: frozenset[str]


class WorkTree:
    """The files and links below `root`; nothing in `.git`, and no special files.

    The first look lists every folder. Later looks list the folders that changed, and ask every file for its
    time of change. All methods block, and one look runs at a time.
    """

    def __init__(self, root: Path, *, most_files: int = MOST_FILES) -> None:
        self._root = root
        self._most_files = most_files
        self._folders: dict[str, _Folder] = {}
        self._repositories: dict[str, Repository] = {}
        self._hints = Hints()
        self._restamped: set[str] = set()
        self._young: set[str] = set()
        self._looked_at = 0
        self.files: dict[str, Stamp] = {}
        """Those that the last look found."""

    def look(self, *, asks_all: bool = True) -> Difference:
        """Compare with the last look.

        In a large tree, and unless it `asks_all`, only the files are asked that the system says were touched,
        where it can say so. That misses what other machines do to a shared folder, and changes by way of hard
        links from elsewhere.

        Raises:
            TooLarge: there are too many files.
        """
        before, began = dict(self.files), _file_time()
        self._restamped.clear()
        touched = self._hints.touched()
        read_anew = [each for each in self._repositories.values() if each.refresh()]
        listed = self._list_changed()
        if touched is not None and not (asks_all and len(before) <= MOST_ASKED):
            self._ask({name: before[name] for name in touched | self._young if name in before}, listed)
        else:
            self._ask(before, listed)
        now = self.files.keys()
        new, gone = frozenset(now - before.keys()), frozenset(before.keys() - now)
        changed = frozenset(self._restamped & before.keys() & now)
        self._follow_rules(new | gone | changed, read_anew)
        noticed = self.files.keys() - before.keys() - new
        made = {name for name in noticed if self._changed_since_last_look(name)}
        self._looked_at = began
        return Difference((new & self.files.keys()) | made, gone, changed, frozenset(noticed - made))

    @property
    def is_known(self) -> bool:
        """Whether a look has found the folder; it may be empty."""
        return bool(self._folders)

    @property
    def repositories(self) -> tuple[Repository, ...]:
        """Those that the files belong to."""
        return tuple(self._repositories.values())

    def repository_of(self, name: str) -> Repository | None:
        """The repository that a file belongs to, or belonged to."""
        folder = _folder_of(name)
        while folder and folder not in self._folders:
            folder = _folder_of(folder)
        found = self._folders.get(folder)
        return found.repository if found else None

    def _list_changed(self) -> set[str]:
        """List the folders that changed; gives the files in them."""
        listed: set[str] = set()
        for name, folder in tuple(self._folders.items()):
            if name not in self._folders:
                continue  # it went with one above
            try:
                is_same = os.lstat(self._path(name)).st_ctime_ns == folder.changed
            except OSError:
                self._forget(name)
            else:
                if not is_same:
                    listed |= self._list(name)
        return listed if self._folders else self._list("")

    def _ask(self, stamps: Mapping[str, Stamp], listed: Collection[str]) -> None:
        """Ask files for their time of change, but for those that were just listed."""
        lstat, prefix = os.lstat, f"{self._root}/"
        for name, (changed, _, _) in stamps.items():
            try:
                status = lstat(prefix + name)
            except OSError:
                self._drop(name)  # it is gone, or its folder is
                continue
            if status.st_ctime_ns != changed and name not in listed:
                self._note(name, status)

    def _list(self, top: str, *, whole: bool = False) -> set[str]:
        """List a folder, and below it those that aren't known, or the `whole` of it; gives the files in
        them."""
        listed: set[str] = set()
        waiting = [top]
        while waiting:
            name = waiting.pop()
            known = self._folders.get(name)
            folder = self._list_one(name, None if whole else known)
            if folder is None:
                self._forget(name)
                continue
            self._folders[name] = folder
            listed |= folder.files
            for gone in known.folders - folder.folders if known else ():
                self._forget(gone)
            for gone in known.files - folder.files if known else ():
                self._drop(gone)
            other = whole or (known is not None and known.repository is not folder.repository)
            waiting += (each for each in folder.folders if other or each not in self._folders)
            if len(self.files) > self._most_files or len(self._folders) > MOST_FOLDERS:
                raise TooLarge
        return listed

    def _list_one(self, name: str, known: _Folder | None) -> _Folder | None:
        """List a folder; None if it isn't one, or can't be listed. One that is `known` keeps its rules."""
        path = self._path(name)
        self._hints.watch(path, name)
        files: set[str] = set()
        folders: set[str] = set()
        try:
            status = os.lstat(path)
            if not stat.S_ISDIR(status.st_mode):
                return None
            with os.scandir(path) as found:
                entries = list(found)
        except OSError:
            return None
        repository, rules = self._within(name, any(entry.name == ".git" for entry in entries))
        if known and known.repository is repository:
            rules = known.rules
        prefix = f"{name}/" if name else ""
        for entry in entries:
            inside = prefix + entry.name
            is_folder = entry.is_dir(follow_symlinks=False)
            if entry.name == ".git" or not _is_watched(entry, inside, is_folder, repository, rules):
                continue
            if is_folder:
                folders.add(inside)
                continue
            try:
                found_now = entry.stat(follow_symlinks=False)
            except OSError:
                continue
            if stat.S_ISREG(found_now.st_mode) or stat.S_ISLNK(found_now.st_mode):
                files.add(inside)
                self._note(inside, found_now)
        changed = _UNKNOWN if status.st_ctime_ns > time.time_ns() - _TOO_YOUNG else status.st_ctime_ns
        return _Folder(changed, rules, repository, frozenset(files), frozenset(folders))

    def _within(self, name: str, has_repository: bool) -> tuple[Repository | None, IgnoreRules]:
        """The repository of a folder, and the rules inside it."""
        path = Path(self._path(name))
        if has_repository and name not in self._repositories and (found := repository_at(path, self._root)):
            found.refresh()
            self._repositories[name] = found
        own = self._repositories.get(name) if has_repository else None
        if own:
            return own, with_rules_of(path, own.rules)
        if name:
            above = self._folders[_folder_of(name)]
            return above.repository, with_rules_of(path, above.rules)
        return self._above_root()

    def _above_root(self) -> tuple[Repository | None, IgnoreRules]:
        """The repository that the root lies in, and the rules inside the root."""
        start = start_of_rules(self._root, self._root)
        repository = self._repositories.get("/")
        if repository is None and start != self._root:
            repository = repository_above(self._root.parent, self._root)
            if repository:
                repository.refresh()
                self._repositories["/"] = repository
        rules = repository.rules if repository else ()
        for above in reversed(self._root.parents):
            if start != self._root and (above == start or start in above.parents):
                rules = with_rules_of(above, rules)
        return repository, with_rules_of(self._root, rules)

    def _follow_rules(self, touched: frozenset[str], read_anew: Iterable[Repository]) -> None:
        """Watch what other rules, or another index, have be watched from now on."""
        for name in sorted(name for name in touched if name.rpartition("/")[2] == _IGNORE_FILE):
            if (folder := _folder_of(name)) in self._folders:
                self._list(folder, whole=True)
        missed = {name for each in read_anew for name in each.tracked if name not in self.files}
        folders = {_folder_of(name) for name in missed if os.path.lexists(self._path(name))}
        for folder in sorted(map(self._known_above, folders)):
            self._list(folder)

    def _changed_since_last_look(self, name: str) -> bool:
        try:
            return os.lstat(self._path(name)).st_ctime_ns >= self._looked_at
        except OSError:
            return False

    def _known_above(self, folder: str) -> str:
        while folder and folder not in self._folders:
            folder = _folder_of(folder)
        return folder

    def _note(self, name: str, status: os.stat_result) -> None:
        is_young = status.st_ctime_ns > time.time_ns() - _TOO_YOUNG
        stamp = (_UNKNOWN if is_young else status.st_ctime_ns, status.st_ino, status.st_mode)
        if is_young or name in self._young or self.files.get(name) != stamp:
            self._restamped.add(name)
        (self._young.add if is_young else self._young.discard)(name)
        self.files[name] = stamp

    def _drop(self, name: str) -> None:
        self.files.pop(name, None)
        self._young.discard(name)

    def _forget(self, name: str) -> None:
        """A folder is gone, or ignored now."""
        for each in _below(name, self._folders):
            folder = self._folders.pop(each)
            self._repositories.pop(each, None)
            for file in folder.files:
                self._drop(file)

    def _path(self, name: str) -> str:
        return f"{self._root}/{name}" if name else str(self._root)


def _is_watched(
    entry: os.DirEntry[str], name: str, is_folder: bool, repository: Repository | None, rules: IgnoreRules
) -> bool:
    if repository and (repository.has_below(name) if is_folder else name in repository.tracked):
        return True
    if is_folder and not repository and entry.name in PACKAGES:
        return False
    return not is_ignored(Path(entry.path), is_folder, rules)


def _file_time() -> int:
    """The time in nanoseconds, by the clock that files get theirs from: on Linux it ticks some 250 times a
    second."""
    return time.clock_gettime_ns(_COARSE_CLOCK) if sys.platform == "linux" else time.time_ns()


def _folder_of(name: str) -> str:
    return name.rpartition("/")[0]


def _below(name: str, folders: dict[str, _Folder]) -> Iterator[str]:
    """A known folder and all known folders below it."""
    waiting = [name]
    while waiting:
        each = waiting.pop()
        if each in folders:
            waiting += folders[each].folders
            yield each
