"""The result of a sub-agent's call, which the parent's model reads."""

from __future__ import annotations

from collections.abc import Sequence

from keen_tui.domain.display import AgentDisplay
from keen_tui.domain.messages import Fact, ToolResult, TurnMemory
from keen_tui.memory.rendering import render_assistant
from keen_tui.memory.unfinished import NOT_FINISHED, broken_off_text, text_so_far
from keen_tui.text.units import counted, size


def finished(display: AgentDisplay, memory: TurnMemory, facts: tuple[Fact, ...]) -> ToolResult:
    """The result when it has finished: the text of its last step, and its TurnMemory. `facts` are those for
    the parent's turn."""
    return ToolResult(
        text=render_assistant(display.text, memory),
        summary=f"{counted(display.calls, 'call')}, {size(display.kept_out)} kept out",
        display=display,
        facts=facts,
    )


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


def unfinished(display: AgentDisplay, why: str, place: str, facts: tuple[Fact, ...]) -> ToolResult:
    """The result when it broke off and a retry can continue it. `place` says where its work tree is."""
    return ToolResult(
        text=broken_off_text(why, place, display.text, facts),
        summary=NOT_FINISHED,
        display=display,
        facts=facts,
        is_error=True,
        interrupted=True,
        read_only=True,
        unfinished=True,
    )


def failed(display: AgentDisplay, why: str, facts: Sequence[Fact]) -> ToolResult:
    """The result when it couldn't finish and a retry wouldn't help: its text and its facts so far."""
    return ToolResult(
        text=text_so_far(f"The sub-agent didn't finish. {why}", display.text, facts),
        summary=NOT_FINISHED,
        display=display,
        facts=tuple(facts),
        is_error=True,
    )
