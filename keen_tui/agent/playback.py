"""A saved session played again on a bus: the screen can't tell it from one at work."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path

from msgspec.structs import replace

from keen_tui.agent.context_meter import tokens_reached
from keen_tui.domain.bus import EventBus
from keen_tui.domain.choices import Mode, PolicyName, Scope
from keen_tui.domain.errors import SessionRefused
from keen_tui.domain.events import (
    ContextMeasured,
    Event,
    SessionOpened,
    SessionRestored,
    TextDelta,
    TurnAbandoned,
    Usage,
)
from keen_tui.domain.messages import TurnMemory
from keen_tui.domain.permitted import Permitted
from keen_tui.domain.reports import ContextReport
from keen_tui.memory.pending import PendingState
from keen_tui.memory.unfinished import endings, unfinished
from keen_tui.storage.reading import SessionFile
from keen_tui.storage.records import Record

LONGEST_WAIT = 2.0
"""Seconds that a pause of the recorded session lasts at most: nobody wants to watch somebody think."""

_PIECE = 24
"""Characters of text that appear at once."""

_REFUSAL = "This is a replay: nothing can be changed in it."


class Playback:
    """Stands where a session would stand. `speed` 2 is twice as fast, 0 is all at once."""

    is_replay = True
    queue: tuple[str, ...] = ()
    pending: PendingState | None = None
    context_window: int | None = None
    effort = ""
    mode: Mode = "ask"
    policy: PolicyName = "summary"
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
        """Publish everything, with pauses as they were. `stop` has the rest at once.

        A turn that the end of its program cut off is shown as interrupted; nothing is abandoned here.
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
        """Publish what happened at its own pace, until the rest shall come at once; gives how many records
        were played."""
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

    def warm_up(self, then: Callable[[], None] = lambda: None) -> None:
        """There is no model to ask."""
        then()

    def stop(self) -> None:
        """Play the rest at once."""
        self._hurry.set()

    def withdraw_queued(self) -> str | None:
        """Nothing queues."""
        return None

    def submit(self, text: str) -> None:
        """Raises SessionRefused, as all that follows."""
        raise SessionRefused(_REFUSAL)

    def steer(self, text: str = "") -> None:
        """Nothing is sent."""
        raise SessionRefused(_REFUSAL)

    def retry(self) -> None:
        """Nothing can be retried."""
        raise SessionRefused(_REFUSAL)

    def discard(self) -> None:
        """Nothing can be discarded."""
        raise SessionRefused(_REFUSAL)

    def answer(self, call_id: str, *, allow: bool, scope: Scope = "once", message: str = "") -> None:
        """Nothing asks."""
        raise SessionRefused(_REFUSAL)

    def reply(self, call_id: str, choice: int | None, words: str = "") -> None:
        """Nothing asks."""
        raise SessionRefused(_REFUSAL)

    @property
    def permitted(self) -> Permitted:
        """Nothing was."""
        return Permitted()

    async def take_back(self, command: str) -> None:
        """Nothing was allowed."""
        raise SessionRefused(_REFUSAL)

    def set_mode(self, mode: Mode) -> None:
        """There is no mode."""
        raise SessionRefused(_REFUSAL)

    def set_policy(self, policy: PolicyName) -> None:
        """There is no policy."""
        raise SessionRefused(_REFUSAL)

    async def context(self, draft: str = "") -> ContextReport:
        """There is no next request."""
        raise SessionRefused(_REFUSAL)

    def edit_memory(self, turn: int, memory: TurnMemory) -> None:
        """Memory stays as it was."""
        raise SessionRefused(_REFUSAL)

    def compact(self, focus: str = "") -> None:
        """No model can summarise."""
        raise SessionRefused(_REFUSAL)

    def run_own(self, command: str) -> None:
        """There is no workspace to run it in."""
        raise SessionRefused(_REFUSAL)

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
    """Text as it streamed, in small pieces; with the usage of a step what its turn had reached."""
    match event:
        case TextDelta(text=text):
            starts = range(0, len(text), _PIECE)
            return [replace(event, text=text[start : start + _PIECE]) for start in starts] or [event]
        case Usage() if event.turn:
            return event, ContextMeasured(tokens=tokens_reached(event))
    return (event,)
