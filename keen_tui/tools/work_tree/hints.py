"""Which files were touched, as Linux reports it. A look at the work tree then needn't ask every file."""

from __future__ import annotations

import os
import struct
import sys
import weakref
from collections.abc import Iterator
from typing import Final

_EVENT: Final = struct.Struct("iIII")
_MOST_READ: Final = 1 << 16

_CLOEXEC_NONBLOCK: Final = os.O_CLOEXEC | os.O_NONBLOCK
_MODIFY, _ATTRIB, _CLOSE_WRITE = 0x2, 0x4, 0x8
_ONLYDIR, _DONT_FOLLOW, _EXCL_UNLINK = 0x1000000, 0x2000000, 0x4000000
_MASK: Final = _MODIFY | _ATTRIB | _CLOSE_WRITE | _ONLYDIR | _DONT_FOLLOW | _EXCL_UNLINK
_OVERFLOW: Final = 0x4000


class Hints:
    """Watches folders with inotify. Where that isn't possible, or once the system has no more room for it,
    `touched` knows nothing."""

    def __init__(self) -> None:
        self._folders: dict[int, str] = {}
        self._is_complete = sys.platform == "linux" and self._begin()

    @property
    def descriptor(self) -> int | None:
        """Can be read once something was touched; None if nothing is watched."""
        return self._descriptor if self._is_complete else None

    def close(self) -> None:
        """Watch nothing any more."""
        if self._is_complete:
            self._give_up()

    def watch(self, folder: str, name: str) -> None:
        """Watch the files of a folder from now on; events call it `name`."""
        if not self._is_complete:
            return
        number = self._libc.inotify_add_watch(self._descriptor, os.fsencode(folder), _MASK)
        if number < 0:
            self._give_up()
        else:
            self._folders[number] = name

    def touched(self) -> set[str] | None:
        """The files in watched folders that were written to since the last call, by the names of their
        folders and their own; None if that isn't known."""
        if not self._is_complete:
            return None
        found: set[str] = set()
        complete = True
        for number, mask, name in self._events():
            folder = self._folders.get(number, "")
            if mask & _OVERFLOW:
                complete = False
            elif name:
                found.add(f"{folder}/{name}" if folder else name)
        return found if complete else None

    def _begin(self) -> bool:
        import ctypes  # noqa: PLC0415 - some milliseconds

        self._libc = ctypes.CDLL(None)
        try:
            self._descriptor = int(self._libc.inotify_init1(_CLOEXEC_NONBLOCK))
        except AttributeError:
            return False
        if self._descriptor >= 0:
            self._close = weakref.finalize(self, os.close, self._descriptor)
        return self._descriptor >= 0

    def _give_up(self) -> None:
        self._is_complete = False
        self._close()
        self._folders.clear()

    def _read(self) -> bytes:
        try:
            return os.read(self._descriptor, _MOST_READ)
        except BlockingIOError:
            return b""

    def _events(self) -> Iterator[tuple[int, int, str]]:
        """Yields the waiting events: number of the folder, kind, and name of the file."""
        while data := self._read():
            at = 0
            while at < len(data):
                number, mask, _, length = _EVENT.unpack_from(data, at)
                at += _EVENT.size
                name = data[at : at + length].rstrip(b"\0")
                at += length
                yield number, mask, os.fsdecode(name)
