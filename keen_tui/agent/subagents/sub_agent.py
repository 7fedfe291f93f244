"""A sub-agent: it does one call of the tool `task`, in a session of its own (turn.md rule 20)."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from keen_tui.agent.subagents.agent_result import (
    failed,
    finished,
    placed,
    stopped,
    supposed,
    unfinished,
)
from keen_tui.agent.subagents.kept_events import KeptEvents
from keen_tui.agent.turn.settle import Broken
from keen_tui.domain.errors import PROGRAM_ENDED, EndReason, KeenError
from keen_tui.domain.events import (
    AgentEvent,
    AgentWorked,
    ApprovalAnswered,
    ApprovalRequested,
    Event,
    QuestionAnswered,
    QuestionAsked,
    ToolFinished,
    TurnDone,
    TurnError,
    TurnIncomplete,
    TurnStarted,
    Usage,
)
from keen_tui.domain.messages import (
    Fact,
    SkillUsed,
    ToolCall,
    ToolResult,
    ToolStep,
    UnknownCall,
)
from keen_tui.tools.base import AgentOrder

if TYPE_CHECKING:
    from keen_tui.agent.session import Session
    from keen_tui.agent.subagents.own_tree import OwnTree
    from keen_tui.agent.subagents.sub_agents import SubAgents

_FINAL: Final[frozenset[EndReason]] = frozenset(("step_limit", "context", "hook"))
"""Reasons that a retry doesn't cure: the parent gets what there is."""

_LOST: Final = "Its work tree was removed after it was broken off, so what it did there is lost: start again."


class SubAgent:
    """Runs the call; a later attempt goes on where it was broken off.

    Args:
        agents: the sub-agents of the session.
        turn: the parent's turn, and `call` the call of that turn.
        session_id: the id of its session.
        earlier: the result so far, if an earlier attempt was broken off.

    `result` is the result of the call so far; `broken` says how the last attempt was broken off, None if it
    wasn't; `unknown_calls` are those of its calls whose effects nobody knows. `session` is None before it has
    begun, and once it has finished. `tree` is the work tree in which it works apart, None if it works in the
    workspace; `has_lost_work`: somebody removed the work tree in which it was broken off.
    """

    def __init__(
        self,
        agents: SubAgents,
        turn: int,
        call: ToolCall,
        order: AgentOrder,
        session_id: str,
        earlier: ToolResult,
    ) -> None:
        self.turn = turn
        self.call = call
        self.order = order
        self.session_id = session_id
        self.result = earlier
        self.broken: Broken | None = None
        self.unknown_calls: tuple[UnknownCall, ...] = ()
        self.session: Session | None = None
        self.tree: OwnTree | None = None
        self.has_lost_work = False
        self.events = KeptEvents()
        self._agents = agents
        self._opening: asyncio.Task[Session] | None = None
        self._ended: asyncio.Future[None] | None = None
        self._stopped_alone = False
        self._end: TurnDone | TurnIncomplete | TurnError | None = None
        self._has_left = False

    @property
    def name(self) -> str:
        """The name of its definition."""
        return self.order.agent.name

    async def run(self) -> None:
        """Work until it has finished or is broken off; a cancelled run stops it and waits for that."""
        self.broken, self._stopped_alone = None, False
        try:
            session = await self._opened()
        except KeenError as error:
            self.result = failed(self, str(error))
            return
        self._ended = asyncio.get_running_loop().create_future()
        self._begin(session)
        try:
            await asyncio.shield(self._ended)
        except asyncio.CancelledError:
            await (session.close() if self._agents.why_stopped() == PROGRAM_ENDED else session.halt())
            raise

    async def released(self) -> Session | None:
        """Its session, which is the caller's to close from now on; None if it has none."""
        if self._opening:
            with suppress(KeenError):
                await self._opened()
        session, self.session = self.session, None
        return session

    async def leave_tree(self, *, finished: bool) -> None:
        """Leave its work tree, if it has one, and say in the result what that holds. Its session is
        closed."""
        if self.tree and not self._has_left:
            self._has_left = True
            self.result = placed(self, await asyncio.to_thread(self.tree.leave, finished=finished))

    def outward(self, facts: Sequence[Fact]) -> tuple[Fact, ...]:
        """The facts of its turn that are facts of the parent's: without skills. If it works apart, that it
        changed its work tree stands for the files in there."""
        own = tuple(fact for fact in facts if not isinstance(fact, SkillUsed))
        return self.tree.outward(own) if self.tree else own

    def stop(self) -> None:
        """Stop it alone: the parent's turn goes on with what there is."""
        if self.session and self.session.running:
            self._stopped_alone = True
            self.session.stop()

    def hear(self, event: Event) -> None:
        """Take an event of its session, and pass it on to the parent's."""
        if self.session is None or isinstance(event, AgentEvent):
            return  # it is being opened; and sub-agents have none of their own
        self.events.note(event)
        match event:
            case TurnStarted():
                self.result = supposed(self)
            case ToolFinished(result=result):
                if facts := self.outward(result.facts):
                    self._agents.publish(AgentWorked(turn=self.turn, id=self.call.id, facts=facts))
            case Usage():
                self._agents.publish(replace(event, turn=self.turn, agent=self.name, call=self.call.id))
            case ApprovalRequested() | QuestionAsked():
                self._agents.publish(
                    replace(event, turn=self.turn, id=outer_id(self.call, event.id), agent=self.name)
                )
            case ApprovalAnswered() | QuestionAnswered():
                self._agents.publish(replace(event, turn=self.turn, id=outer_id(self.call, event.id)))
            case TurnDone() | TurnIncomplete() | TurnError():
                self._note_end(event)
            case _:
                pass
        self._agents.pass_on(AgentEvent(turn=self.turn, id=self.call.id, agent=self.name, event=event))
        is_end = isinstance(event, TurnDone | TurnIncomplete | TurnError)
        if is_end and self._ended and not self._ended.done():
            self._ended.set_result(None)

    async def _opened(self) -> Session:
        """Its session, opened once. A cancelled caller leaves it opening."""
        if self.session is None:
            self._opening = self._opening or asyncio.ensure_future(self._agents.open(self))
            try:
                self.session = await asyncio.shield(self._opening)
            finally:
                if self._opening.done():
                    self._opening = None
        return self.session

    def _begin(self, session: Session) -> None:
        """Start its turn, or retry it. If it had finished before the parent could note it, or its work is
        lost, nothing runs."""
        assert self._ended
        if not session.turn:
            session.submit(self.order.prompt)
        elif self.has_lost_work and session.state.open.is_unanswered:
            self.result = failed(self, _LOST)
            self._ended.set_result(None)
        elif session.state.open.is_unanswered:
            session.retry()
        else:
            self.result = finished(self, session.conversation[-1], self._steps)
            self._ended.set_result(None)

    @property
    def work(self) -> tuple[int, int]:
        """The number of its calls so far, and the bytes of its trace."""
        if isinstance(self._end, TurnDone | TurnIncomplete):
            return self._end.calls, self._end.trace_bytes
        results = [result for step in self._steps for _, result in step.calls]
        return len(results), sum(len(result.text.encode("utf-8", "replace")) for result in results)

    @property
    def _steps(self) -> Sequence[ToolStep]:
        return self.session.past.steps.get(self.session.turn, ()) if self.session else ()

    def _note_end(self, end: TurnDone | TurnIncomplete | TurnError) -> None:
        self._end = end
        self.unknown_calls = end.unknown_calls if isinstance(end, TurnIncomplete) else ()
        if isinstance(end, TurnDone):
            assert self.session
            self.result = finished(self, self.session.conversation[-1], self._steps)
        elif self._stopped_alone:
            self.result = stopped(self, end)
        elif end.reason in _FINAL:
            self.result = failed(self, end.detail, end)
        else:
            self.result = unfinished(self, end)
            detail = f"The sub-agent {self.name} was broken off: {end.detail}"
            self.broken = Broken(
                reason=end.reason,
                detail=detail,
                may_pass=end.may_pass,
                retry_after=end.retry_after,
            )


def outer_id(call: ToolCall, inner: str) -> str:
    """The id in the parent's session for a call of the sub-agent that `call` began."""
    return f"{call.id}/{inner}"


def inner_id(call: ToolCall, outer: str) -> str:
    """The reverse: the id in the sub-agent's session; "" if `outer` is no call of that sub-agent."""
    begin = f"{call.id}/"
    return outer[len(begin) :] if outer.startswith(begin) else ""
