"""Small changes of the state that every part of the reducer makes."""

from __future__ import annotations

from collections.abc import Callable

from msgspec.structs import replace

from keen_tui.messages import Fact, FileChanged, TurnMemory
from keen_tui.ui.state import Block, RetryBlock, TurnRow, UiState


def with_row(state: UiState, turn: int, change: Callable[[TurnRow], TurnRow]) -> UiState:
    """Change the row of a turn: nearly always the last one, so that a long session costs no more."""
    if state.turns and state.turns[-1].turn == turn:
        return replace(state, turns=(*state.turns[:-1], change(state.turns[-1])))
    return replace(state, turns=tuple(change(row) if row.turn == turn else row for row in state.turns))


def facts_of(memory: TurnMemory) -> tuple[Fact, ...]:
    """A memory as the facts that it came from."""
    return (*(FileChanged(path=path) for path in memory.files_changed), *memory.failed_bash)


def alive(state: UiState) -> UiState:
    """There is a sign of life: the wait for another attempt is over."""
    if any(isinstance(block, RetryBlock) for block in state.live):
        return replace(state, live=without_retry(state.live))
    return state


def without_retry(blocks: tuple[Block, ...]) -> tuple[Block, ...]:
    """The blocks without a row that waits for another attempt."""
    return tuple(block for block in blocks if not isinstance(block, RetryBlock))
