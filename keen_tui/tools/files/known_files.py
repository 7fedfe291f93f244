"""The content of each file that the model saw last, and locks so that a file is changed once at a time."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Callable
from pathlib import Path
from weakref import WeakValueDictionary


def digest(content: bytes | None) -> bytes | None:
    """A fingerprint of a file's content; None for a missing file."""
    return None if content is None else hashlib.sha256(content).digest()


def _nobody(path: Path, content: bytes | None) -> str:
    return ""


class KnownFiles:
    """Notices by content, not by time stamps, whether somebody else changed a file meanwhile.

    `author` says who wrote that content to the file, as the end of "changed by"; "" if that isn't known. It
    is called in a thread.
    """

    def __init__(self) -> None:
        self.author: Callable[[Path, bytes | None], str] = _nobody
        self._shown: dict[Path, bytes] = {}
        self._changing: WeakValueDictionary[Path, asyncio.Lock] = WeakValueDictionary()

    def note(self, path: Path, content: bytes | None) -> None:
        """Note that the model saw or wrote this content; None: it was told that the file doesn't exist."""
        self.note_digest(path, digest(content))

    def note_digest(self, path: Path, shown: bytes | None) -> None:
        """Like `note`, with the fingerprint of the content."""
        if shown is None:
            self._shown.pop(path, None)
        else:
            self._shown[path] = shown

    def is_stale(self, path: Path, content: bytes | None) -> bool:
        """Whether the model saw another content than the current one."""
        return path in self._shown and self._shown[path] != digest(content)

    def changing(self, path: Path) -> asyncio.Lock:
        """The lock to hold while the file is changed."""
        return self._changing.setdefault(path, asyncio.Lock())
