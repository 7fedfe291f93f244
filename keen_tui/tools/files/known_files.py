"""What the model was last shown of each file, and one change of a file at a time."""

from __future__ import annotations

import asyncio
import hashlib
from pathlib import Path
from weakref import WeakValueDictionary


def digest(content: bytes | None) -> bytes | None:
    """A fingerprint of a file's content; None for a file that is not there."""
    return None if content is None else hashlib.sha256(content).digest()


class KnownFiles:
    """Tells by content, not by time stamps, whether somebody else changed a file meanwhile."""

    def __init__(self) -> None:
        self._shown: dict[Path, bytes] = {}
        self._changing: WeakValueDictionary[Path, asyncio.Lock] = WeakValueDictionary()

    def note(self, path: Path, content: bytes | None) -> None:
        """The model was shown, or wrote, this content; None: it was told that the file is not there."""
        self.note_digest(path, digest(content))

    def note_digest(self, path: Path, shown: bytes | None) -> None:
        """As `note`, with the fingerprint of what was shown."""
        if shown is None:
            self._shown.pop(path, None)
        else:
            self._shown[path] = shown

    def is_stale(self, path: Path, content: bytes | None) -> bool:
        """Whether the model was shown something else than what is there now."""
        return path in self._shown and self._shown[path] != digest(content)

    def changing(self, path: Path) -> asyncio.Lock:
        """The lock to hold while the file is changed."""
        return self._changing.setdefault(path, asyncio.Lock())
