"""The changes that a session's turns made to files, for a front end: shown, and taken back."""

from __future__ import annotations

import asyncio

from msgspec.structs import replace

from keen_tui.agent.services.undo import TurnBackup, TurnChanges
from keen_tui.agent.session import Session
from keen_tui.domain.errors import SessionRefused
from keen_tui.domain.facts.command_unwatched import CommandUnwatched
from keen_tui.domain.reports import Changes
from keen_tui.memory.conversation import Past
from keen_tui.text.units import first_line


class ChangeService:
    """Reads and undoes what `backup` keeps of the session that is open."""

    def __init__(self, session: Session, backup: TurnBackup) -> None:
        self._session = session
        self._backup = backup

    async def changes(self, turn: int) -> Changes:
        """Returns the changes of a turn; 0: of all turns, -1: of the newest turn that changed any.

        Raises:
            SessionRefused: nothing is kept, or no turn changed a file. StorageFailed: it can't be read.
        """
        changes = await asyncio.to_thread(self._turn_changes().changes, turn)
        past = self._session.past
        unwatched = await asyncio.to_thread(_unwatched, past, changes.turn)
        return replace(changes, title=_title(past, changes.turn), unwatched=unwatched)

    async def undo(self, turn: int) -> str:
        """Take the files of a turn back to what they were before it; says in a sentence what went wrong.

        Raises:
            SessionRefused: a turn runs, pending state would be lost, or there is nothing to undo.
        """
        problems: list[str] = []

        async def take_back() -> None:
            work = self._turn_changes()
            number = await asyncio.to_thread(work.turn_meant, turn)
            taken = await asyncio.to_thread(work.undo, number)
            if taken.files:
                self._session.note_undone(number, taken.files)
            problems.extend(taken.problems)

        await self._session.undisturbed("undo", take_back)
        return " ".join(problems)

    def _turn_changes(self) -> TurnChanges:
        if self._backup.checkpoints is None:
            raise SessionRefused("Changes aren't recorded here.")
        return TurnChanges(self._backup.checkpoints)


def _title(past: Past, turn: int) -> str:
    """The first line of the message that began the turn."""
    texts = (
        message.text
        for message in past.messages
        if message.turn == turn and message.role == "user" and not message.by_program
    )
    return first_line(next(texts, ""))


def _unwatched(past: Past, turn: int) -> int:
    """How many commands of the turn Keen couldn't watch; 0: of all turns."""
    return sum(
        CommandUnwatched() in result.facts
        for number in past.steps
        if turn in (0, number)
        for step in past.steps[number]
        for _, result in step.calls
    )
