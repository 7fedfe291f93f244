"""The record of the session as tools see it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from keen_tui.domain.events import Event, ToolFinished
from keen_tui.domain.recorded import RecordedCall, RecordedTurn


class SessionRecord(Protocol):
    """What the turns of a session did. It outlives summaries, and the program if the session is saved."""

    def note(self, event: Event) -> None:
        """Take notice of an event that was published. MUST NOT raise or wait."""

    async def turns(self) -> Sequence[RecordedTurn]:
        """All turns so far, oldest first, the running one included.

        Raises:
            StorageFailed: the record can't be read.
        """

    async def finished(self, calls: Sequence[RecordedCall]) -> Sequence[ToolFinished]:
        """These calls of `turns` with their results, in that order.

        Raises:
            StorageFailed: the record can't be read.
        """


class NoRecord:
    """The record of no session: nothing was done yet."""

    def note(self, event: Event) -> None:
        """There is nothing to add to."""

    async def turns(self) -> Sequence[RecordedTurn]:
        return ()

    async def finished(self, calls: Sequence[RecordedCall]) -> Sequence[ToolFinished]:
        return ()


class EarlierTurns:
    """Holds the record of the session at work; a session that is opened brings its own."""

    def __init__(self) -> None:
        self.record: SessionRecord = NoRecord()
