"""A sub-agent at work, as the state of the screen has it."""

from __future__ import annotations

from typing import Any

from keen_tui.domain.display import AgentDisplay
from keen_tui.domain.events import (
    AgentEvent,
    AgentWorked,
    ApprovalRequested,
    Event,
    ToolFinished,
    ToolStarted,
    TurnStarted,
)
from keen_tui.domain.facts.file_changed import FileChanged
from keen_tui.domain.messages import ToolResult
from keen_tui.frontends.tui.state.reducer import apply_all
from keen_tui.frontends.tui.state.state import ToolBlock, UiState

TASK: dict[str, Any] = {"turn": 1, "step": 1, "name": "task", "arguments": {}, "target": "explore: look"}


def inner(event: Event) -> AgentEvent:
    return AgentEvent(turn=1, id="a", agent="explore", event=event)  # type: ignore[arg-type]


def call(id: str, target: str) -> ToolStarted:
    return ToolStarted(turn=1, step=1, id=id, name="grep_files", arguments={}, target=target)


def block_after(*events: Event) -> tuple[UiState, ToolBlock]:
    begun = TurnStarted(turn=1, attempt=1, text="go"), ToolStarted(id="a", **TASK)
    state = apply_all(UiState(), (*begun, *events), 1.0)
    (block,) = (block for block in state.live if isinstance(block, ToolBlock))
    return state, block


def test_its_newest_calls_stand_below_the_call_that_began_it() -> None:
    _, block = block_after(*(inner(call(str(number), f"word{number}")) for number in range(12)))
    assert block.lines == 12
    assert block.tail.splitlines() == [f"grep word{number}" for number in range(4, 12)]


def test_the_call_asks_while_its_sub_agent_does() -> None:
    asked = ApprovalRequested(
        turn=1,
        id="a/b",
        name="read_file",
        arguments={},
        target="x",
        question="?",
        why="",
        display=None,
        grant=None,
        agent="explore",
    )
    _, block = block_after(inner(call("b", "x")), asked)
    assert block.status == "asks" and block.tail == "grep x"


def test_facts_fill_live_and_count_once() -> None:
    changed = (FileChanged(path="b.txt"),)
    display = AgentDisplay(agent="explore", session="s", text="Done.", calls=3, kept_out=1_200)
    result = ToolResult(text="Done.", display=display, facts=changed)
    worked = AgentWorked(turn=1, id="a", facts=changed)
    state, _ = block_after(worked)
    assert state.turns[-1].facts == changed
    state, _ = block_after(worked, ToolFinished(id="a", result=result, seconds=1.0, **TASK))
    assert (state.turns[-1].facts, state.turns[-1].kept_out_bytes) == (changed, 1_200)
