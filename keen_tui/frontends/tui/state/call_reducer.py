"""How calls and their questions change the state of the screen."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from keen_tui.domain.display import TodoDisplay
from keen_tui.domain.events import (
    ApprovalAnswered,
    ApprovalRequested,
    CallTried,
    HostContacted,
    QuestionAnswered,
    QuestionAsked,
    ToolFinished,
    ToolOutput,
    ToolStarted,
)
from keen_tui.domain.own_tools import TASK
from keen_tui.domain.recorded import kept_out_bytes, recalled_bytes
from keen_tui.frontends.tui.state.agent_reducer import is_of_call
from keen_tui.frontends.tui.state.state import (
    Block,
    Phase,
    Todos,
    ToolBlock,
    ToolStatus,
    UiState,
)
from keen_tui.frontends.tui.state.state_edits import (
    alive,
    closed,
    finished,
    with_call,
    with_newest,
    with_row,
)

TAIL_KEPT = 4_096
"""Characters of a running call's live output that the screen keeps."""


def call_changed(
    state: UiState,
    event: ToolStarted | CallTried | ToolOutput | ToolFinished | HostContacted,
    now: float,
) -> UiState:
    """A call has begun or ended, or goes on."""
    match event:
        case ToolStarted():
            return _tool_started(alive(state), event, now)
        case CallTried():
            live = with_call(state.live, event.id, lambda block: replace(block, is_tried=True))
            return replace(state, live=live)
        case ToolOutput():
            return _tool_output(state, event)
        case ToolFinished():
            return _tool_finished(state, event)
        case HostContacted():
            return _contacted(state, event)


def asked(
    state: UiState, event: ApprovalRequested | ApprovalAnswered | QuestionAsked | QuestionAnswered, now: float
) -> UiState:
    """A call asks, or its question is answered."""
    match event:
        case ApprovalRequested():
            live = _with_status(state.live, event.id, "asks")
            return replace(state, approval=event, live=live, phase="asking")
        case ApprovalAnswered():
            state = replace(_answered(state, event.id, now), approval=None)
            live = with_call(state.live, event.id, lambda block: replace(block, is_tried=False))
            return replace(state, live=live)
        case QuestionAsked():
            live = _with_status(state.live, event.id, "asks")
            return replace(state, asked=event, live=live, phase="asking")
        case QuestionAnswered():
            return replace(_answered(state, event.id, now), asked=None)


def _answered(state: UiState, call_id: str, now: float) -> UiState:
    """A call has its answer. The time in which it was waited for is not the turn's."""
    waited = now - state.phase_since if state.phase == "asking" else 0.0
    live = _with_status(state.live, call_id, "running", now)
    return replace(state, live=live, phase="tool", turn_started_at=state.turn_started_at + waited)


def _tool_started(state: UiState, event: ToolStarted, now: float) -> UiState:
    row = ToolBlock(
        turn=event.turn,
        id=event.id,
        name=event.name,
        target=event.target,
        status="running",
        started_at=now,
    )
    live = (*(closed(block, lost=False) for block in state.live), row)
    return replace(state, live=live, phase=_phase_of_calls(state, live))


def _tool_output(state: UiState, event: ToolOutput) -> UiState:
    def grown(block: ToolBlock) -> ToolBlock:
        tail = (block.tail + event.text)[-TAIL_KEPT:]
        return replace(block, tail=tail, lines=event.lines, bytes=event.bytes)

    return replace(state, live=with_call(state.live, event.id, grown))


def _contacted(state: UiState, event: HostContacted) -> UiState:
    """A command in the background may reach a host after its call has ended. When the next turn has begun,
    that isn't shown any more."""
    if not state.turns or event.turn != state.turns[-1].turn:
        return state

    def is_call(block: Block) -> bool:
        return isinstance(block, ToolBlock) and (block.turn, block.id) == (event.turn, event.id)

    def changed(block: Block) -> Block:
        return replace(block, contacts=(*block.contacts, event)) if isinstance(block, ToolBlock) else block

    return with_newest(state, is_call, changed)


def _tool_finished(state: UiState, event: ToolFinished) -> UiState:
    def ended(block: ToolBlock) -> ToolBlock:
        return finished(block, event.result, event.seconds, packs=not state.restoring)

    live, todos = with_call(state.live, event.id, ended), state.todos
    if isinstance(event.result.display, TodoDisplay):
        todos = Todos(items=event.result.display.items, turn=event.turn, call_id=event.id)
    return with_row(
        replace(state, live=live, todos=todos, phase=_phase_of_calls(state, live)),
        event.turn,
        lambda row: replace(
            row,
            facts=row.facts + (() if event.name == TASK else event.result.facts),
            calls=row.calls + (not event.result.unfinished),
            failures=row.failures + (event.result.outcome == "failed"),
            recalled_bytes=row.recalled_bytes + recalled_bytes(event.name, event.result),
            kept_out_bytes=row.kept_out_bytes + kept_out_bytes(event.result),
        ),
    )


def _phase_of_calls(state: UiState, live: Sequence[Block]) -> Phase:
    """Returns the phase after a call has begun or ended: other calls of its step may run or ask, too."""
    if state.approval or state.asked:
        return "asking"
    running = any(isinstance(block, ToolBlock) and block.status == "running" for block in live)
    return "tool" if running else "waiting"


def _with_status(
    blocks: tuple[Block, ...], call_id: str, status: ToolStatus, started_at: float | None = None
) -> tuple[Block, ...]:
    def changed(block: Block) -> Block:
        if isinstance(block, ToolBlock) and is_of_call(block, call_id):
            if started_at is None or block.id != call_id:
                return replace(block, status=status)
            return replace(block, status=status, started_at=started_at, tail="", lines=0, bytes=0)
        return block

    return tuple(changed(block) for block in blocks)
