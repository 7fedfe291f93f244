"""The index of a session's turns and their calls, as a fold over its events. It outlives every summary."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Final, Generic, TypeVar

from keen_tui.domain.events import (
    Event,
    MessageTakenBack,
    ToolFinished,
    TurnAbandoned,
    TurnDone,
    TurnError,
    TurnIncomplete,
    TurnStarted,
    TurnUndone,
)
from keen_tui.domain.facts.file_changed import FileChanged
from keen_tui.domain.recorded import RecordedCall, RecordedTurn
from keen_tui.text.units import first_line

LONGEST_TEXT: Final = 2_000
"""Characters that the index holds of a message and of a reply."""

Place = TypeVar("Place")


class CallIndex(Generic[Place]):
    """Turns and calls without results. `Place` says where the event of a call is found again."""

    INDEXED: Final = (
        TurnStarted,
        ToolFinished,
        TurnDone,
        TurnIncomplete,
        TurnError,
        TurnAbandoned,
        TurnUndone,
        MessageTakenBack,
    )
    """The events that `take` needs; others change nothing."""

    def __init__(self) -> None:
        self._turns: dict[int, RecordedTurn] = {}
        self._places: dict[tuple[int, int], Place] = {}

    @property
    def turns(self) -> Sequence[RecordedTurn]:
        """All turns, oldest first."""
        return tuple(self._turns[number] for number in sorted(self._turns))

    def place_of(self, call: RecordedCall) -> Place:
        """Where the event of the call is. Raises KeyError for a call that isn't in this index."""
        return self._places[call.turn, call.number]

    def take(self, event: Event, at: float, place: Place) -> None:
        """Add one event, which happened at that time (seconds since the epoch)."""
        match event:
            case TurnStarted(turn=number, text=text):
                turn = self._turn(number)
                turn.state = "running"
                if text is not None:
                    turn.title, turn.message = first_line(text), _cut(text)
            case ToolFinished() if not event.result.unfinished:
                self._add(event, at, place)
            case TurnDone(turn=number, text=text):
                self._close("done")
                turn = self._turn(number)
                turn.state, turn.reply = "done", _cut(text)
            case TurnIncomplete(turn=number):
                self._turn(number).state = "incomplete"
            case TurnError(turn=number):
                self._turn(number).state = event.outcome
            case TurnAbandoned():
                self._close("abandoned")
            case TurnUndone(turn=number, files=files):
                turn = self._turn(number)
                turn.restored += files
            case MessageTakenBack(turn=number):
                if not self._turn(number).calls:
                    del self._turns[number]

    def _turn(self, number: int) -> RecordedTurn:
        return self._turns.setdefault(number, RecordedTurn(turn=number, title=""))

    def _close(self, state: str) -> None:
        """The turns that waited for a retry are done or abandoned with the newest one."""
        for number in sorted(self._turns, reverse=True):
            turn = self._turns[number]
            if turn.state in ("done", "abandoned"):
                return
            turn.state = state

    def _add(self, event: ToolFinished, at: float, place: Place) -> None:
        calls, result = self._turn(event.turn).calls, event.result
        call = RecordedCall(
            turn=event.turn,
            number=len(calls) + 1,
            name=event.name,
            target=event.target,
            size=len(result.text.encode("utf-8", "replace")),
            outcome=result.outcome,
            exit_code=result.exit_code,
            at=at,
            changed=tuple(fact.path for fact in result.facts if isinstance(fact, FileChanged)),
        )
        calls.append(call)
        self._places[call.turn, call.number] = place


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST_TEXT else f"{text[:LONGEST_TEXT]}…"


class HeldRecord:
    """A session's turns and calls, kept in memory if no file holds them. `past` are the events before the
    first that is noted.

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
