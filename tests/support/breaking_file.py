"""A journal's file that breaks: on a disk that is full, that fails, that takes writes in part."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from keen_tui.storage.journal import open_file

Fault = Callable[["BreakingFile", bytes], int | None]
"""What becomes of a write: None, all is well; a number, so many bytes are written; or it raises OSError."""


class Disk:
    """Opens files that behave as it says at that moment.

    `on_write` may cut a write short or refuse it, `on_open` and `on_sync` are errno numbers, 0: all is well.
    `opened` and `writes` count what was tried, `safe` are the bytes that the disk has for sure.
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
    """A real file behind a disk's faults."""

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
            # An error of the disk shows when one waits for it, and what was written since may be gone.
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
    """The disk has room for so many more bytes; the write that hits the end leaves a half behind."""
    left = [room]

    def fault(file: BreakingFile, data: bytes) -> int | None:
        taken = min(left[0], len(data))
        left[0] -= taken
        if not taken:
            _raise(errno.ENOSPC)
        return taken

    return fault


def in_pieces(size: int) -> Fault:
    """Every write takes so many bytes only."""
    return lambda file, data: size


def _raise(number: int) -> None:
    if number:
        raise OSError(number, os.strerror(number))
