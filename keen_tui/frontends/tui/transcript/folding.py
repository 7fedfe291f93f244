"""How much of each block is shown: what all of them are set to, and what single ones were set to."""

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
"""Rows of an edit's diff that are shown without being asked for."""
MOST_OUTPUT_ROWS: Final = 8
"""The same for the end of a failed command's output."""
_ROW_CELLS: Final = 60
"""Characters of a row, at least, when its length is estimated."""

FoldState = Literal["folded", "excerpt", "unfolded"]
Folding = Literal["usual", "unfolded", "folded"]
FoldKey: TypeAlias = tuple[str, int, int | str]

_NEXT: Final[dict[Folding, Folding]] = {"usual": "unfolded", "unfolded": "folded", "folded": "usual"}


def fold_key(block: Block) -> FoldKey | None:
    """What the fold state of this block is kept under; None for blocks that do not fold."""
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
    """How a block is shown where nobody chose: what needs a look is open, all else is folded."""
    if not isinstance(block, ToolBlock) or block.result is None:
        return "folded"
    match block.result.display:
        case DiffDisplay() as diff if block.status == "done":
            return "unfolded" if _is_small(diff) else "excerpt"
        case CommandDisplay() if block.status == "failed" or block.name == OWN_COMMAND:
            return "excerpt"
        case None if block.status == "failed":
            return "excerpt"
    return "folded"


def _is_small(diff: DiffDisplay) -> bool:
    """Whether a diff has no more rows than are shown of a big one."""
    rows = sum(len(hunk) + 1 + sum(len(row.text) // _ROW_CELLS for row in hunk) for hunk in diff.hunks)
    return rows <= MOST_DIFF_ROWS and not diff.left_out


class Folds:
    """The state that `ctrl+o` goes through, and the blocks that were folded or unfolded one by one."""

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
        """Show so much of this block."""
        if key := fold_key(block):
            self._own[key] = view

    def next(self) -> Folding:
        """Go to the next state, which holds for all blocks."""
        self.all = _NEXT[self.all]
        self._own.clear()
        return self.all

    def forget(self) -> None:
        """Other blocks come: none of them was folded by itself."""
        self._own.clear()

    def as_it_is(self) -> object:
        """A value that is equal to an earlier one while nothing was folded or unfolded since."""
        return self.all, dict(self._own)
