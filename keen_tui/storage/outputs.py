"""Files for command output that is too long for a result: one folder per session."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

MOST_BYTES = 200_000_000
"""Bytes that the outputs of one session may have before a new one; the oldest are deleted."""


class OutputFiles:
    """The files in `folder`, which is created with the first of them. Safe to call from any thread."""

    def __init__(self, folder: Path, *, most_bytes: int = MOST_BYTES) -> None:
        self._folder = folder
        self._most_bytes = most_bytes

    def new(self, turn: int) -> Path:
        """A new file name for output of that turn. Makes room for it. MUST NOT raise."""
        self._make_room()
        number = 1
        while os.path.lexists(path := self._folder / f"turn-{turn}-{number}.txt"):
            number += 1
        return path

    def holds(self, path: Path) -> bool:
        """Whether the path, with its symlinks resolved, is one of these files."""
        return path.parent == Path(os.path.realpath(self._folder))

    def _make_room(self) -> None:
        files = sorted(self._sized(), reverse=True)
        held = 0
        for _, size, path in files:
            held += size
            if held > self._most_bytes:
                with suppress(OSError):
                    path.unlink()

    def _sized(self) -> list[tuple[float, int, Path]]:
        """Each file, with the time of its last change and its size."""
        try:
            with os.scandir(self._folder) as entries:
                status = ((entry.stat(follow_symlinks=False), Path(entry.path)) for entry in entries)
                return [(each.st_mtime, each.st_size, path) for each, path in status]
        except OSError:
            return []
