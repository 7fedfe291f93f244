"""Another session replaces this one: prints only the newest turn of its past."""

from __future__ import annotations

from typing import Final

from keen_tui.domain.events import (
    Event,
    SessionOpened,
    SessionRenamed,
    SessionRestored,
    Steered,
    StepRestarted,
    TextDelta,
    ToolFinished,
    ToolStarted,
    TurnAbandoned,
    TurnDone,
    TurnError,
    TurnIncomplete,
    TurnStarted,
)
from keen_tui.frontends.line.narrator import Narrator
from keen_tui.frontends.line.printer import LinePrinter
from keen_tui.text.units import counted

_TOLD: Final = (
    TurnStarted,
    TextDelta,
    StepRestarted,
    ToolStarted,
    ToolFinished,
    Steered,
    TurnDone,
    TurnIncomplete,
    TurnError,
    TurnAbandoned,
)


class Openings:
    """Collects the events of a past until all of it is published."""

    def __init__(self, printer: LinePrinter, narrator: Narrator) -> None:
        self._printer = printer
        self._narrator = narrator
        self._is_past = False
        self._id = ""
        self._title = ""
        self._turns = 0
        self._newest: list[Event] = []

    def take(self, event: Event) -> bool:
        """Whether the event belongs to a past, or announces one, so that it needn't be reported."""
        match event:
            case SessionOpened():
                self._begin(event)
            case SessionRestored():
                self._tell(event.skipped)
            case SessionRenamed() if self._is_past:
                self._title = event.title
            case TurnStarted(text=str()) if self._is_past:
                self._turns += 1
                self._newest = [event]
            case _ if self._is_past:
                if isinstance(event, _TOLD):
                    self._newest.append(event)
            case _:
                return False
        return True

    def _begin(self, event: SessionOpened) -> None:
        self._narrator.begin_session()
        self._is_past, self._turns, self._newest = event.restoring, 0, []
        if event.id != self._id:
            self._id, self._title = event.id, event.title

    def _tell(self, skipped: str) -> None:
        """Print the newest turn. A long past arrives twice: first its newest turns, then all."""
        self._is_past = False
        name = f": {self._title}" if self._title else ""
        self._printer.say(f"The session continues{name}. It has {counted(self._turns, 'turn')}.")
        self._printer.say(skipped or None)
        if self._newest:
            self._printer.say("Its newest turn:")
        for event in self._newest:
            self._narrator.tell(event)
        self._newest = []
