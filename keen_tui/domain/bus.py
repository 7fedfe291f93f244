"""One writer, many readers. Publishing never waits, and no reader can harm the writer or another reader."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Callable, Hashable, Iterator, Sequence
from itertools import groupby

from msgspec.structs import replace

from keen_tui.domain.events import Event, ReasoningDelta, TextDelta, ToolOutput

OUTPUT_KEPT = 16_384
"""Characters of unread live output that a slow reader still gets, newest first. Results are never cut."""


class Subscription:
    """One reader's place on the bus: an async iterator over batches of events, in order.

    A batch is everything published since the last one, so a slow reader gets fewer, larger batches.
    Neighbouring deltas of one step are merged, never dropped; end events are never merged. Events that were
    published together are a batch of their own, unchanged.
    """

    def __init__(self, bus: EventBus, wants: Callable[[Event], bool] | None, lag: int) -> None:
        self._bus = bus
        self._wants = wants
        self._lag = lag
        self._batches: deque[Sequence[Event]] = deque()
        self._unread: list[Event] = []
        self._closed = False
        self._wake = asyncio.Event()

    def __aiter__(self) -> AsyncIterator[Sequence[Event]]:
        return self

    async def __anext__(self) -> Sequence[Event]:
        while not (self._unread or self._batches):
            if self._closed:
                raise StopAsyncIteration
            self._wake.clear()
            await self._wake.wait()
        if not self._batches:
            self._end_batch()
        return self._batches.popleft()

    @property
    def unread(self) -> int:
        """Events that were published but not read yet."""
        return len(self._unread) + sum(map(len, self._batches))

    def wake(self) -> None:
        """Wake the reader for deltas that it would otherwise leave unread for a while."""
        if self.unread:
            self._wake.set()

    def close(self) -> None:
        """Stop reading. Unread events are still delivered."""
        self._bus._readers.pop(self, None)
        self._closed = True
        self._wake.set()

    def _receive(self, event: Event) -> None:
        if self._wants and not self._wants(event):
            return
        self._unread.append(event)
        if len(self._unread) > self._lag or _merge_key(event) is None:
            self._wake.set()

    def _receive_all(self, events: Sequence[Event]) -> None:
        wanted = events if self._wants is None else tuple(filter(self._wants, events))
        if wanted:
            self._end_batch()
            self._batches.append(wanted)
            self._wake.set()

    def _end_batch(self) -> None:
        if self._unread:
            self._batches.append(tuple(_merged(self._unread)))
            self._unread = []


class EventBus:
    """The session publishes here; front ends, journal and tests read here. For use from one event loop
    only."""

    def __init__(self) -> None:
        self._readers: dict[Subscription, None] = {}

    def subscribe(self, *, wants: Callable[[Event], bool] | None = None, lag: int = 0) -> Subscription:
        """A new reader of every event published from now on, or of those that it `wants`. The past of a long
        session has tens of thousands of events; looking up their types in a set takes a tenth of the time
        of `isinstance`.

        `lag` is the number of deltas that may lie unread before the reader is woken for them alone.
        """
        reader = Subscription(self, wants, lag)
        self._readers[reader] = None
        return reader

    def publish(self, event: Event) -> None:
        """Give the event to every reader. Never waits and never raises."""
        for reader in self._readers:
            reader._receive(event)

    def publish_all(self, events: Sequence[Event]) -> None:
        """Publish many events together, such as the past of a session: that costs next to nothing, however
        many they are. They must not change afterwards."""
        for reader in self._readers:
            reader._receive_all(events)

    def close(self) -> None:
        """Let every reader finish its unread events, then end."""
        for reader in tuple(self._readers):
            reader.close()


def _merged(events: Sequence[Event]) -> Iterator[Event]:
    for key, group in groupby(events, key=_merge_key):
        run = list(group)
        last = run[-1]
        if key is None or len(run) == 1:
            yield from run
        elif isinstance(last, TextDelta | ReasoningDelta | ToolOutput):
            text = "".join(event.text for event in run if isinstance(event, type(last)))
            yield replace(last, text=text[-OUTPUT_KEPT:] if isinstance(last, ToolOutput) else text)


def _merge_key(event: Event) -> Hashable:
    match event:
        case TextDelta() | ReasoningDelta():
            return type(event), event.turn, event.step
        case ToolOutput():
            return type(event), event.turn, event.id
    return None
