"""The contents of files when they were last checked, for those whose content is nowhere else."""

from __future__ import annotations

import os
import tempfile
import weakref
from pathlib import Path
from typing import Final

from keen_tui.system.folders import make_private

MOST_BYTES: Final = 50_000_000
"""Bytes that are saved of all files together."""


class SavedContents:
    """Contents in one file without a name, which is gone with the program. All methods block.

    Args:
        folder: where the file lies; made when needed.
    """

    def __init__(self, folder: Path, *, most_bytes: int = MOST_BYTES) -> None:
        self._folder = folder
        self._most_bytes = most_bytes
        self._descriptor: int | None = None
        self._places: dict[str, tuple[int, int]] = {}
        self._used = 0
        self._end = 0

    def put(self, name: str, content: bytes) -> bool:
        """Save the content of a file in the place of an older one; False if there is no room for it.

        Raises:
            OSError: it can't be written.
        """
        self.drop(name)
        if self._used + len(content) > self._most_bytes:
            return False
        if self._end + len(content) > 2 * self._most_bytes:
            self._tidy()
        os.pwrite(self._opened(), content, self._end)
        self._places[name] = (self._end, len(content))
        self._end += len(content)
        self._used += len(content)
        return True

    def get(self, name: str) -> bytes | None:
        """The saved content of a file, None if there is none. Raises OSError."""
        place = self._places.get(name)
        return None if place is None else self._read(place)

    def drop(self, name: str) -> None:
        """Forget the content of a file."""
        _, length = self._places.pop(name, (0, 0))
        self._used -= length

    def _opened(self) -> int:
        if self._descriptor is None:
            make_private(self._folder)
            with tempfile.TemporaryFile(dir=self._folder) as file:
                self._descriptor = os.dup(file.fileno())
            self._close = weakref.finalize(self, os.close, self._descriptor)
        return self._descriptor

    def _read(self, place: tuple[int, int]) -> bytes:
        at, length = place
        return os.pread(self._opened(), length, at)

    def _tidy(self) -> None:
        """Begin a new file with what is still wanted."""
        kept = {name: self._read(place) for name, place in self._places.items()}
        self._close()
        self._descriptor, self._places, self._used, self._end = None, {}, 0, 0
        for name, content in kept.items():
            self.put(name, content)
