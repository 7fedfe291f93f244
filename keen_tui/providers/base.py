"""The contract between the turn loop and a model API."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass
from typing import Protocol

from keen_tui.memory.pending import PendingState, PendingTrace
from keen_tui.messages import Message, NativeMessage, StepReply, ToolCall, ToolResult, ToolSpec


@dataclass(frozen=True, slots=True, kw_only=True)
class StepRequest:
    """One model call: the conversation with the native traces of unfinished turns in their places."""

    system: str
    conversation: Sequence[Message]
    traces: Sequence[PendingTrace]
    tools: Sequence[ToolSpec]


@dataclass(frozen=True, slots=True)
class StepText:
    """A piece of visible text, as it streams."""

    text: str


@dataclass(frozen=True, slots=True)
class StepReasoning:
    """A piece of reasoning, as it streams."""

    text: str


StepPart = StepText | StepReasoning | StepReply


class Provider(Protocol):
    """A client of one model server, in one API, that holds the pending state in its own messages.

    Creating one MUST be cheap: the SDK is imported by `load`, or by the first call that needs it.
    """

    model: str
    server: str
    """Host and port, or a short name, for the header of the screen."""

    pending: PendingState | None
    """What incomplete turns left. Set by the session when it settles a turn; providers only keep it."""

    def load(self) -> None:
        """Import the SDK. Blocking (a second or more): call it in a thread. Safe to call twice."""
        ...

    def stream_step(self, request: StepRequest) -> AsyncGenerator[StepPart, None]:
        """Make one model call, once: no retry inside.

        Yields text and reasoning as they stream, and a `StepReply` last, exactly once, and only when
        the reply is complete as turn.md says ("Complete means"). In the reply every tool call has an
        id that is unique in the request that will carry it.

        Raises:
            ProviderError: nothing else but CancelledError ever leaves it.
        """
        ...

    def tool_results(self, batch: Sequence[tuple[ToolCall, ToolResult]]) -> tuple[NativeMessage, ...]:
        """The results of a step's calls, in call order, as the messages that follow the reply."""
        ...

    async def close(self) -> None:
        """Close connections."""
        ...
