"""Which blocks an action on a block is about."""

from __future__ import annotations

from collections.abc import Sequence

from keen_tui.domain.events import TurnDone
from keen_tui.frontends.tui.state.state import Block, EndBlock, RetryBlock, TextBlock
from keen_tui.frontends.tui.transcript.placed_block import PlacedBlock


def is_reply(block: Block) -> bool:
    """Whether it is a text of the model."""
    return isinstance(block, TextBlock) and bool(block.text.strip())


def meant_by(entries: Sequence[PlacedBlock], index: int) -> list[int]:
    """The indices of the blocks that this one stands for. Usually that is only the block itself. The end of a
    finished turn stands for the texts of its reply instead, without those that were cut off."""
    end = entries[index].block
    if not (isinstance(end, EndBlock) and isinstance(end.end, TurnDone)):
        return [index]
    found: list[int] = []
    for place in range(index - 1, -1, -1):
        block = entries[place].block
        if isinstance(block, RetryBlock) or block.turn != end.turn:
            break
        if is_reply(block) and not (isinstance(block, TextBlock) and block.lost):
            found.append(place)
    return found[::-1]
