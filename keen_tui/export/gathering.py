"""A turn of the document while its events come in."""

from __future__ import annotations

from msgspec import Struct, field

from keen_tui.domain.events import (
    EndEvent,
    ReasoningDelta,
    TextDelta,
    ToolFinished,
    ToolStarted,
    TurnDone,
    TurnError,
)
from keen_tui.domain.messages import TurnMemory
from keen_tui.domain.spent import NOTHING, Spent
from keen_tui.export.document import ExportedCall, ExportedItem, ExportedText, Thought, Turn, TurnState


class Streamed(Struct, eq=False):
    """Text or reasoning of a step, piece by piece. `seconds` is None for text."""

    step: int
    pieces: list[str]
    seconds: float | None
    lost: bool = False

    def item(self) -> ExportedText | Thought:
        text = "".join(self.pieces)
        if self.seconds is None:
            return ExportedText(self.step, text, self.lost)
        return Thought(self.step, text, self.seconds, self.lost)


class GatheredTurn(Struct, eq=False):
    """The turn so far. `streaming` is what a restart of its step would withdraw, `running` the calls
    without a result by id."""

    number: int
    words: str = ""
    state: TurnState = "unfinished"
    memory: TurnMemory = field(default_factory=TurnMemory)
    spent: Spent = NOTHING
    items: list[ExportedItem | Streamed] = field(default_factory=list)
    streaming: list[Streamed] = field(default_factory=list)
    running: dict[str, int] = field(default_factory=dict)

    def finished(self) -> Turn:
        items = tuple(item.item() if isinstance(item, Streamed) else item for item in self.items)
        return Turn(self.number, self.words, self.state, items, self.memory, self.spent)

    def stream(self, event: TextDelta | ReasoningDelta) -> None:
        """Text goes on in the last item where that is of the same kind and step."""
        seconds = event.seconds if isinstance(event, ReasoningDelta) else None
        last = self.streaming[-1] if self.streaming and self.streaming[-1] is self.items[-1] else None
        if last and last.step == event.step and (last.seconds is None) == (seconds is None):
            last.pieces.append(event.text)
            last.seconds = seconds
        else:
            added = Streamed(event.step, [event.text], seconds)
            self.streaming.append(added)
            self.items.append(added)

    def withdraw(self, step: int) -> None:
        """What that step has streamed is gone."""
        gone = [streamed for streamed in self.streaming if streamed.step == step]
        self.streaming = [streamed for streamed in self.streaming if streamed.step != step]
        self.items = [item for item in self.items if item not in gone]

    def call(self, started: ToolStarted) -> None:
        """A call began: the text before it belongs to a whole step."""
        self.streaming.clear()
        self.running[started.id] = len(self.items)
        self.items.append(ExportedCall(started))

    def result(self, finished: ToolFinished) -> None:
        place = self.running.pop(finished.id, None)
        if place is not None:
            item = self.items[place]
            assert isinstance(item, ExportedCall)
            self.items[place] = ExportedCall(item.started, finished)

    def end(self, end: EndEvent) -> None:
        if not isinstance(end, TurnDone):
            self.lose_streaming()
        self.state = (
            "done" if isinstance(end, TurnDone) else "failed" if isinstance(end, TurnError) else "incomplete"
        )
        self.memory = end.turn_memory
        self.streaming.clear()
        self.running.clear()
        self.items.append(end)

    def lose_streaming(self) -> None:
        """The step that was streaming is cut: nothing of it is carried over."""
        for streamed in self.streaming:
            streamed.lost = True
        self.streaming.clear()
