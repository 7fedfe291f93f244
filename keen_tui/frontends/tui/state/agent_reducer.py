"""Follows the sub-agents, whose rows the screen shows below the call that started each."""

from __future__ import annotations

from typing import Final

from msgspec.structs import replace

from keen_tui.domain.events import AgentEvent, AgentWorked, RetryScheduled, ToolStarted
from keen_tui.domain.own_tools import TASK
from keen_tui.frontends.tui.state.state import Block, ToolBlock, UiState
from keen_tui.frontends.tui.state.state_edits import with_call, with_row
from keen_tui.text.labels import SHORT_REASONS, call_line
from keen_tui.text.sanitize import clean

_CALLS_KEPT: Final = 8
"""The newest calls of a sub-agent that the screen keeps."""


def agent_at_work(state: UiState, event: AgentEvent | AgentWorked) -> UiState:
    """The state after an event of a sub-agent."""
    if isinstance(event, AgentWorked):
        return with_row(state, event.turn, lambda row: replace(row, facts=row.facts + event.facts))
    match event.event:
        case ToolStarted() as call:
            line, calls = call_line(call.name, call.target), 1
        case RetryScheduled() as retry:
            line, calls = f"{SHORT_REASONS[retry.reason]}, trying again in {retry.delay:.0f} s", 0
        case _:
            return state
    return replace(state, live=with_call(state.live, event.id, lambda block: _with_line(block, line, calls)))


def is_of_call(block: Block, call_id: str) -> bool:
    """Whether the block is that call, or the one that began the sub-agent whose call it is."""
    return isinstance(block, ToolBlock) and (
        block.id == call_id or (block.name == TASK and call_id.startswith(f"{block.id}/"))
    )


def _with_line(block: ToolBlock, line: str, calls: int) -> ToolBlock:
    if block.result is not None:
        return block
    lines = [*block.tail.splitlines(), clean(line)][-_CALLS_KEPT:]
    return replace(block, tail="\n".join(lines), lines=block.lines + calls)
