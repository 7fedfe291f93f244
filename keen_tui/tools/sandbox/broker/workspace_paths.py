"""The places in a workspace where a broker works for a command, and how it reaches them safely.

The broker has rights that the command lacks, so it never follows a path blindly. It walks from the
workspace's own folder, one name at a time and never through a link, and then works with the descriptor of the
folder that it has reached. Swapping folders meanwhile changes nothing: the descriptor stays with its folder.
"""

from __future__ import annotations

import os
import stat
import unicodedata
from collections.abc import Iterable
from contextlib import ExitStack, suppress
from functools import cached_property
from pathlib import Path
from typing import Final

Inode = tuple[int, int]
"""Device and number of a file."""

FolderKey = tuple[str, ...]
"""A path from the workspace, in folded names."""

_AS_FOLDER: Final = os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_OF_PROCESSES: Final = ("/proc/", "/dev/")
"""Links in these folders lead elsewhere for each process."""

_NOT_SEEN: Final = ("Cf", "Mn")
_FILLERS: Final = frozenset("\u115f\u1160\u3164\uffa0")


class NotOurs(Exception):
    """The broker does nothing at this path; the kernel decides."""


class Elsewhere(NotOurs):
    """The path leads out of the workspace."""


class ClosedPaths:
    """Paths below a workspace where a broker does nothing, whether they exist or not."""

    def __init__(self, workspace: Path, paths: Iterable[Path]) -> None:
        self.workspace = workspace
        self.paths = tuple(path for path in paths if path.is_relative_to(workspace))
        self._keys = {self._key(path) for path in self.paths}
        self._above = {key[:size] for key in self._keys for size in range(len(key))}

    def has(self, path: Path) -> bool:
        return self._key(path) in self._keys

    def holds(self, path: Path) -> bool:
        """Whether one of them is below that folder."""
        return self._key(path) in self._above

    def entered(self, key: FolderKey | None, name: str) -> FolderKey | None:
        """The key of a name in the folder with `key`; None if nothing closed can be below it.

        Raises:
            NotOurs: the path is closed.
        """
        if key is None:
            return None
        key = (*key, folded(name))
        if key in self._keys:
            raise NotOurs
        return key if key in self._above else None

    def _key(self, path: Path) -> FolderKey:
        return tuple(map(folded, path.relative_to(self.workspace).parts))


class FolderEntry:
    """A name in a folder of the workspace. Leave its context to close the folder.

    `granted`: the command may work in the folder without a broker.
    """

    def __init__(self, ground: Ground, folder: int, name: str, *, granted: bool) -> None:
        self.folder = folder
        self.name = name
        self.granted = granted
        self._ground = ground

    @cached_property
    def found(self) -> os.stat_result | None:
        """The status of the entry at the first call, possibly of a link; None if there is none.

        Raises:
            NotOurs: it is a closed path under another name.
        """
        try:
            status = os.stat(self.name, dir_fd=self.folder, follow_symlinks=False)
        except FileNotFoundError:
            return None
        if identity(status) in self._ground.closed_files:
            raise NotOurs
        return status

    def __enter__(self) -> FolderEntry:
        return self

    def __exit__(self, *_: object) -> None:
        if self.folder != self._ground.root:
            os.close(self.folder)


class Ground:
    """The workspace of one command, as its broker sees it.

    `granted` are the folders where the command may work without the broker, even after they have moved.
    `root` is a descriptor of the workspace's own folder.
    """

    def __init__(self, closed: ClosedPaths) -> None:
        """Raises OSError if the workspace doesn't exist."""
        self._workspace = os.fspath(closed.workspace)
        self._closed = closed
        self.granted: set[Inode] = set()
        self.closed_files = {found for path in closed.paths if (found := _found(path))}
        self.root = os.open(closed.workspace, _AS_FOLDER)

    def close(self) -> None:
        os.close(self.root)

    def forget(self, gone: os.stat_result | None) -> None:
        """Note that an entry was removed: another one may get its number."""
        if gone:
            self.granted.discard(identity(gone))

    def place(self, path: str, *, follow: bool = False, through_granted: bool = False) -> FolderEntry:
        """The place of an absolute path. Enter it, or close it.

        Args:
            path: as a command would give it.
            follow: follow a link at the end of the path.
            through_granted: also return places that don't need the broker.

        Raises:
            NotOurs: the place isn't for the broker.
        """
        try:
            place = self._place(path, through_granted)
            if follow and _is_link(place):
                place = self._behind_link(path, through_granted)
        except OSError as error:
            raise NotOurs from error  # the kernel finds the same error and reports it
        return place

    def _place(self, path: str, through_granted: bool) -> FolderEntry:
        names = self._names(path)
        if names:
            with suppress(NotADirectoryError):  # possibly a link
                return self._walk(names, through_granted)
        if path.startswith(_OF_PROCESSES):
            raise Elsewhere
        folder, _, name = path.rpartition("/")
        names = self._names(f"{os.path.realpath(folder)}/{name}")
        if not names:
            raise Elsewhere
        return self._walk(names, through_granted)

    def _behind_link(self, path: str, through_granted: bool) -> FolderEntry:
        if not (names := self._names(os.path.realpath(path))):
            raise Elsewhere
        return self._walk(names, through_granted)

    def _names(self, path: str) -> list[str]:
        """The names of a path below the workspace; none if it isn't below it, or contains `..`."""
        if not path.startswith(f"{self._workspace}/"):
            return []
        names = [name for name in path[len(self._workspace) :].split("/") if name not in ("", ".")]
        return [] if ".." in names else names

    def _walk(self, names: list[str], through_granted: bool) -> FolderEntry:
        folder, granted = self.root, False
        key: FolderKey | None = ()
        try:
            for name in names[:-1]:
                key = self._closed.entered(key, name)
                before, folder = folder, os.open(name, _AS_FOLDER, dir_fd=folder)
                if before != self.root:
                    os.close(before)
                found = identity(os.fstat(folder))
                granted = granted or found in self.granted
                if found in self.closed_files or (granted and not through_granted):
                    raise NotOurs
            if self._closed.entered(key, names[-1]) is not None:
                raise NotOurs  # it contains something closed
        except (OSError, NotOurs):
            if folder != self.root:
                os.close(folder)
            raise
        return FolderEntry(self, folder, names[-1], granted=granted)


def identity(status: os.stat_result) -> Inode:
    return status.st_dev, status.st_ino


def _is_link(place: FolderEntry) -> bool:
    """Whether the place is a link. Closes it if it is one, or if that is unknown."""
    with ExitStack() as until_known:
        until_known.enter_context(place)
        if place.found and stat.S_ISLNK(place.found.st_mode):
            return True
        until_known.pop_all()
    return False


def folded(name: str) -> str:
    """A name as the most lenient file system compares it: ignoring case and Unicode composition, without
    invisible characters, and without dots and spaces at its end."""
    if not name.isascii():
        composed = unicodedata.normalize("NFKD", name.casefold())
        name = "".join(
            each for each in composed if unicodedata.category(each) not in _NOT_SEEN and each not in _FILLERS
        )
    return name.casefold().rstrip(". ")


def _found(path: Path) -> Inode | None:
    """The identity of the entry, or None."""
    try:
        return identity(path.lstat())
    except OSError:
        return None
