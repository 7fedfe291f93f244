"""The state of the open session. Opening another session replaces this one value."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct, field
from msgspec.structs import replace

from keen_tui.agent.instructions.instructions import InstructionFiles, Instructions
from keen_tui.agent.instructions.nested import NestedInstructions
from keen_tui.agent.instructions.watch import InstructionWatch
from keen_tui.agent.turn.attachments.skills import facts_of_calls
from keen_tui.agent.turn.turn_setup import NewestRequest, PendingSlot, TurnSetup
from keen_tui.domain.display import TodoDisplay, TodoItem
from keen_tui.domain.events import EndEvent, Event, MessageTakenBack, ToolFinished, TurnError, TurnStarted
from keen_tui.domain.facts.skill_used import SkillUsed
from keen_tui.domain.messages import turn_memory
from keen_tui.domain.models import ModelInfo
from keen_tui.memory.conversation import Conversation, conversation_of
from keen_tui.memory.pending import PendingState
from keen_tui.memory.policies import MemoryPolicy
from keen_tui.memory.projection import Projector


class OpenSession(Struct, kw_only=True):
    """The conversation, and what its next turn continues from: `attempt` is the number of the newest turn's
    last attempt, `failed_seconds` the time of its attempts that kept nothing. `setup` is what its turns work
    with."""

    setup: TurnSetup
    instructions: InstructionWatch
    conversation: Conversation = field(default_factory=Conversation)
    attempt: int = 0
    failed_seconds: float = 0.0

    @property
    def pending(self) -> PendingState | None:
        """The pending state of incomplete turns, until retry or discard."""
        return self.setup.provider.pending

    @property
    def skills_in_use(self) -> tuple[SkillUsed, ...]:
        """The skills that turns used and that weren't unloaded, those of incomplete turns included."""
        called = facts_of_calls(self.conversation.unanswered)
        pending = self.pending.facts if self.pending else ()
        return turn_memory((*self.conversation.skills_in_use, *pending, *called)).skills

    @property
    def is_unanswered(self) -> bool:
        """Whether the newest turn isn't done, so that it can be retried or discarded."""
        return bool(self.conversation.unanswered)


class SessionState(Struct, kw_only=True):
    """The session that is open, and what stays the same when another one is opened: the memory `policy`,
    what is known of the model, and at which percentage of its context window the conversation is summarised
    (0: never)."""

    open: OpenSession
    policy: MemoryPolicy
    info: ModelInfo | None
    compact_at: int

    @property
    def context_window(self) -> int | None:
        """The model's context window in tokens, or None if it isn't known."""
        return self.info.context_window if self.info else None

    @property
    def most_tokens(self) -> float:
        """The most tokens of a request; before a larger one the conversation is summarised. 0: no limit."""
        return (self.context_window or 0) * self.compact_at / 100


def opened_session(
    setup: TurnSetup,
    files: InstructionFiles | None,
    instructions: Instructions,
    past: Sequence[Event],
    conversation: Conversation | None,
) -> OpenSession:
    """A session with the events of `past`. `setup` is that of the session before it, `files` are those of
    instructions, `instructions` what was read of them, `conversation` the fold of the past if the caller has
    it."""
    return OpenSession(
        setup=replace(
            setup,
            pending_store=PendingSlot(),
            projector=Projector(),
            newest_request=NewestRequest(),
            instructions=instructions,
            nested=NestedInstructions(files, instructions),
        ),
        instructions=InstructionWatch(files, instructions),
        conversation=conversation_of(past) if conversation is None else conversation,
        attempt=_newest_attempt(past),
        failed_seconds=_failed_seconds(past),
    )


def _newest_attempt(past: Sequence[Event]) -> int:
    """The number of the newest turn's last attempt, 0 before the first."""
    return next((event.attempt for event in reversed(past) if isinstance(event, TurnStarted)), 0)


def _failed_seconds(past: Sequence[Event]) -> float:
    """The time of the attempts at the newest turn if it failed and kept nothing."""
    ends = (event for event in reversed(past) if isinstance(event, EndEvent | TurnStarted | MessageTakenBack))
    newest = next(ends, None)
    return newest.seconds if isinstance(newest, TurnError) else 0.0


def newest_todos(past: Sequence[Event]) -> tuple[TodoItem, ...]:
    """The to-do list as the session left it."""
    for event in reversed(past):
        if type(event) is ToolFinished and isinstance(event.result.display, TodoDisplay):
            return event.result.display.items
    return ()
