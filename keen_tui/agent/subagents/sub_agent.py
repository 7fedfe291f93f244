"""A sub-agent: it does the work of one call of the tool `task`, in its own session (turn.md rule 20)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Final, Protocol, TypeGuard

from msgspec.structs import replace

from keen_tui.agent.session import Session
from keen_tui.agent.subagents.agent_result import failed, finished, unfinished
from keen_tui.agent.turn.settle import Broken
from keen_tui.domain.display import AgentDisplay
from keen_tui.domain.errors import PROGRAM_ENDED, STOPPED, EndReason, KeenError
from keen_tui.domain.events import (
    AgentEvent,
    AgentWorked,
    ApprovalAnswered,
    ApprovalRequested,
    Event,
    OwnEvent,
    Passing,
    QuestionAnswered,
    QuestionAsked,
    ReasoningDelta,
    TextDelta,
    ToolFinished,
    TurnDone,
    TurnError,
    TurnIncomplete,
    TurnStarted,
    Usage,
)
from keen_tui.domain.facts.skill_used import SkillUsed
from keen_tui.domain.facts.work_tree_changed import WorkTreeChanged
from keen_tui.domain.messages import (
    Fact,
    Message,
    ToolCall,
    ToolResult,
    ToolStep,
    TurnMemory,
    UnknownCall,
    facts_of,
)
from keen_tui.memory.policies import policy_of
from keen_tui.system.threads import to_the_end
from keen_tui.tools.calls.tool import AgentOrder

if TYPE_CHECKING:
    from keen_tui.agent.subagents.own_tree import OwnTree


_FINAL: Final[frozenset[EndReason]] = frozenset(("step_limit", "context", "hook"))
"""End reasons for which a retry can't help: the parent gets the text and the facts so far."""

_LOST: Final = "It was interrupted and its work tree has been removed, so its work is lost: start again."


class Parent(Protocol):
    """The session whose turn made the call. `publish` publishes an event in it, `pass_on` only on its bus;
    `why_stopped` returns a sentence about who interrupted its turn."""

    publish: Callable[[Event], None]
    pass_on: Callable[[Event], None]
    why_stopped: Callable[[], str]

    async def open(self, agent: SubAgent) -> Session:
        """The session of the sub-agent, a saved one or a new one. Raises KeenError."""


class SubAgent:
    """Runs the call; a later attempt continues where the last one broke off.

    Args:
        parent: the session whose turn made the call.
        turn: the number of the parent's turn.
        call: the call of that turn.
        order: the definition of the sub-agent, and its task.
        session_id: the id of its session.
        earlier: the result so far, if an earlier attempt broke off.

    `result` is the result of the call so far; `broken` says how the last attempt broke off, None if it
    didn't; `unknown_calls` are those of its calls whose effects aren't known. `session` is None before it has
    begun and after it has finished. `tree` is its work tree, None if it works in the workspace;
    `has_lost_work`: the work tree in which it broke off was removed.
    """

    def __init__(
        self,
        parent: Parent,
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
        self.events = _KeptEvents()
        self._parent = parent
        self._opening: asyncio.Task[Session] | None = None
        self._ended: asyncio.Future[None] | None = None
        self._stopped_alone = False
        self._end: TurnDone | TurnIncomplete | TurnError | None = None
        self._has_left = False

    @property
    def name(self) -> str:
        """The name of its definition."""
        return self.order.agent.name

    @property
    def place(self) -> str:
        """A text for the parent's model: where its work tree is; "" if it has none."""
        return self.tree.place if self.tree else ""

    async def run(self) -> None:
        """Work until it has finished or breaks off. If this is cancelled, it stops the turn and waits for its
        end."""
        self.broken, self._stopped_alone = None, False
        try:
            session = await self._opened()
        except KeenError as error:
            self.result = failed(self._display(), str(error), self.result.facts)
            return
        self._ended = asyncio.get_running_loop().create_future()
        self._begin(session)
        try:
            await asyncio.shield(self._ended)
        except asyncio.CancelledError:
            by_program = self._parent.why_stopped() == PROGRAM_ENDED
            await to_the_end(session.close() if by_program else session.halt())
            raise

    async def released(self) -> Session | None:
        """Give its session up to the caller, who closes it; None if it has none."""
        if self._opening:
            with suppress(KeenError):
                await self._opened()
        session, self.session = self.session, None
        return session

    async def leave_tree(self, *, finished: bool) -> None:
        """Leave its work tree, if it has one, and add to the result what that holds. Close its session
        first."""
        if self.tree and not self._has_left:
            self._has_left = True
            holds = await asyncio.to_thread(self.tree.leave, finished=finished)
            if holds:
                self.result = _placed(self.result, self.tree, holds)

    def outward(self, facts: Sequence[Fact]) -> tuple[Fact, ...]:
        """The facts of its turn as facts of the parent's turn: without skills, and with one fact about its
        work tree in place of the files in it."""
        own = tuple(fact for fact in facts if not isinstance(fact, SkillUsed))
        return self.tree.outward(own) if self.tree else own

    def stop(self) -> None:
        """Stop it alone: the parent's turn goes on with its text and facts so far."""
        if self.session and self.session.running:
            self._stopped_alone = True
            self.session.stop()

    def hear(self, event: Event) -> None:
        """Note an event of its session, and pass it on to the parent's session."""
        if self.session is None or isinstance(event, AgentEvent):
            return  # it is being opened, or the event is of a sub-agent's sub-agent, which can't be
        self.events.note(event)
        match event:
            case TurnStarted():
                self.result = unfinished(self._display(), "the program ended", self.place, self.result.facts)
                held = (self.tree.fact,) if self.tree and self.tree.has_changed else ()
                worked = AgentWorked(turn=self.turn, id=self.call.id, facts=held, place=self.place)
                self._parent.publish(worked)
            case ToolFinished(result=result):
                if facts := self.outward(result.facts):
                    self._parent.publish(AgentWorked(turn=self.turn, id=self.call.id, facts=facts))
            case Usage():
                self._parent.publish(replace(event, turn=self.turn, agent=self.name, call=self.call.id))
            case ApprovalRequested() | QuestionAsked():
                self._parent.publish(
                    replace(event, turn=self.turn, id=outer_id(self.call, event.id), agent=self.name)
                )
            case ApprovalAnswered() | QuestionAnswered():
                self._parent.publish(replace(event, turn=self.turn, id=outer_id(self.call, event.id)))
            case TurnDone() | TurnIncomplete() | TurnError():
                self._note_end(event)
            case _:
                pass
        self._parent.pass_on(AgentEvent(turn=self.turn, id=self.call.id, agent=self.name, event=event))
        is_end = isinstance(event, TurnDone | TurnIncomplete | TurnError)
        if is_end and self._ended and not self._ended.done():
            self._ended.set_result(None)

    async def _opened(self) -> Session:
        """Its session, opened once. If the caller is cancelled, the opening goes on."""
        if self.session is None:
            self._opening = self._opening or asyncio.ensure_future(self._parent.open(self))
            try:
                self.session = await asyncio.shield(self._opening)
            finally:
                if self._opening.done():
                    self._opening = None
        return self.session

    def _begin(self, session: Session) -> None:
        """Start its turn, or retry it. Nothing runs if it had finished before the parent noted that, or if
        its work is lost."""
        assert self._ended
        if not session.turn:
            session.submit(self.order.prompt)
        elif self.has_lost_work and session.state.open.is_unanswered:
            self.result = failed(self._display(), _LOST, self.result.facts)
            self._ended.set_result(None)
        elif session.state.open.is_unanswered:
            session.retry()
        else:
            self.result = self._finished(session.conversation[-1])
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

    def _finished(self, message: Message) -> ToolResult:
        """The result of its turn, whose reply is this message."""
        memory = replace(message.memory or TurnMemory(), skills=())
        text = policy_of("full-trace").reply(message, self._steps) or message.text
        return finished(self._display(text), memory, self.outward(facts_of(memory)))

    def _display(self, text: str = "") -> AgentDisplay:
        calls, kept_out = self.work
        return AgentDisplay(
            agent=self.name, session=self.session_id, text=text, calls=calls, kept_out=kept_out
        )

    def _note_end(self, end: TurnDone | TurnIncomplete | TurnError) -> None:
        self._end = end
        self.unknown_calls = end.unknown_calls if isinstance(end, TurnIncomplete) else ()
        if isinstance(end, TurnDone):
            assert self.session
            self.result = self._finished(self.session.conversation[-1])
            return
        display, facts = self._display(end.text), self.outward(facts_of(end.turn_memory))
        if self._stopped_alone:
            result = failed(display, "The user stopped it.", facts)
            self.result = replace(
                result, summary="stopped", interrupted=True, read_only=not self.unknown_calls
            )
        elif end.reason in _FINAL:
            self.result = failed(display, end.detail, facts)
        else:
            why = "the user stopped it" if end.detail == STOPPED else end.detail
            self.result = unfinished(display, why, self.place, facts)
            detail = f"The sub-agent {self.name} was interrupted: {end.detail}"
            self.broken = Broken(
                reason=end.reason,
                detail=detail,
                may_pass=end.may_pass,
                retry_after=end.retry_after,
            )


def _placed(result: ToolResult, tree: OwnTree, holds: str) -> ToolResult:
    """The result with `holds`, the sentences about the work tree."""
    is_new = tree.has_changed and not any(isinstance(fact, WorkTreeChanged) for fact in result.facts)
    facts = (*result.facts, tree.fact) if is_new else result.facts
    summary = f"{result.summary}, in {tree.fact.branch}"
    return replace(result, text=f"{result.text}\n\n{holds}", summary=summary, facts=facts)


def outer_id(call: ToolCall, inner: str) -> str:
    """The id that a call of the sub-agent has in the parent's session. `call` is the sub-agent's own call."""
    return f"{call.id}/{inner}"


def inner_id(call: ToolCall, outer: str) -> str:
    """The reverse of `outer_id`; "" if `outer` isn't a call of that sub-agent."""
    begin = f"{call.id}/"
    return outer[len(begin) :] if outer.startswith(begin) else ""


class _KeptEvents:
    """Keeps the events that a session file would have, and deltas, for a person who watches. Neighbouring
    deltas of a step become one."""

    def __init__(self) -> None:
        self._events: list[OwnEvent] = []

    @property
    def all(self) -> tuple[OwnEvent, ...]:
        """All events, oldest first."""
        return tuple(self._events)

    def begin(self, past: Iterable[Event]) -> None:
        """Replace all events with these."""
        self._events = [event for event in past if not isinstance(event, AgentEvent)]

    def note(self, event: OwnEvent) -> None:
        """Add an event."""
        last = self._events[-1] if self._events else None
        if isinstance(last, TextDelta | ReasoningDelta) and _continues(event, last):
            self._events[-1] = replace(last, text=last.text + event.text)
        elif not isinstance(event, Passing):
            self._events.append(event)


def _continues(event: OwnEvent, last: TextDelta | ReasoningDelta) -> TypeGuard[TextDelta | ReasoningDelta]:
    """Whether the event is the next delta of the same step."""
    if not isinstance(event, TextDelta | ReasoningDelta):
        return False
    return (type(event), event.turn, event.step) == (type(last), last.turn, last.step)
