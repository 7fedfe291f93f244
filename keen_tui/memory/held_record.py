"""The record of a session that no file holds: its events stay in memory."""

from __future__ import annotations

import time
from collections.abc import Sequence

from keen_tui.domain.events import Event, ToolFinished
from keen_tui.domain.recorded import RecordedCall, RecordedTurn
from keen_tui.memory.call_index import CallIndex


class HeldRecord:
    """A session's turns and calls, kept in memory. `past` are the events before the first that is noted.

    The index is made when somebody first asks for it.
    """

    def __init__(self, past: Sequence[Event] = ()) -> None:
        self._past = past
        self._unread: list[tuple[float, Event]] = []
        self._index: CallIndex[ToolFinished | None] = CallIndex()

    def note(self, event: Event) -> None:
        """Add an event that was published."""
        if isinstance(event, CallIndex.INDEXED):
            self._unread.append((time.time(), event))

    async def turns(self) -> Sequence[RecordedTurn]:
        """All turns so far, oldest first."""
        past, self._past = self._past, ()
        unread, self._unread = self._unread, []
        for at, event in (*((0.0, event) for event in past), *unread):
            self._index.take(event, at, event if isinstance(event, ToolFinished) else None)
        return self._index.turns

    async def finished(self, calls: Sequence[RecordedCall]) -> Sequence[ToolFinished]:
        """The calls with their results, in that order."""
        found = (self._index.place_of(call) for call in calls)
        return [event for event in found if event is not None]
