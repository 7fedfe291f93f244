"""How much of each block is shown: the state for all blocks, and the exceptions for single ones."""

from __future__ import annotations

from typing import Final, Literal, TypeAlias

from keen_tui.domain.display import CommandDisplay, DiffDisplay
from keen_tui.domain.events import TurnIncomplete
from keen_tui.frontends.tui.state.state import (
    OWN_COMMAND,
    Block,
    CompactionBlock,
    EndBlock,
    ReasoningBlock,
    ToolBlock,
    UserBlock,
)
from keen_tui.frontends.tui.widgets.pastes import is_long

MOST_DIFF_ROWS: Final = 20
"""Rows of an edit's diff that are shown without unfolding it."""
MOST_OUTPUT_ROWS: Final = 8
"""The same for the end of a failed command's output."""
_ROW_CELLS: Final = 60
"""The fewest characters of a row when its length is estimated."""

FoldState = Literal["folded", "excerpt", "unfolded"]
Folding = Literal["usual", "unfolded", "folded"]
FoldKey: TypeAlias = tuple[str, int, int | str]

_NEXT: Final[dict[Folding, Folding]] = {"usual": "unfolded", "unfolded": "folded", "folded": "usual"}


def fold_key(block: Block) -> FoldKey | None:
    """The key of this block's fold state; None for blocks that can't fold."""
    match block:
        case ToolBlock():
            return ("tool", block.turn, block.id)
        case ReasoningBlock():
            return ("reasoning", block.turn, block.step)
        case CompactionBlock() if block.end is not None:
            return ("compaction", block.turn, 0)
        case UserBlock() if is_long(block.text):
            return ("user", block.turn, len(block.text))
        case EndBlock(end=TurnIncomplete() as end):
            return ("end", end.turn, end.attempt)
    return None


def usual_view(block: Block) -> FoldState:
    """The view of a block that nobody folded or unfolded: open if it needs attention, else folded."""
    if not isinstance(block, ToolBlock) or block.result is None:
        return "folded"
    match block.shown:
        case DiffDisplay() as diff if block.status == "done":
            return "unfolded" if _is_small(diff) else "excerpt"
        case CommandDisplay() if block.status == "failed" or block.name == OWN_COMMAND:
            return "excerpt"
        case None if block.status == "failed":
            return "excerpt"
    return "excerpt" if block.tail else "folded"


def _is_small(diff: DiffDisplay) -> bool:
    """Whether a diff has at most as many rows as the excerpt of a large one."""
    rows = sum(len(hunk) + 1 + sum(len(row.text) // _ROW_CELLS for row in hunk) for hunk in diff.hunks)
    return rows <= MOST_DIFF_ROWS and not diff.left_out


class Folds:
    """The state that `ctrl+o` switches, and the blocks that were folded or unfolded individually."""

    def __init__(self) -> None:
        self.all: Folding = "usual"
        self._own: dict[FoldKey, FoldState] = {}

    def view(self, block: Block) -> FoldState:
        """How much of a block is shown."""
        key = fold_key(block)
        if key is None:
            return "folded"
        own = self._own.get(key)
        if own is not None:
            return own
        return usual_view(block) if self.all == "usual" else self.all

    def set(self, block: Block, view: FoldState) -> None:
        """Set how much of this block is shown."""
        if key := fold_key(block):
            self._own[key] = view

    def next(self) -> Folding:
        """Go to the next state, which applies to all blocks."""
        self.all = _NEXT[self.all]
        self._own.clear()
        return self.all

    def forget(self) -> None:
        """Forget all exceptions: other blocks are coming."""
        self._own.clear()

    def as_it_is(self) -> object:
        """A value that stays equal until something is folded or unfolded."""
        return self.all, dict(self._own)
