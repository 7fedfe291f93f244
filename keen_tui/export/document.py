"""A session as the formats see it: turns, what happened in them, and what happened between them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import Literal

from msgspec import Struct, field

from keen_tui.domain.events import (
    Compacted,
    EndEvent,
    Event,
    HostContacted,
    ImagesAttached,
    ModelChanged,
    Notice,
    PolicyChanged,
    ResourcesAttached,
    RunAsked,
    RunBegun,
    RunEnded,
    RunWaiting,
    ShellFinished,
    SkillCalled,
    Steered,
    ToolFinished,
    ToolStarted,
    TurnAbandoned,
    TurnUndone,
    WebSearched,
)
from keen_tui.domain.messages import CallOutcome, ToolResult, TurnMemory
from keen_tui.domain.spent import NOTHING, Spent

TurnState = Literal["done", "incomplete", "continued", "failed", "abandoned", "unfinished"]
"""`continued`: a later turn went on from its work. `unfinished`: its end is not known."""

CallState = CallOutcome | Literal["unfinished"]


class ExportSource(Struct, frozen=True, kw_only=True):
    """What an export is made from: a session with its events in order. `began` is in seconds since the epoch.

    `title` may be "": then a name that the user gave it, or else the first message, stands for it.
    """

    title: str
    session_id: str
    workspace: str
    began: float
    model: str
    events: Sequence[Event]


class Streamed(Struct, eq=False):
    """What streamed in one step up to a tool call. `lost`: cut, and no later request holds it."""

    step: int
    pieces: list[str] = field(default_factory=list)
    lost: bool = False

    @property
    def text(self) -> str:
        return "".join(self.pieces)


class ExportedText(Streamed, eq=False):
    """The assistant's text."""


class Thought(Streamed, eq=False):
    """The model's reasoning, and how many seconds it took."""

    seconds: float = 0.0


class ExportedCall(Struct, frozen=True):
    """A tool call; `finished` is None when no result of it is known."""

    started: ToolStarted
    finished: ToolFinished | None = None

    @property
    def result(self) -> ToolResult | None:
        return self.finished.result if self.finished else None

    @property
    def state(self) -> CallState:
        return self.result.outcome if self.result else "unfinished"


ExportedItem = (
    ExportedText
    | Thought
    | ExportedCall
    | Notice
    | Steered
    | ImagesAttached
    | SkillCalled
    | ResourcesAttached
    | HostContacted
    | WebSearched
    | Compacted
    | TurnUndone
    | ShellFinished
    | RunBegun
    | RunWaiting
    | RunAsked
    | RunEnded
    | ModelChanged
    | PolicyChanged
    | EndEvent
    | TurnAbandoned
)


def own_call(ran: ShellFinished) -> ExportedCall:
    """A command of the user's own, to be written as a tool call is."""
    started = ToolStarted(turn=ran.turn, id=ran.id, name="shell", arguments={}, target=ran.command)
    finished = ToolFinished(
        turn=ran.turn,
        id=ran.id,
        name="shell",
        arguments={},
        target=ran.command,
        result=ran.result,
        seconds=ran.seconds,
    )
    return ExportedCall(started, finished)


class Turn(Struct, eq=False):
    """A turn with all its attempts. `memory` is what it leaves to later turns, as it is by now.

    `spent` counts all its attempts.
    """

    number: int
    words: str = ""
    state: TurnState = "unfinished"
    items: list[ExportedItem] = field(default_factory=list)
    memory: TurnMemory = field(default_factory=TurnMemory)
    spent: Spent = NOTHING


class ExportedSession(Struct, frozen=True):
    """A session to be written. `began` is in seconds since the epoch, `aside` what was asked beside the
    turns, such as summaries."""

    title: str
    session_id: str
    workspace: str
    began: float
    model: str
    parts: tuple[Turn | ExportedItem, ...]
    aside: Spent = NOTHING

    @property
    def turns(self) -> tuple[Turn, ...]:
        return tuple(part for part in self.parts if isinstance(part, Turn))

    @property
    def cost(self) -> float | None:
        """What all of it cost in US dollars; None when a part of it is not known."""
        return reduce(Spent.joined, (turn.spent for turn in self.turns), self.aside).cost
