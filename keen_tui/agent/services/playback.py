"""Plays a saved session again on a bus. A replay has no controls."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path

from msgspec.structs import replace

from keen_tui.agent.turn.context_meter import tokens_reached
from keen_tui.domain.bus import EventBus
from keen_tui.domain.choices import Mode, PolicyName
from keen_tui.domain.events import (
    ContextMeasured,
    Event,
    SessionOpened,
    SessionRestored,
    TextDelta,
    TurnAbandoned,
    Usage,
)
from keen_tui.domain.permitted import Permitted
from keen_tui.memory.pending import PendingState
from keen_tui.memory.unfinished import endings, unfinished
from keen_tui.storage.reading import SessionFile
from keen_tui.storage.records import Record

LONGEST_WAIT = 2.0
"""Seconds that a pause of the recorded session lasts at most: nobody wants to watch somebody think."""

_PIECE = 24
"""Characters of text that appear at once."""


class Playback:
    """A replay: publishes the events of a saved session; front ends see it like any session.

    Args:
        speed: 2 is twice as fast as the original, 0 is everything at once.
    """

    queue: tuple[str, ...] = ()
    steered: tuple[str, ...] = ()
    pending: PendingState | None = None
    context_window: int | None = None
    effort = ""
    mode: Mode = "ask"
    policy: PolicyName = "summary"
    permitted = Permitted()
    server = "replay"
    running = False
    """Nothing is at work, so nothing is lost by leaving, even while it plays."""

    def __init__(self, saved: SessionFile, workspace: Path, *, speed: float) -> None:
        self.bus = EventBus()
        self.workspace = workspace
        self.model = saved.header.model or "recorded"
        self._saved = saved
        self._speed = speed
        self._hurry = asyncio.Event()

    async def play(self) -> None:
        """Publish everything, with the original pauses. After `stop` the rest comes at once.

        A turn that was cut off by the end of its program is shown as interrupted; nothing is abandoned.
        """
        records = self._saved.records
        at_once = not self._speed
        self.bus.publish(SessionOpened(id=self._saved.header.id, restoring=at_once))
        played = 0 if at_once else await self._played(records)
        self.bus.publish_all([record.event for record in records[played:]])
        for ending in endings(unfinished(record.event for record in records), None):
            if not isinstance(ending, TurnAbandoned):
                self.bus.publish(ending)
        self.bus.publish(SessionRestored(skipped=self._saved.skipped))

    async def _played(self, records: Sequence[Record]) -> int:
        """Publish records with the original pauses until `stop`; returns how many were played."""
        for played, (record, pause) in enumerate(_with_pauses(records)):
            if self._hurry.is_set():
                return played
            pieces = _pieces(record.event)
            for piece in pieces:
                self.bus.publish(piece)
                await self._wait(pause / len(pieces))
        return len(records)

    async def _wait(self, seconds: float) -> None:
        if self._hurry.is_set():
            return
        try:
            async with asyncio.timeout(seconds / self._speed):
                await self._hurry.wait()
        except TimeoutError:
            pass

    def stop(self) -> None:
        """Play the rest at once."""
        self._hurry.set()

    async def close(self) -> None:
        """Stop playing."""
        self.stop()
        self.bus.close()


def _with_pauses(records: Sequence[Record]) -> Iterator[tuple[Record, float]]:
    """Each record with the seconds until the next one."""
    for record, following in pairwise(records):
        yield record, min(max(following.at - record.at, 0.0), LONGEST_WAIT)
    if records:
        yield records[-1], 0.0


def _pieces(event: Event) -> Sequence[Event]:
    """Text in small pieces, as it streamed; and after the usage of a step, the size of its turn."""
    match event:
        case TextDelta(text=text):
            starts = range(0, len(text), _PIECE)
            return [replace(event, text=text[start : start + _PIECE]) for start in starts] or [event]
        case Usage(agent="") if event.turn:
            return event, ContextMeasured(tokens=tokens_reached(event))
    return (event,)
