"""The result of a sub-agent's call, which the parent's model reads."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from msgspec.structs import replace

from keen_tui.domain.display import AgentDisplay
from keen_tui.domain.errors import STOPPED
from keen_tui.domain.events import TurnError, TurnIncomplete
from keen_tui.domain.messages import Fact, Message, ToolResult, ToolStep, TurnMemory, WorkTreeChanged
from keen_tui.memory.policies import policy_of
from keen_tui.memory.recorder import facts_of
from keen_tui.memory.rendering import render_assistant
from keen_tui.memory.unfinished import NOT_FINISHED, broken_off_text, text_so_far
from keen_tui.text.units import counted, size

if TYPE_CHECKING:
    from keen_tui.agent.subagents.sub_agent import SubAgent

_NOTHING = TurnMemory()


def finished(agent: SubAgent, message: Message, steps: Sequence[ToolStep]) -> ToolResult:
    """The result when it has finished: the text of its last step, and its TurnMemory. `steps` are its steps
    that have calls."""
    memory = replace(message.memory or _NOTHING, skills=())
    text = policy_of("full-trace").reply(message, steps) or message.text
    display = _display(agent, text)
    return ToolResult(
        text=render_assistant(text, memory),
        summary=f"{counted(display.calls, 'call')}, {size(display.kept_out)} kept out",
        display=display,
        facts=agent.outward(facts_of(memory)),
    )


def placed(agent: SubAgent, holds: str) -> ToolResult:
    """Its result, with `holds`, the sentences about its work tree; "" for none."""
    result = agent.result
    if not (agent.tree and holds):
        return result
    is_new = agent.tree.has_changed and not any(isinstance(fact, WorkTreeChanged) for fact in result.facts)
    facts = (*result.facts, agent.tree.fact) if is_new else result.facts
    summary = f"{result.summary}, in {agent.tree.fact.branch}"
    return replace(result, text=f"{result.text}\n\n{holds}", summary=summary, facts=facts)


def waiting(name: str, session_id: str) -> ToolResult:
    """The result of its call if the program dies before it has begun."""
    return ToolResult(
        text="not run: the turn was interrupted",
        summary="not run",
        display=AgentDisplay(agent=name, session=session_id),
        is_error=True,
        interrupted=True,
        ran=False,
        unfinished=True,
    )


def supposed(agent: SubAgent) -> ToolResult:
    """The result of its call if the program dies while it runs."""
    return _unfinished(agent, "the program ended", agent.result.facts)


def unfinished(agent: SubAgent, end: TurnIncomplete | TurnError) -> ToolResult:
    """The result when it broke off and a retry can continue it."""
    why = "the user stopped it" if end.detail == STOPPED else end.detail
    return _unfinished(agent, why, agent.outward(facts_of(end.turn_memory)), end.text)


def stopped(agent: SubAgent, end: TurnIncomplete | TurnError) -> ToolResult:
    """The result when the person stopped it alone."""
    result = failed(agent, "The user stopped it.", end)
    unknown = isinstance(end, TurnIncomplete) and bool(end.unknown_calls)
    return replace(result, summary="stopped", interrupted=True, read_only=not unknown)


def failed(agent: SubAgent, why: str, end: TurnIncomplete | TurnError | None = None) -> ToolResult:
    """The result when it couldn't finish and a retry wouldn't help: its text and its facts so far."""
    facts = agent.outward(facts_of(end.turn_memory)) if end else agent.result.facts
    said = end.text if end else ""
    return ToolResult(
        text=text_so_far(f"The sub-agent didn't finish. {why}", said, facts),
        summary=NOT_FINISHED,
        display=_display(agent, said),
        facts=facts,
        is_error=True,
    )


def _unfinished(agent: SubAgent, why: str, facts: tuple[Fact, ...], said: str = "") -> ToolResult:
    return ToolResult(
        text=broken_off_text(why, agent.place, said, facts),
        summary=NOT_FINISHED,
        display=_display(agent, said),
        facts=facts,
        is_error=True,
        interrupted=True,
        read_only=True,
        unfinished=True,
    )


def _display(agent: SubAgent, text: str) -> AgentDisplay:
    calls, kept_out = agent.work
    return AgentDisplay(agent=agent.name, session=agent.session_id, text=text, calls=calls, kept_out=kept_out)
