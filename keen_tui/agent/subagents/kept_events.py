"""The events of a sub-agent so far, for a person who watches it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeGuard

from msgspec.structs import replace

from keen_tui.domain.events import AgentEvent, Event, OwnEvent, Passing, ReasoningDelta, TextDelta


class KeptEvents:
    """Keeps the events that a session file would have, and deltas. Neighbouring deltas of a step become
    one."""

    def __init__(self) -> None:
        self._events: list[OwnEvent] = []

    @property
    def all(self) -> tuple[OwnEvent, ...]:
        """All events, oldest first."""
        return tuple(self._events)

    def begin(self, past: Iterable[Event]) -> None:
        """Replace all events with these."""
        self._events = [event for event in past if not isinstance(event, AgentEvent)]

    def note(self, event: OwnEvent) -> None:
        """Add an event."""
        last = self._events[-1] if self._events else None
        if isinstance(last, TextDelta | ReasoningDelta) and _continues(event, last):
            self._events[-1] = replace(last, text=last.text + event.text)
        elif not isinstance(event, Passing):
            self._events.append(event)


def _continues(event: OwnEvent, last: TextDelta | ReasoningDelta) -> TypeGuard[TextDelta | ReasoningDelta]:
    """Whether the event is the next delta of the same step."""
    if not isinstance(event, TextDelta | ReasoningDelta):
        return False
    return (type(event), event.turn, event.step) == (type(last), last.turn, last.step)
