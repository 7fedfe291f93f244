"""The record of the session as tools see it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from keen_tui.domain.events import Event, ToolFinished
from keen_tui.domain.recorded import RecordedCall, RecordedTurn


class SessionRecord(Protocol):
    """The record of a session's turns. It outlives summaries, and the program if the session is saved."""

    def note(self, event: Event) -> None:
        """Note a published event. MUST NOT raise or wait."""

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
    """An empty record."""

    def note(self, event: Event) -> None:
        """Does nothing."""

    async def turns(self) -> Sequence[RecordedTurn]:
        return ()

    async def finished(self, calls: Sequence[RecordedCall]) -> Sequence[ToolFinished]:
        return ()


class EarlierTurns:
    """Has the record of the running session; opening a session brings its own record."""

    def __init__(self) -> None:
        self.record: SessionRecord = NoRecord()
