"""Small changes of the state that every part of the reducer makes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import takewhile
from typing import Final, TypeGuard

from msgspec.structs import replace

from keen_tui.domain.display import CommandDisplay, TextDisplay
from keen_tui.domain.events import TurnDone, WebSearched
from keen_tui.domain.messages import (
    ToolResult,
)
from keen_tui.frontends.tui.state.displays import last_lines, packed_display
from keen_tui.frontends.tui.state.state import (
    OWN_COMMAND,
    Block,
    CompactionBlock,
    EndBlock,
    ReasoningBlock,
    RetryBlock,
    TextBlock,
    ToolBlock,
    TurnRow,
    UiState,
)
from keen_tui.text.labels import source_lines
from keen_tui.text.units import counted

MOST_LIVE: Final = 200
"""The most live blocks. If there are more, the oldest ones go to the past."""
NEWEST_LIVE: Final = 100
"""The newest blocks, which stay live."""


def is_unsettled(block: Block) -> TypeGuard[EndBlock]:
    """Whether it is the end of a turn that waits for retry or discard."""
    return isinstance(block, EndBlock) and not isinstance(block.end, TurnDone) and not block.settled


def with_short_live(state: UiState) -> UiState:
    """The state with the oldest blocks of a long turn moved to the past, up to the first block that may still
    change."""
    if len(state.live) <= MOST_LIVE:
        return state
    oldest = tuple(takewhile(_is_final, state.live[:-NEWEST_LIVE]))
    return replace(
        state,
        past=state.past.plus(oldest),
        turn_past=state.turn_past.plus(oldest),
        live=state.live[len(oldest) :],
    )


def with_newest(
    state: UiState, matches: Callable[[Block], bool], change: Callable[[Block], Block]
) -> UiState:
    """Change the newest block that matches, if one does."""
    place = _newest(state.live, matches)
    if place is not None:
        live = (*state.live[:place], change(state.live[place]), *state.live[place + 1 :])
        return replace(state, live=live)
    place = _newest(state.past, matches)
    if place is None:
        return state
    before = state.past[place]
    after = change(before)

    def changed(block: Block) -> Block:
        return after if block is before else block

    return replace(state, past=state.past.mapped(changed, place), turn_past=state.turn_past.mapped(changed))


def with_call(
    blocks: tuple[Block, ...], call_id: str, change: Callable[[ToolBlock], ToolBlock]
) -> tuple[Block, ...]:
    """The blocks with the newest call of that id changed, if they have one."""
    for place in range(len(blocks) - 1, -1, -1):
        block = blocks[place]
        if isinstance(block, ToolBlock) and block.id == call_id:
            return (*blocks[:place], change(block), *blocks[place + 1 :])
    return blocks


def with_row(state: UiState, turn: int, change: Callable[[TurnRow], TurnRow]) -> UiState:
    """Change the row of a turn: nearly always the last one, so that a long session costs no more."""
    turns = state.turns
    if turns and turns[-1].turn == turn:
        return replace(state, turns=turns.with_last(change(turns[-1])))
    first = next((place for place, row in enumerate(turns) if row.turn == turn), None)
    if first is None:
        return state
    return replace(state, turns=turns.mapped(lambda row: change(row) if row.turn == turn else row, first))


def utf8_bytes(text: str) -> int:
    """Bytes of a text as it is sent."""
    return len(text.encode("utf-8", "replace"))


def alive(state: UiState) -> UiState:
    """There is a sign of life: the wait for another attempt is over, and the cut reply is removed."""
    if not any(isinstance(block, RetryBlock) or is_retried(block) for block in state.live):
        return state
    gone = sum(words_of(block) for block in state.live if is_retried(block))
    live = tuple(block for block in without_retry(state.live) if not is_retried(block))
    return replace(state, live=live, gone_words=state.gone_words + gone)


def without_retry(blocks: tuple[Block, ...]) -> tuple[Block, ...]:
    """The blocks without a row that waits for another attempt."""
    return tuple(block for block in blocks if not isinstance(block, RetryBlock))


def finished(block: ToolBlock, result: ToolResult, seconds: float, *, packs: bool) -> ToolBlock:
    """The block of a call that has its result. `packs`: a display that nobody sees yet is kept compressed.
    The text for the model isn't kept beside what is shown, since both may be long."""
    shown = packed_display(result) if packs else result.display
    kept = replace(result, text="", display=None) if shown else result
    tail, lines = "", block.lines
    is_excerpt = result.outcome == "done" and block.name != OWN_COMMAND
    if is_excerpt and isinstance(result.display, CommandDisplay):
        tail, printed = last_lines(result.display.output)
        lines = max(lines, printed)  # the display may leave out the middle
    return replace(
        block, status=result.outcome, result=kept, shown=shown, seconds=seconds, tail=tail, lines=lines
    )


def searched(event: WebSearched, now: float, number: int) -> ToolBlock:
    """A web search of the provider, drawn like a call. `number` tells it from others of its step."""
    lines = "\n".join(source_lines(event))
    summary = event.problem or (counted(len(event.sources), "page") if event.sources else "")
    result = ToolResult(
        text="", summary=summary, display=TextDisplay(text=lines), is_error=bool(event.problem)
    )
    search = ToolBlock(
        turn=event.turn,
        id=f"web search {event.step}.{number}",
        name="web_search",
        target=event.query,
        status="running",
        started_at=now,
    )
    return finished(search, result, 0.0, packs=False)


def is_open(block: Block) -> bool:
    """Whether more of it may stream."""
    return isinstance(block, TextBlock | ReasoningBlock) and block.open


def is_retried(block: Block) -> bool:
    """Whether it was cut, and stays until the next reply begins."""
    return isinstance(block, TextBlock | ReasoningBlock) and block.retried


def words_of(block: Block) -> int:
    """How many words of a reply the block has."""
    return len(block.text.split()) if isinstance(block, TextBlock) else 0


def retried(block: Block) -> Block:
    """The block where its step is tried again: marked as cut if it was streaming."""
    if isinstance(block, TextBlock | ReasoningBlock) and block.open:
        return replace(block, open=False, lost=True, retried=True)
    return block


def closed(block: Block, *, lost: bool) -> Block:
    """The block with nothing more to come; `lost`: its step was cut for good."""
    if isinstance(block, TextBlock | ReasoningBlock) and (block.open or block.retried):
        return replace(block, open=False, lost=lost, retried=False)
    return block


def _newest(blocks: Sequence[Block], matches: Callable[[Block], bool]) -> int | None:
    """The place of the newest of these blocks that matches; None if none does."""
    return next((at for at in range(len(blocks) - 1, -1, -1) if matches(blocks[at])), None)


def _is_final(block: Block) -> bool:
    """Whether no event of its turn changes it any more, but that its command reached another host."""
    match block:
        case ToolBlock():
            return block.result is not None
        case TextBlock() | ReasoningBlock():
            return not (block.open or block.retried)
        case CompactionBlock():
            return block.end is not None
        case EndBlock():
            return isinstance(block.end, TurnDone) or bool(block.settled)
        case RetryBlock():
            return False
    return True
