"""The part of sub-agents, which have sessions of their own, that a session and its turns use."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Protocol

from keen_tui.agent.turn.approvals import Approvals
from keen_tui.agent.turn.questions import UserQuestions
from keen_tui.agent.turn.settle import Broken
from keen_tui.domain.choices import Mode
from keen_tui.domain.events import Event
from keen_tui.domain.messages import ToolCall, ToolResult, UnknownCall
from keen_tui.memory.pending import OpenStep
from keen_tui.tools.calls.tool import AgentOrder


class AgentCall(Protocol):
    """A call that a sub-agent works on. `result` is the result so far; `broken` says how the last attempt
    broke off, None if it didn't; `unknown_calls` are the sub-agent's own calls whose effects aren't known."""

    result: ToolResult
    broken: Broken | None
    unknown_calls: tuple[UnknownCall, ...]


class AgentCalls(Protocol):
    """The calls that sub-agents work on, those of the turn that runs or waits for a retry."""

    def agent(self, turn: int, call: ToolCall, order: AgentOrder, earlier: ToolResult) -> AgentCall:
        """The call with its sub-agent: the one that an earlier attempt began, or a new one. `earlier` is the
        result of the call so far."""

    async def run(self, call_id: str) -> None:
        """Let the sub-agent of that call work until it has finished or breaks off."""

    def supposed(self, call: ToolCall) -> ToolResult | None:
        """The result of a call if the program dies at this moment; None if it isn't a call of `task`."""

    def hurry(self) -> bool:
        """End the waits before automatic retries. False if no sub-agent waits."""

    def asking(self, call_id: str) -> tuple[Approvals, UserQuestions, str] | None:
        """The open questions of the sub-agent that made the call with this id, and the call's id in its own
        session; None if no sub-agent made it."""

    def follow(self, mode: Mode) -> None:
        """Apply a new permission mode of the session: no sub-agent may do more than it allows."""

    def dismiss(self, step: OpenStep | None = None, *, finished: bool = True) -> Coroutine[None, None, None]:
        """Forget all sub-agents; await the result to close their sessions. `step` is the open step that is
        closed. With `finished=False` the program ends, and a later one may continue them."""

    def serve(
        self,
        publish: Callable[[Event], None],
        pass_on: Callable[[Event], None],
        why_stopped: Callable[[], str],
    ) -> None:
        """Set the callbacks to the session: `publish` publishes an event in it, `pass_on` only on its bus;
        `why_stopped` returns a sentence about who interrupted its turn."""
