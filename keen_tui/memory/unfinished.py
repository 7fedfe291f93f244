"""Finds the turns that a program left unfinished when it ended, and the events that end them (turn.md rule
9). Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Final

from msgspec import Struct, field
from msgspec.structs import replace

from keen_tui.domain.errors import PROGRAM_ENDED
from keen_tui.domain.events import (
    AgentWorked,
    Compacted,
    CompactionFailed,
    CompactionStarted,
    Event,
    MessageTakenBack,
    ShellFinished,
    ShellStarted,
    SkillCalled,
    ToolFinished,
    ToolStarted,
    TurnAbandoned,
    TurnDone,
    TurnError,
    TurnIncomplete,
    TurnStarted,
)
from keen_tui.domain.messages import Fact, ToolResult, UnknownCall, turn_memory
from keen_tui.domain.own_tools import own_tool
from keen_tui.memory.pending import PendingState
from keen_tui.memory.rendering import ABANDONED, render_assistant, rendered_bytes

NOT_FINISHED: Final = "not finished"
"""The words for a person about a sub-agent that was interrupted."""

ENDED_MIDWAY = ToolResult(
    text="interrupted: the program ended while this ran, effects unknown",
    summary="program ended",
    is_error=True,
    interrupted=True,
)
"""The result of a call whose program ended before it returned."""

_ENDED_READING = replace(
    ENDED_MIDWAY, text="interrupted: the program ended while this ran; it changed nothing", read_only=True
)


def ended_midway(name: str) -> ToolResult:
    """The result of a call of that tool whose program ended before it returned."""
    return _ENDED_READING if own_tool(name).reads else ENDED_MIDWAY


class AgentSoFar(Struct):
    """The record of a sub-agent that has begun: its facts, the place of its work tree ("" if it has none),
    and the result of its call when it was interrupted last, None if it never was."""

    facts: tuple[Fact, ...] = ()
    place: str = ""
    result: ToolResult | None = None


def broken_off_text(why: str, place: str, said: str, facts: Iterable[Fact]) -> str:
    """The result of a sub-agent's call for the model, if the sub-agent was broken off. `place` says where its
    work tree is, `said` is its text so far; both may be ""."""
    begin = f"The sub-agent was interrupted before it finished: {why}"
    return text_so_far(f"{begin}\n{place}" if place else begin, said, facts)


def text_so_far(begin: str, said: str, facts: Iterable[Fact]) -> str:
    """A text about a sub-agent that didn't finish, with its own text and its facts."""
    so_far = f"{begin}\nIts text so far:\n{said}" if said.strip() else begin
    return render_assistant(so_far, turn_memory(facts))


class Unfinished(Struct):
    """The events after the last assistant message. `running` is the turn that was cut off by the end of the
    program; `turns` are the numbers of all unanswered turns, `calls` and `facts` are those of all of them
    together, `seconds` is the time they took until the last one that ended. `stopped` are the calls that
    ended with unknown effects, `open_calls` those without a result. `agents` are the sub-agents that haven't
    finished, by the calls that began them."""

    running: TurnStarted | None = None
    turn: int = 0
    turns: set[int] = field(default_factory=set)
    calls: int = 0
    result_bytes: int = 0
    seconds: float = 0.0
    facts: list[Fact] = field(default_factory=list)
    stopped: list[UnknownCall] = field(default_factory=list)
    open_calls: dict[str, ToolStarted] = field(default_factory=dict)
    compacting: bool = False
    has_pending: bool = False
    own_command: ShellStarted | None = None
    agents: dict[str, AgentSoFar] = field(default_factory=dict)

    @property
    def all_facts(self) -> list[Fact]:
        """The facts, with those of sub-agents that haven't finished."""
        return [*self.facts, *chain.from_iterable(agent.facts for agent in self.agents.values())]

    def recovered(self, saved: PendingState) -> PendingState:
        """The saved pending state, with what the session has recorded since then."""
        step = saved.open_step
        if step is not None:
            calls = ((call, self._as_recorded(call.id, result)) for call, result in step.calls)
            step = replace(step, calls=tuple(calls))
        going_on = {call.id for call, result in step.calls if result.unfinished} if step else set()
        unknown = tuple(call for call in self.unknown_calls if call.id not in going_on)
        return replace(saved, facts=tuple(self.facts), unknown_calls=unknown, open_step=step)

    def _as_recorded(self, id: str, result: ToolResult) -> ToolResult:
        """The result of a call that a retry goes on with. The saved one was made before the call began: what
        the session has recorded of the sub-agent since then is newer."""
        agent = self.agents.get(id)
        if not result.unfinished or agent is None:
            return result
        if agent.result and id not in self.open_calls:
            return agent.result
        text = broken_off_text("the program ended", agent.place, "", agent.facts)
        return replace(result, text=text, facts=agent.facts, ran=True, read_only=True, summary=NOT_FINISHED)

    @property
    def unknown_calls(self) -> tuple[UnknownCall, ...]:
        """The calls whose effects nobody knows: those that were stopped, and those that the end of the
        program cut off."""
        cut = (call for call in self.open_calls.values() if ended_midway(call.name).effects_unknown)
        return (*self.stopped, *(_unknown(call) for call in cut))


def unfinished(events: Iterable[Event]) -> Unfinished:
    """The work that a session's events leave unfinished."""
    state = Unfinished()
    for event in events:
        state = _after(state, event)
    return state


def endings(state: Unfinished, recovered: PendingState | None) -> list[Event]:
    """The events that end the unfinished work. `recovered` is the pending state that continues, None if it is
    lost: then the work is abandoned, and its facts stay."""
    ends: list[Event] = []
    if state.compacting:
        ends.append(CompactionFailed(reason="interrupted", detail="Keen ended in the meantime."))
    ends += _orphans(state, recovered)
    if run := state.own_command:
        ends.append(
            ShellFinished(
                turn=run.turn,
                id=run.id,
                command=run.command,
                result=ENDED_MIDWAY,
                seconds=0.0,
                is_check=run.is_check,
            )
        )
    calls = state.calls + len(state.open_calls)
    has_work = bool(calls or state.has_pending)
    if state.running and not has_work:
        ends.append(
            TurnError(
                turn=state.turn,
                attempt=state.running.attempt,
                reason="interrupted",
                detail=PROGRAM_ENDED,
                seconds=state.seconds,
            )
        )
    elif state.running:
        ends.append(_incomplete(state, state.running, recovered, calls))
    if has_work and recovered is None:
        ends.append(_abandoned(state))
    return ends


def _after(state: Unfinished, event: Event) -> Unfinished:
    match event:
        case TurnStarted():
            if event.turn != state.turn and not state.has_pending:
                state.seconds = 0.0
            state.running, state.turn = event, event.turn
            state.turns.add(event.turn)
        case ToolStarted():
            state.open_calls[event.id] = event
        case ToolFinished():
            state.open_calls.pop(event.id, None)
            _count(state, event)
        case AgentWorked(id=id):
            agent = state.agents.setdefault(id, AgentSoFar())
            agent.facts += event.facts
            agent.place = event.place or agent.place
        case SkillCalled():
            state.facts += event.skill.facts
        case ShellStarted():
            state.own_command = event
        case ShellFinished():
            state.own_command = None
        case TurnIncomplete():
            state.running, state.has_pending, state.seconds = None, True, event.seconds
        case TurnError():
            state.running, state.seconds = None, event.seconds
        case TurnDone() | TurnAbandoned() | MessageTakenBack():
            return Unfinished()
        case CompactionStarted():
            state.compacting = True
        case Compacted() | CompactionFailed():
            state.compacting = False
    return state


def _count(state: Unfinished, call: ToolFinished) -> None:
    result = call.result
    if result.unfinished:
        state.has_pending = True
        if agent := state.agents.get(call.id):
            agent.result = result
        return
    state.agents.pop(call.id, None)
    if result.effects_unknown:
        state.stopped.append(_unknown(call))
    if result.ran or not result.interrupted:
        state.calls += 1
        state.facts += result.facts
        state.result_bytes += len(result.text.encode("utf-8", "replace"))


def _unknown(call: ToolStarted | ToolFinished) -> UnknownCall:
    return UnknownCall(id=call.id, name=call.name, target=call.target)


def _orphans(state: Unfinished, recovered: PendingState | None) -> Iterator[Event]:
    """Gives a result to each call that began and has none: the one that is gone on with, if there is one."""
    step = recovered.open_step if recovered else None
    going_on = {call.id: result for call, result in step.calls if result.unfinished} if step else {}
    for call in state.open_calls.values():
        yield ToolFinished(
            turn=call.turn,
            step=call.step,
            id=call.id,
            name=call.name,
            arguments=call.arguments,
            target=call.target,
            result=going_on.get(call.id) or ended_midway(call.name),
            seconds=0.0,
        )


def _incomplete(
    state: Unfinished, running: TurnStarted, recovered: PendingState | None, calls: int
) -> TurnIncomplete:
    return TurnIncomplete(
        turn=state.turn,
        attempt=running.attempt,
        reason="interrupted",
        detail=PROGRAM_ENDED,
        text="\n\n".join(recovered.texts) if recovered else "",
        turn_memory=turn_memory(state.all_facts),
        calls=recovered.calls if recovered else calls,
        seconds=recovered.seconds if recovered else state.seconds,
        trace_bytes=recovered.trace_bytes if recovered else state.result_bytes,
        unknown_calls=recovered.unknown_calls if recovered else state.unknown_calls,
        agents=recovered.agents if recovered else 0,
    )


def _abandoned(state: Unfinished) -> TurnAbandoned:
    memory = turn_memory(state.all_facts)
    return TurnAbandoned(
        turn=state.turn,
        turn_memory=memory,
        carried_bytes=rendered_bytes(ABANDONED, memory),
        trace_bytes=state.result_bytes,
    )


def still_valid(pending: PendingState, state: Unfinished) -> bool:
    """Whether saved pending state belongs to the session's unfinished turns, and contains every call that the
    session saw finish: then continuing from it can't run a tool twice (turn.md rule 3)."""
    is_open = state.running is not None or state.has_pending
    is_theirs = {trace.turn for trace in pending.traces} <= state.turns
    return is_open and is_theirs and pending.calls >= state.calls
