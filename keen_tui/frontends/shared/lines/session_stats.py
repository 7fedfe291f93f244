"""Statistics of the session's turns: their numbers, their usage, and whether one has failed."""

from __future__ import annotations

from keen_tui.domain.events import (
    Event,
    MemoryEdited,
    MessageTakenBack,
    ReviewUsed,
    SessionOpened,
    SessionRenamed,
    TurnAbandoned,
    TurnDone,
    TurnError,
    TurnIncomplete,
    TurnStarted,
    Usage,
)
from keen_tui.domain.messages import TurnMemory
from keen_tui.domain.spent import NOTHING, NOTHING_LEFT_OUT, Spent


class SessionStats:
    """Follows the events of a session. `spent` has what each turn used by its number, 0 for summaries,
    titles and reviews; `seconds` how long each took, as far as it has ended, `memory` what later turns know
    of it."""

    def __init__(self) -> None:
        self.title = ""
        self.turns: list[int] = []
        self.spent: dict[int, Spent] = {}
        self.seconds: dict[int, float] = {}
        self.memory: dict[int, TurnMemory] = {}
        self._left_out = NOTHING_LEFT_OUT

    def note(self, event: Event) -> None:
        """Update the statistics with this event."""
        self._left_out = self._left_out.after(event)
        match event:
            case SessionOpened():
                self.title, self.turns, self.spent, self.seconds = event.title, [], {}, {}
                self.memory = {}
            case SessionRenamed():
                self.title = event.title
            case TurnStarted(text=str()):
                self.turns.append(event.turn)
            case MessageTakenBack() if event.turn in self.turns:
                self.turns.remove(event.turn)
            case ReviewUsed():
                self.spent[0] = self.spent.get(0, NOTHING).plus(event.usage)
            case Usage():
                self.spent[event.turn] = self.spent.get(event.turn, NOTHING).plus(event, self._left_out)
            case TurnDone() | TurnIncomplete() | TurnError():
                self.seconds[event.turn] = event.seconds
        if isinstance(event, TurnDone | TurnAbandoned | MemoryEdited):
            self.memory[event.turn] = event.turn_memory
