"""The conversation, as a fold over the session's events: the same function builds it live and on resume.

`messages` are what later turns are built from. `steps` are what each turn did, independent of any API: only
the `full-trace` policy replays them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from msgspec import Struct, field
from msgspec.structs import replace

from keen_tui.domain.events import (
    Compacted,
    ContextAdded,
    Event,
    ImagesAttached,
    MemoryEdited,
    MessageTakenBack,
    ResourcesAttached,
    ShellFinished,
    SkillCalled,
    Steered,
    StepRestarted,
    TextDelta,
    ToolFinished,
    TurnAbandoned,
    TurnDone,
    TurnError,
    TurnIncomplete,
    TurnStarted,
    TurnUndone,
)
from keen_tui.domain.facts.skill_used import SkillUsed
from keen_tui.domain.messages import (
    CommandRun,
    Message,
    ToolCall,
    ToolResult,
    ToolStep,
    TurnMemory,
    merged_memory,
)
from keen_tui.memory.rendering import ABANDONED, undone_text
from keen_tui.text.packed import Packed, packed, unpacked

COMPACTED = "(the conversation until here, summarised)"
"""Text of the user message that a summary answers: every API requires a user message first."""

Steps = Mapping[int, Sequence[ToolStep]]

_Call: TypeAlias = tuple[ToolCall, ToolResult]


class Past(Struct, frozen=True):
    """The material of a request: the messages, and the steps of each turn, oldest first.

    `ran` are the commands that the user ran since the newest message: they go before the next one.
    """

    messages: tuple[Message, ...] = ()
    steps: Steps = field(default_factory=dict)
    ran: tuple[CommandRun, ...] = ()


class Conversation:
    """Messages and steps. Only `take` changes them."""

    def __init__(self) -> None:
        self._messages: list[Message] = []
        self._steps: dict[int, list[_KeptStep]] = {}
        self._steered: list[Message] = []
        self._open: _OpenStep | None = None
        self._ran: tuple[CommandRun, ...] = ()

    @property
    def messages(self) -> tuple[Message, ...]:
        """All messages, oldest first."""
        return tuple(self._messages)

    @property
    def past(self) -> Past:
        """A copy of the messages and steps that later events don't change."""
        return Past(self.messages, _KeptSteps(self._steps), self._ran)

    @property
    def last_turn(self) -> int:
        """Number of the newest turn, 0 when there is none."""
        return self._messages[-1].turn if self._messages else 0

    @property
    def unanswered(self) -> tuple[Message, ...]:
        """The user messages without a reply: all after the last assistant message."""
        answered = self._answered
        return tuple(self._messages[answered:])

    @property
    def answered(self) -> tuple[Message, ...]:
        """The messages that a compaction may summarise: all up to the last assistant message."""
        return tuple(self._messages[: self._answered])

    @property
    def is_summary(self) -> bool:
        """Whether a compaction would have only a summary to summarise, or nothing."""
        return all(message.by_program for message in self.answered)

    @property
    def skills_in_use(self) -> tuple[SkillUsed, ...]:
        """The skills that turns used and that weren't unloaded, in first-seen order."""
        memories = (message.memory for message in self._messages if message.memory)
        return merged_memory(memories).skills

    def memories_without(self, skill: str) -> list[tuple[int, TurnMemory]]:
        """The memories that say that the skill is in use, with their turns, as they are without it."""
        memories = [(message.turn, message.memory) for message in self._messages if message.memory]
        return [
            (turn, replace(memory, skills=tuple(used for used in memory.skills if used.name != skill)))
            for turn, memory in memories
            if any(used.name == skill for used in memory.skills)
        ]

    def memory_of(self, turn: int) -> TurnMemory | None:
        """The TurnMemory of a turn; None if it has no assistant message."""
        place = self._place_of(turn)
        return None if place is None else self._messages[place].memory or TurnMemory()

    def text_of(self, turn: int) -> str:
        """The visible text of a turn's assistant message, "" if it has none."""
        place = self._place_of(turn)
        return "" if place is None else self._messages[place].text

    def take(self, event: Event, *, packs: bool = True) -> None:
        """Apply one event. Events that don't concern the conversation are ignored. `packs`: a long result is
        kept compressed."""
        match event:
            case TurnStarted(text=text):
                self._open = None
                if text is not None:
                    self._messages.append(Message(role="user", text=text, turn=event.turn, ran=self._ran))
                    self._ran = ()
            case TextDelta():
                self._step(event.turn, event.step).texts.append(event.text)
            case StepRestarted():
                self._open = None
            case ToolFinished() if not event.result.unfinished:
                self._finished(event, packs=packs)
            case Steered():
                self._steered.append(Message(role="user", text=event.text, turn=event.turn))
            case ImagesAttached():
                self._attach(event.turn, images=event.images)
            case SkillCalled():
                self._attach(event.turn, skill=event.skill)
            case ResourcesAttached():
                self._attach(event.turn, resources=event.resources)
            case ContextAdded():
                self._attach(event.turn, context=event.text)
            case TurnDone():
                self._open = None
                self._take_steered()
                self._append(event.turn, event.text, event.turn_memory, raw=event.raw)
            case TurnIncomplete():
                self._open = None
            case TurnError():
                self._open = None
                self._steps.pop(event.turn, None)
            case TurnAbandoned():
                self._take_steered()
                self._append(event.turn, ABANDONED, event.turn_memory, by_program=True)
            case TurnUndone():
                memory = TurnMemory(files_changed=event.files)
                self._append(event.turn, undone_text(event.undone), memory, by_program=True)
            case MessageTakenBack():
                if self._messages:
                    gone = self._messages.pop()
                    self._steered = [each for each in self._steered if each.turn != gone.turn]
                    self._ran = gone.ran + self._ran
            case ShellFinished(command=command, result=result):
                self._ran += (CommandRun(command=command, text=result.text),)
            case MemoryEdited():
                self._edit(event.turn, event.turn_memory)
            case Compacted():
                self._compact(event)

    @property
    def _answered(self) -> int:
        """The number of messages up to and including the last assistant message."""
        places = range(len(self._messages), 0, -1)
        return next((place for place in places if self._messages[place - 1].role == "assistant"), 0)

    def _take_steered(self) -> None:
        """Move steering messages to their place after the messages of their turns (turn.md rule 15)."""
        for message in self._steered:
            places = range(len(self._messages), 0, -1)
            behind = (place for place in places if self._messages[place - 1].turn == message.turn)
            self._messages.insert(next(behind, len(self._messages)), message)
        self._steered.clear()

    def _attach(self, turn: int, **added: Any) -> None:
        """Set fields of the newest user message of the turn: a steering message, or the one that began it."""
        for messages in (self._steered, self._messages):
            for place in range(len(messages) - 1, -1, -1):
                if (messages[place].turn, messages[place].role) == (turn, "user"):
                    messages[place] = replace(messages[place], **added)
                    return

    def _append(
        self, turn: int, text: str, memory: TurnMemory, *, raw: str | None = None, by_program: bool = False
    ) -> None:
        self._messages.append(
            Message(
                role="assistant", text=text, turn=turn, memory=memory or None, raw=raw, by_program=by_program
            )
        )

    def _step(self, turn: int, step: int) -> _OpenStep:
        if self._open is None or (self._open.turn, self._open.step) != (turn, step):
            self._open = _OpenStep(turn, step)
        return self._open

    def _finished(self, event: ToolFinished, *, packs: bool) -> None:
        """The calls of one step are grouped; the first one closes the step's text."""
        step = self._step(event.turn, event.step)
        call = ToolCall(id=event.id, name=event.name, arguments=event.arguments)
        steps = self._steps.setdefault(event.turn, [])
        if step.calls:
            steps.pop()
        step.calls.append(packed((call, event.result)) if packs else (call, event.result))
        steps.append(_KeptStep("".join(step.texts), tuple(step.calls)))

    def _edit(self, turn: int, memory: TurnMemory) -> None:
        place = self._place_of(turn)
        if place is not None:
            self._messages[place] = replace(self._messages[place], memory=memory or None)

    def _place_of(self, turn: int) -> int | None:
        """The index of the assistant message of the turn."""
        places = range(len(self._messages))
        found = (
            place
            for place in places
            if self._messages[place].turn == turn and self._messages[place].role == "assistant"
        )
        return next(found, None)

    def _compact(self, event: Compacted) -> None:
        kept = [message for message in self._messages if message.turn > event.turn]
        self._messages = [
            Message(role="user", text=COMPACTED, turn=event.turn, by_program=True),
            Message(
                role="assistant",
                text=event.summary,
                turn=event.turn,
                memory=event.turn_memory or None,
                by_program=True,
            ),
            *kept,
        ]
        self._steps = {turn: steps for turn, steps in self._steps.items() if turn > event.turn}
        self._open = None


def conversation_of(events: Iterable[Event]) -> Conversation:
    """The fold of a session's events. Its results aren't compressed: all of them are in memory already, and
    to pack them would take as long as to read the session."""
    conversation = Conversation()
    for event in events:
        conversation.take(event, packs=False)
    return conversation


class _OpenStep(Struct):
    """An unfinished step."""

    turn: int
    step: int
    texts: list[str] = field(default_factory=list)
    calls: list[Packed[_Call] | _Call] = field(default_factory=list)


class _KeptStep(Struct, frozen=True):
    """A step as it is kept: its long results are packed."""

    text: str
    calls: tuple[Packed[_Call] | _Call, ...]

    @property
    def unpacked(self) -> ToolStep:
        return ToolStep(text=self.text, calls=tuple(map(unpacked, self.calls)))


class _KeptSteps(Mapping[int, tuple[ToolStep, ...]]):
    """The steps of each turn as they were when this was made. Each look at a turn unpacks its steps."""

    def __init__(self, steps: Mapping[int, Sequence[_KeptStep]]) -> None:
        self._steps = {turn: tuple(kept) for turn, kept in steps.items()}

    def __getitem__(self, turn: int) -> tuple[ToolStep, ...]:
        return tuple(step.unpacked for step in self._steps[turn])

    def __iter__(self) -> Iterator[int]:
        return iter(self._steps)

    def __len__(self) -> int:
        return len(self._steps)
