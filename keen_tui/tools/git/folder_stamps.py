"""Tells cheaply which files of a folder have changed, by their times, sizes and inodes."""

from __future__ import annotations

import errno
import os
import stat
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Final

from keen_tui.system.folders import opened_folder

_STEP: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_DEEPEST: Final = 64
_MOST: Final = 1_000_000
_TOO_YOUNG: Final = 50_000_000
"""Nanoseconds: no file system's times are coarser."""

Stamps = Mapping[str, tuple[int, ...]]
"""Everything that isn't a folder, by its path from the folder, each with a value that changes with it."""


class FolderTooLarge(OSError):
    """A folder is deeper, or has more entries, than any repository."""


class FolderStamps:
    """The files in a folder, except entries with the given names directly in it. No link is followed.

    Git replaces a ref by a new file. So the files of a folder below `refs` aren't looked at again if the
    folder hasn't changed since the look before.
    """

    def __init__(self, folder: Path, passed_over: frozenset[str]) -> None:
        self._folder = folder
        self._passed_over = passed_over
        self._settled: dict[str, tuple[int, list[str], dict[str, tuple[int, ...]]]] = {}
        """Folders below `refs`: when each changed, its folders, and its files."""
        self._count = 0

    def look(self) -> Stamps:
        """Raises OSError if the folder can't be read, or is FolderTooLarge."""
        self._count = 0
        with opened_folder(self._folder) as folder:
            descriptor = os.open(".", _STEP, dir_fd=folder)
        try:
            return dict(self._below(descriptor, "", 0))
        finally:
            os.close(descriptor)

    def _below(self, folder: int, path: str, depth: int) -> Iterator[tuple[str, tuple[int, ...]]]:
        changed = os.fstat(folder).st_ctime_ns
        known = self._settled.get(path)
        if known and known[0] == changed:
            _, folders, files = known
        else:
            folders, files = self._listed(folder, path)
            is_old = time.time_ns() - changed > _TOO_YOUNG
            if path.startswith("refs/") and is_old:
                self._settled[path] = (changed, folders, files)
        self._count += len(folders) + len(files)
        if depth > _DEEPEST or self._count > _MOST:
            raise FolderTooLarge(errno.EFBIG, "the folder is too deep or has too many files")
        yield from files.items()
        for name in folders:
            with suppress(FileNotFoundError, NotADirectoryError):  # it has just gone
                inner = os.open(name, _STEP, dir_fd=folder)
                try:
                    yield from self._below(inner, f"{path}{name}/", depth + 1)
                finally:
                    os.close(inner)

    def _listed(self, folder: int, path: str) -> tuple[list[str], dict[str, tuple[int, ...]]]:
        folders: list[str] = []
        files: dict[str, tuple[int, ...]] = {}
        with os.scandir(folder) as entries:
            names = [entry.name for entry in entries if path or entry.name not in self._passed_over]
        for name in names:
            with suppress(FileNotFoundError):
                status = os.stat(name, dir_fd=folder, follow_symlinks=False)
                if stat.S_ISDIR(status.st_mode):
                    folders.append(name)
                else:
                    files[f"{path}{name}"] = _stamp(status)
        return folders, files


def _stamp(status: os.stat_result) -> tuple[int, ...]:
    return (status.st_mode, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns)
