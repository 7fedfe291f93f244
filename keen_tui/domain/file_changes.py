"""A file before and after it was changed."""

from __future__ import annotations

import stat
from pathlib import Path
from typing import Final

from msgspec import Struct

from keen_tui.domain.display import ChangeKind

Fingerprint = bytes | tuple[int, int] | None
"""What stands for a content that isn't known: git's name for it, or size and time of the file."""


class Version(Struct, frozen=True, kw_only=True):
    """A file at one moment. `mode` are its permission bits, None where it wasn't there. `content` is None
    then, or if it isn't known; that of a link is its target. `unkept` says why it couldn't be put back."""

    content: bytes | None = None
    mode: int | None = None
    fingerprint: Fingerprint = None
    is_link: bool = False
    unkept: str = ""

    @property
    def is_there(self) -> bool:
        """Whether there is a file."""
        return self.mode is not None

    def is_same(self, other: Version) -> bool:
        """Whether git would call both the same."""
        if self.mode is None or other.mode is None:
            return self.mode is other.mode
        if self.is_link != other.is_link or (self.mode ^ other.mode) & stat.S_IXUSR:
            return False
        if self.content is None or other.content is None:
            return self.fingerprint is not None and self.fingerprint == other.fingerprint
        return self.content == other.content


NO_FILE: Final = Version()


class FileChange(Struct, frozen=True, kw_only=True):
    """A file that a command created, changed or deleted. `name` is its name in memory (turn.md rule 13)."""

    path: Path
    name: str
    before: Version
    after: Version

    @property
    def kind(self) -> ChangeKind:
        if not self.before.is_there:
            return "created"
        return "changed" if self.after.is_there else "deleted"

    @property
    def unkept(self) -> str:
        """Why it can't be undone, "" if it can."""
        return self.before.unkept or self.after.unkept
