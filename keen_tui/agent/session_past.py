"""A session's past: opened from events, ended where a program left it, corrected by the user's hand."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec.structs import replace

from keen_tui.agent.instructions import NO_INSTRUCTIONS, Instructions
from keen_tui.agent.one_shot import answer_aside
from keen_tui.agent.session_facts import SessionFacts
from keen_tui.agent.turn.turn_context import PendingKeeper
from keen_tui.domain.display import TodoDisplay, TodoItem
from keen_tui.domain.errors import SessionRefused
from keen_tui.domain.events import (
    EndEvent,
    Event,
    MemoryEdited,
    MessageTakenBack,
    ModelChanged,
    SessionOpened,
    SessionRenamed,
    SessionRestored,
    ToolFinished,
    TurnError,
    TurnStarted,
    TurnUndone,
)
from keen_tui.domain.messages import TurnMemory
from keen_tui.domain.models import Identity
from keen_tui.memory.conversation import Conversation, conversation_of
from keen_tui.memory.pending import PendingState
from keen_tui.memory.projection import Projector
from keen_tui.memory.rendering import rendered_bytes


class SessionPast(SessionFacts):
    """What the desk of saved sessions and the user do with what has been."""

    def open(
        self,
        session_id: str,
        title: str,
        past: Sequence[Event],
        *,
        skipped: str = "",
        conversation: Conversation | None = None,
        instructions: Instructions = NO_INSTRUCTIONS,
    ) -> None:
        """Go on with another session: `past` are its events so far, `skipped` says what could not be read.

        `instructions` are for its system prompt.

        `conversation` is what the past comes to, where the caller has worked that out already: in a long
        session it takes a tenth of a second.

        Raises:
            SessionRefused: a turn runs, or pending state would be lost unasked.
        """
        self._require_idle("open another session")
        if self.pending:
            raise SessionRefused("An incomplete turn waits: retry or discard it first.")
        self._agent = replace(self._agent, keeper=None, projector=Projector(), instructions=instructions)
        self._told_of = instructions.text
        self._approvals.forget_grants()
        self._agent.toolbox.todos.items = newest_todos(past)
        self._conversation = conversation_of(past) if conversation is None else conversation
        attempts = (event.attempt for event in reversed(past) if isinstance(event, TurnStarted))
        self._attempt = next(attempts, 0)
        self._failed_seconds = failed_seconds(past)
        self._waiting.forget()
        self._publish(SessionOpened(id=session_id, title=title, restoring=bool(past)))
        if past:
            # The model of then is not the one of now.
            self.bus.publish_all([event for event in past if not isinstance(event, ModelChanged)])
            self._publish(SessionRestored(skipped=skipped))

    def keep_pending_with(self, keeper: PendingKeeper | None) -> None:
        """Have pending state kept outside this process, from the next step on."""
        self._agent = replace(self._agent, keeper=keeper)

    def adopt(self, pending: PendingState, origin: Identity) -> PendingState | None:
        """Pending state that was kept, in a form that the model of now can go on with, or None."""
        return self._agent.provider.adopt(pending, origin)

    def resume(self, endings: Iterable[Event], pending: PendingState | None) -> None:
        """End the turns that the session's last program left unfinished; `pending` was kept of them."""
        for event in endings:
            self._publish(event)
            if isinstance(event, TurnError):
                self._failed_seconds = event.seconds
        self._agent.provider.pending = pending

    def edit_memory(self, turn: int, memory: TurnMemory) -> None:
        """Set what is remembered of a turn.

        Raises:
            SessionRefused: a turn runs, or no message stands for that one.
        """
        self._require_idle("change what is remembered")
        if self._conversation.memory_of(turn) is None:
            raise SessionRefused(f"No message stands for turn {turn}: it is not answered, or was summarised.")
        text = self._conversation.text_of(turn)
        carried = rendered_bytes(text, memory)
        self._publish(MemoryEdited(turn=turn, turn_memory=memory, carried_bytes=carried))

    def note_undone(self, turn: int, files: tuple[str, ...]) -> None:
        """The files that the turn changed were taken back: later turns are told (turn.md rule 16)."""
        self._publish(TurnUndone(turn=self._conversation.last_turn, undone=turn, files=files))

    def require_settled(self, action: str) -> None:
        """Raises SessionRefused while a turn runs or waits for retry or discard."""
        self._require_idle(action)
        if self._unanswered:
            raise SessionRefused(f"The last turn is not done: retry or discard it first, then {action}.")

    async def answer_aside(self, prompt: str) -> str:
        """What the model says to one message beside the conversation. Raises ProviderError."""
        return await answer_aside(prompt, self._agent)

    def rename(self, title: str) -> None:
        """Give the session a title."""
        self._publish(SessionRenamed(title=title))


def failed_seconds(past: Sequence[Event]) -> float:
    """What the attempts at the newest turn took, where it has failed and kept nothing."""
    ends = (event for event in reversed(past) if isinstance(event, EndEvent | TurnStarted | MessageTakenBack))
    newest = next(ends, None)
    return newest.seconds if isinstance(newest, TurnError) else 0.0


def newest_todos(past: Sequence[Event]) -> tuple[TodoItem, ...]:
    """The todo list as a session left it."""
    for event in reversed(past):
        if isinstance(event, ToolFinished) and isinstance(event.result.display, TodoDisplay):
            return event.result.display.items
    return ()
