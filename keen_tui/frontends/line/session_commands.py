"""The commands about sessions: new, resume, fork, rename, export."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Sequence

from keen_tui.domain.errors import SessionInUse, SessionRefused
from keen_tui.domain.reports import SavedSession
from keen_tui.frontends.line.asking import STAY, yes_or_no
from keen_tui.frontends.line.command_context import Desk, kept
from keen_tui.frontends.line.questions import LineChoice, LineQuestion
from keen_tui.frontends.shared.port import HistoryPort
from keen_tui.frontends.shared.session_arguments import export_words, fork_words
from keen_tui.text.units import counted

_MOST = 15
"""Sessions that are told at once."""


class SessionCommands:
    """Each method does what a command asks for; what can't be done is raised as a sentence."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    async def new(self, words: str) -> None:
        """Begin an empty session."""
        history = self._history
        if await self._replaced("Begin a new session?", history.new):
            self._desk.say("A new session begins. The one before stays saved.")

    async def resume(self, words: str) -> None:
        """Choose among the saved sessions of this folder, all of them or those with the words."""
        own, rows = self._history.session_id, await self._history.sessions()
        found = [row for row in rows if row.id != own and _fits(row, words)]
        if not found:
            raise SessionRefused("There is no such session here." if words else "There is no other session.")
        choices = tuple(_choice(row) for row in found[:_MOST])
        lines = ["Question: Go on with which session?"]
        if len(found) > _MOST:
            lines.append(f"The newest {_MOST} of {len(found)}. /resume WORDS finds others.")
        chosen = await self._desk.choice(LineQuestion(lines=tuple(lines), choices=(*choices, STAY)))
        for row in found:
            if row.id == chosen:
                await self.open(row)

    async def open(self, row: SavedSession) -> None:
        """Go on with that session; with a copy of it where another program has it open."""
        history, name = self._history, row.title or "that session"
        try:
            await self._replaced(f"Open {name}?", lambda: history.open(row.id))
        except SessionInUse:
            question = yes_or_no(
                "Question: Another program has this session open. Continue in a copy?",
                yes="yes, fork it",
            )
            if await self._desk.choice(question) == "yes":
                await history.fork(row.id)

    async def fork(self, words: str) -> None:
        """Go on with a copy of this session, whole or up to a turn."""
        history, turn = self._history, fork_words(words, tuple(self._desk.ledger.turns))
        title = f"Continue in a copy up to turn {turn}?" if turn else "Continue in a copy of this session?"
        await self._replaced(title, lambda: history.fork(turn=turn))

    async def rename(self, words: str) -> None:
        """Give this session a title."""
        await self._history.rename(self._history.session_id, words)

    async def export(self, words: str) -> None:
        """Write this session to a file."""
        format, path = export_words(words)
        self._desk.say(f"Exported to {await self._history.export(format, path)}.")

    async def _replaced(self, title: str, deed: Callable[[], Awaitable[None]]) -> bool:
        """Put another session in the place of this one; where that would lose work, ask first."""
        if not await self._desk.may_replace(title):
            return False
        await deed()
        return True

    @property
    def _history(self) -> HistoryPort:
        return kept(self._desk.workplace.history, "No sessions are kept here.")


def _fits(row: SavedSession, words: str) -> bool:
    return row.id.startswith(words) or all(word in row.title.casefold() for word in words.casefold().split())


def _choice(row: SavedSession) -> LineChoice:
    used = time.strftime("%Y-%m-%d %H:%M", time.localtime(row.last_used))
    facts: Sequence[str] = (counted(row.turns, "turn"), f"last used {used}", *_troubles(row))
    return LineChoice(id=row.id, label=row.title or "untitled", consequence=", ".join(facts))


def _troubles(row: SavedSession) -> list[str]:
    return [row.problem.rstrip(".")] if row.problem else ["open in another program"] if row.in_use else []
