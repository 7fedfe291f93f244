"""The work tree of the session, as a front end sees it."""

from __future__ import annotations

from pathlib import Path
from typing import Protocol

from keen_tui.domain.reports import Changes, TreeReport


class TreePort(Protocol):
    """The git work tree that the session works in. All methods raise KeenError with a sentence."""

    @property
    def name(self) -> str:
        """Its name."""

    @property
    def branch(self) -> str:
        """Its branch."""

    @property
    def project(self) -> Path:
        """The folder that it was made from."""

    async def report(self) -> TreeReport:
        """Returns the current state of the work tree."""

    async def merge(self) -> str:
        """Move the branch on which it was begun forward to it; returns a sentence."""

    async def changes(self) -> Changes:
        """Everything that it has and that branch lacks, file by file."""

    async def write_patch(self) -> Path:
        """Write the same as a patch; returns its file."""

    def remove_at_end(self, *, with_changes: bool) -> None:
        """Remove it once the session is closed, with what it has only if `with_changes`."""

    async def leave(self) -> str:
        """The session is closed: remove the work tree if that was wanted. Returns a sentence about that, ""
        if it stays. Never raises."""
