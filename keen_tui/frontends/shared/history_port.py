"""Saved sessions as front ends see them."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Protocol

from keen_tui.domain.choices import ExportFormat
from keen_tui.domain.reports import SavedSession, SearchHit


class HistoryPort(Protocol):
    """Saved sessions, among them the one that is open.

    `new`, `open` and `fork` replace the open session, stop its turn and abandon its pending state: ask first
    if there is any. All methods raise KeenError with a sentence.
    """

    @property
    def session_id(self) -> str:
        """The id of the open session."""

    @property
    def keeps_pending(self) -> bool:
        """Whether the work of an incomplete turn outlives the program."""

    def keep_pending(self, durable: bool) -> None:
        """Set whether that work outlives the program, including what is pending now."""

    def keep_unasked(self) -> None:
        """Before the session is closed and nobody can be asked: let that work outlive the program."""

    async def sessions(
        self, *, everywhere: bool = False, most: int | None = None
    ) -> tuple[SavedSession, ...]:
        """The sessions of this workspace, or of all, newest first; at most `most`."""

    def search(self, words: str) -> AsyncGenerator[tuple[SearchHit, ...], None]:
        """Search all sessions for the words, newest first, for at most 200 places. Yields what has been found
        so far, several times, and finally everything."""

    async def new(self) -> None:
        """Start an empty session."""

    async def promise(self) -> str:
        """Let other programs open this session by its id, though it isn't saved before its first turn.
        Returns a sentence if they can't, "" if they can."""

    async def open(self, session_id: str) -> None:
        """Open that session, or begin a promised one. Raises SessionInUse if another program has it open:
        offer a fork."""

    async def fork(self, session_id: str = "", turn: int = 0) -> None:
        """Continue in a copy of that session ("": this one) that ends with that turn (0: the last)."""

    async def rename(self, session_id: str, title: str) -> None:
        """Give a session a title."""

    async def delete(self, session_id: str) -> None:
        """Delete a session with everything that belongs to it. Not the open one."""

    async def export(self, format: ExportFormat, path: str = "") -> Path:
        """Write this session to a new file: in the folder of exports, or to `path`, which is relative to the
        workspace. Returns the file."""

    async def begin(self) -> None:
        """Begin with an empty session."""

    async def close(self) -> str:
        """Wait until everything is saved, after the session was closed. Returns a sentence about what could
        not be saved, "" for nothing."""
