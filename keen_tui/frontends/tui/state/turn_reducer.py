"""How the state moves where a turn begins, ends, is abandoned or taken back."""

from __future__ import annotations

from msgspec.structs import replace

from keen_tui.domain.events import (
    EndEvent,
    MessageTakenBack,
    TurnAbandoned,
    TurnDone,
    TurnError,
    TurnIncomplete,
    TurnStarted,
)
from keen_tui.domain.spent import NOTHING
from keen_tui.frontends.tui.state.state import (
    OWN_COMMAND,
    Block,
    EndBlock,
    RetryBlock,
    Settled,
    ToolBlock,
    TurnRow,
    TurnStatus,
    UiState,
    UserBlock,
)
from keen_tui.frontends.tui.state.state_edits import (
    alive,
    closed,
    is_open,
    is_retried,
    is_unsettled,
    utf8_bytes,
    with_row,
    without_retry,
    words_of,
)
from keen_tui.frontends.tui.state.totals import carried_of
from keen_tui.frontends.tui.state.trail import Trail
from keen_tui.text.units import first_line


def turn_started(state: UiState, event: TurnStarted, now: float) -> UiState:
    """A turn began: by a message of its own, or again."""
    fresh = replace(
        state,
        phase="waiting",
        turn_started_at=now,
        recovering=event.recovering,
        notice="",
        taken_back="",
        gone_words=0,
        failed=None,
    )
    if event.text is None:
        live = tuple(_settle_end(block, event.turn, "retried") for block in state.live)
        return with_row(
            replace(fresh, live=live),
            event.turn,
            lambda row: replace(row, status="running", attempt=event.attempt),
        )
    row = TurnRow(
        turn=event.turn,
        title=first_line(event.text),
        seconds=state.pending.seconds if state.pending else 0.0,
        said_bytes=utf8_bytes(event.text) + state.ran_bytes,
    )
    return replace(
        fresh,
        ran_bytes=0,
        past=state.past.plus(state.live),
        live=(UserBlock(turn=event.turn, text=event.text),),
        turn_past=Trail(),
        turns=state.turns.plus((row,)),
    )


def turn_ended(state: UiState, end: EndEvent) -> UiState:
    """The turn is done, incomplete or failed: what streamed and was cut is marked as lost."""
    is_done = isinstance(end, TurnDone)
    state = alive(state) if is_done else replace(state, live=without_retry(state.live))
    above = (
        0 if is_done else sum(words_of(block) for block in state.live if is_open(block) or is_retried(block))
    )
    gone = 0 if is_done else state.gone_words
    live = tuple(closed(block, lost=not is_done) for block in state.live)
    block = EndBlock(
        end=_without_text(end), lost_words=above + gone, gone_words=gone, cost=_cost_of(state, end.turn)
    )
    ended = replace(
        state,
        live=(*live, block),
        gone_words=0,
        phase="idle",
        approval=None,
        asked=None,
        recovering=0,
    )
    match end:
        case TurnDone():
            done = with_row(
                _recovered(ended) if state.pending else replace(ended, failed=None),
                end.turn,
                lambda row: replace(_row_after(row, end, "done"), calls=end.calls, seconds=end.seconds),
            )
            carried = carried_of(done.turns[-1]) if done.turns else (0, 0)
            return replace(done, live=(*done.live[:-1], replace(block, carried=carried)))
        case TurnIncomplete():
            return with_row(
                replace(ended, pending=end, failed=None),
                end.turn,
                lambda row: replace(
                    row,
                    status="pending",
                    calls=end.calls,
                    seconds=end.seconds,
                    facts=end.turn_memory.facts,
                    trace_bytes=end.trace_bytes,
                    unknown_calls=end.unknown_calls,
                    agents=end.agents,
                ),
            )
        case TurnError():
            return with_row(
                replace(ended, failed=end),
                end.turn,
                lambda row: replace(row, status=end.outcome, seconds=end.seconds),
            )


def _row_after(row: TurnRow, end: TurnDone | TurnAbandoned, status: TurnStatus) -> TurnRow:
    """The row of a turn that later requests carry."""
    facts, carried = end.turn_memory.facts, end.carried_bytes
    return replace(row, status=status, facts=facts, carried_bytes=carried, trace_bytes=end.trace_bytes)


def _without_text(end: EndEvent) -> EndEvent:
    """The end without the reply, which the blocks before it hold."""
    return replace(end, text="", raw=None) if isinstance(end, TurnDone) else replace(end, text="")


def _recovered(state: UiState) -> UiState:
    """The turns that were pending are done with this one."""
    return replace(
        state,
        past=_ends_settled(state.past, "went on"),
        turns=_rows_settled(state.turns, "done"),
        pending=None,
        failed=None,
    )


def turn_abandoned(state: UiState, event: TurnAbandoned) -> UiState:
    """Marks the incomplete turn as abandoned. Its memory is kept."""
    return with_row(
        _pending_settled(state, "abandoned", "abandoned"),
        event.turn,
        lambda row: _row_after(row, event, "abandoned"),
    )


def _pending_settled(state: UiState, how: Settled, status: TurnStatus) -> UiState:
    """No turn is pending any more: their end blocks say how it went on, their rows have `status`."""
    return replace(
        state,
        past=_ends_settled(state.past, how),
        live=tuple(_settle_end(block, 0, how) for block in state.live),
        turns=_rows_settled(state.turns, status),
        pending=None,
    )


def _ends_settled(past: Trail[Block], how: Settled) -> Trail[Block]:
    """The past with all its unfinished ends settled: the very same one where there are none."""
    first = next((place for place, block in enumerate(past) if is_unsettled(block)), None)
    return past if first is None else past.mapped(lambda block: _settle_end(block, 0, how), first)


def _rows_settled(turns: Trail[TurnRow], status: TurnStatus) -> Trail[TurnRow]:
    """The rows with `status` in the place of "pending"."""
    first = next((place for place, row in enumerate(turns) if row.status == "pending"), None)
    if first is None:
        return turns
    return turns.mapped(lambda row: replace(row, status=status) if row.status == "pending" else row, first)


def taken_back(state: UiState, event: MessageTakenBack) -> UiState:
    """The message is in the composer again, and nothing of its turn is left."""

    def stays(block: Block) -> bool:
        is_own = isinstance(block, ToolBlock) and block.name == OWN_COMMAND
        return is_own or _turn_of(block) != event.turn

    gone = sum(row.said_bytes for row in state.turns if row.turn == event.turn)
    return replace(
        state,
        ran_bytes=state.ran_bytes + max(gone - utf8_bytes(event.text), 0),
        past=Trail(filter(stays, state.past)),
        live=tuple(filter(stays, state.live)),
        turn_past=Trail(filter(stays, state.turn_past)),
        turns=Trail(row for row in state.turns if row.turn != event.turn),
        failed=None,
        taken_back=event.text,
    )


def _cost_of(state: UiState, turn: int) -> float | None:
    """Returns the cost of a turn in all its attempts; None if it isn't known or no usage was reported."""
    newest = state.turns[-1] if state.turns else None
    rows = (newest,) if newest and newest.turn == turn else state.turns
    spent = next((row.spent for row in rows if row.turn == turn), NOTHING)
    return spent.cost if spent else None


def _settle_end(block: Block, turn: int, how: Settled) -> Block:
    """Mark the unfinished ends of `turn` (0: of every turn) with what became of them."""
    if is_unsettled(block) and turn in (0, block.end.turn):
        return replace(block, settled=how)
    return block


def _turn_of(block: Block) -> int:
    return block.retry.turn if isinstance(block, RetryBlock) else block.turn
