"""A journal's file that breaks: on a disk that is full, fails, or takes only parts of writes."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from keen_tui.storage.journal import open_file

Fault = Callable[["BreakingFile", bytes], int | None]
"""The result of a write: None if all is well, the number of bytes that are written, or an OSError."""


class Disk:
    """Opens files that behave according to its current faults.

    `on_write` may shorten or refuse a write; `on_open` and `on_sync` are errno numbers, 0 if all is well.
    `opened` and `writes` count the attempts, `safe` are the bytes that are surely on the disk.
    """

    def __init__(self) -> None:
        self.on_write: Fault = lambda file, data: None
        self.on_open = 0
        self.on_sync = 0
        self.opened = 0
        self.writes = 0
        self.safe = 0

    async def open(self, path: Path) -> BreakingFile:
        self.opened += 1
        _raise(self.on_open)
        return BreakingFile(await open_file(path), self)


class BreakingFile:
    """A real file with the faults of a disk."""

    def __init__(self, file: Any, disk: Disk) -> None:
        self.file = file
        self._disk = disk

    async def write(self, data: bytes) -> int:
        self._disk.writes += 1
        taken = self._disk.on_write(self, data)
        return int(await self.file.write(data if taken is None else data[:taken]))

    async def flush(self) -> None:
        await self.file.flush()
        size = os.fstat(self.file.fileno()).st_size
        if self._disk.on_sync:
            # A disk error appears on syncing; everything written since the last sync may be lost.
            os.truncate(self.file.fileno(), (self._disk.safe + size) // 2)
        _raise(self._disk.on_sync)
        self._disk.safe = size

    async def truncate(self, size: int) -> int:
        return int(await self.file.truncate(size))

    def fileno(self) -> int:
        return int(self.file.fileno())

    async def close(self) -> None:
        await self.file.close()


def refused(number: int) -> Fault:
    """Every write fails."""

    def fault(file: BreakingFile, data: bytes) -> int | None:
        _raise(number)
        return None

    return fault


def full_after(room: int) -> Fault:
    """The disk has room for so many more bytes; the write that reaches the end is cut off."""
    left = [room]

    def fault(file: BreakingFile, data: bytes) -> int | None:
        taken = min(left[0], len(data))
        left[0] -= taken
        if not taken:
            _raise(errno.ENOSPC)
        return taken

    return fault


def in_pieces(size: int) -> Fault:
    """Every write takes at most so many bytes."""
    return lambda file, data: size


def _raise(number: int) -> None:
    if number:
        raise OSError(number, os.strerror(number))
