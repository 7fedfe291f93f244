"""A turn that a program reads: its events, one after the other."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Protocol

from keen_tui.domain.bus import Subscription
from keen_tui.domain.errors import SessionRefused
from keen_tui.domain.events import EndEvent, Event, TurnDone, TurnError, TurnIncomplete
from keen_tui.frontends.headless.run import is_saved_first


class TurnOwner(Protocol):
    """The session of a turn."""

    async def begin(self, start: Callable[[], None]) -> Subscription:
        """Start the turn, after the end of the one before. Returns its events. Raises SessionRefused."""
        ...

    async def flushed(self) -> bool:
        """Wait until the session file holds everything so far. False if it can't be written."""
        ...

    def leave(self, reader: Subscription) -> None:
        """Stop the turn with this reader, which nobody reads any more. Thread-safe."""
        ...


class RunningTurn:
    """An async iterator over the events of one turn, up to its end event. The first `anext` starts the turn.

    The message, each finished call and the end event come only when the session file holds them. If nothing
    refers to this object any more before the turn has ended, as after a `break`, the turn is stopped.
    """

    def __init__(self, owner: TurnOwner, start: Callable[[], None]) -> None:
        self._owner = owner
        self._start: Callable[[], None] | None = start
        self._reader: Subscription | None = None
        self._unread: deque[Event] = deque()
        self._end: EndEvent | None = None

    def __aiter__(self) -> RunningTurn:
        return self

    async def __anext__(self) -> Event:
        if self._end:
            raise StopAsyncIteration
        if start := self._start:
            self._start = None
            self._reader = await self._owner.begin(start)
        if self._reader is None:
            raise StopAsyncIteration
        if not self._unread:
            self._unread.extend(await anext(self._reader))
        event = self._unread[0]
        if is_saved_first(event):
            await self._owner.flushed()
        self._unread.popleft()
        if isinstance(event, TurnDone | TurnIncomplete | TurnError):
            self._end = event
            self._reader.close()
        return event

    async def end(self) -> EndEvent:
        """Read the rest of the turn; returns its end event.

        Raises:
            SessionRefused: the turn can't begin, or has no end event: it was left, or the session was closed.
        """
        async for _ in self:
            pass
        if self._end is None:
            raise SessionRefused("The turn has no end event: it was left early, or its session was closed.")
        return self._end

    async def aclose(self) -> None:
        """Leave the turn. If it hasn't ended, it is stopped."""
        self._leave()

    def __del__(self) -> None:
        self._leave()

    def _leave(self) -> None:
        reader, self._reader, self._start = self._reader, None, None
        if reader and self._end is None:
            self._owner.leave(reader)
