"""The block cursor: keys move it from block to block and act on its blocks."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from keen_tui.frontends.tui.state.state import Block, UserBlock
from keen_tui.frontends.tui.transcript.blocks.block_rows import block_name
from keen_tui.frontends.tui.transcript.document import Document, Place
from keen_tui.frontends.tui.transcript.viewport import Step, Surface, Viewport

ROWS_ABOVE_REVEALED: Final = 2
_NEAR: Final = 2
"""How far a block may move when another one is added or removed before it, at the end of a turn."""


class BlockCursor:
    """Marks a block of a document, or a range of blocks.

    `index` is the block at the cursor; None until the transcript has had the focus.
    """

    def __init__(self, surface: Surface, document: Document, viewport: Viewport) -> None:
        self.index: int | None = None
        self._range_from: int | None = None
        """The block where a range began; the cursor is its other end."""
        self._surface = surface
        self._document = document
        self._viewport = viewport

    @property
    def block(self) -> Block | None:
        """The block at the cursor."""
        return None if self.index is None else self._document.entries[self.index].block

    @property
    def indices(self) -> range:
        """The blocks of the range."""
        if self.index is None:
            return range(0)
        other = self.index if self._range_from is None else self._range_from
        return range(min(self.index, other), max(self.index, other) + 1)

    @property
    def can_fold(self) -> bool:
        """Whether the block at the cursor can fold."""
        return self.index is not None and self._document.folds(self.index)

    @property
    def painted(self) -> range:
        """The blocks that are painted as the cursor's."""
        return self.indices if self._surface.has_focus else range(0)

    def ensure(self) -> int | None:
        """The block at the cursor, which starts on the last block in view."""
        if self.index is None and len(self._document):
            self.index = self._viewport.blocks.stop - 1
        return self.index

    def ensure_block(self) -> Block | None:
        """The same, as a block; None if there are no blocks."""
        self.ensure()
        return self.block

    def forget(self) -> None:
        """Remove the cursor."""
        self.index = self._range_from = None

    def moved_down(self, blocks: int) -> None:
        """So many blocks were inserted at the beginning."""
        if self.index is not None:
            self.index += blocks
        if self._range_from is not None:
            self._range_from += blocks

    def stay_on(self, before: Block | None) -> None:
        """Stay on the same block, which was `before`, after the blocks have changed."""
        entries = self._document.entries
        if self.index is None or before is None or not entries:
            self.forget()
            return
        name = block_name(before)
        near = (self.index, *range(self.index - _NEAR, self.index + _NEAR + 1))
        there = (index for index in near if 0 <= index < len(entries))
        same = (index for index in there if block_name(entries[index].block) == name)
        self.index = next(same, min(self.index, len(entries) - 1))
        if self._range_from is not None:
            self._range_from = min(self._range_from, len(entries) - 1)

    def stand_on(self, index: int) -> None:
        """Move to that block alone, if it exists."""
        if 0 <= index < len(self._document):
            self.index, self._range_from = index, None
            self.changed()

    def reveal(self, index: int) -> None:
        """Move to a block, and scroll it into view with some rows above it."""
        self.index = index
        self._scroll_to(index)

    def move(self, step: Step, *, extend: bool = False) -> None:
        """Move to the next block, or a page at a time through a block that is higher than the view."""
        index = self.ensure()
        if index is None:
            return
        self._range_from = (index if self._range_from is None else self._range_from) if extend else None
        viewport = self._viewport
        if index not in viewport.blocks:
            self.fetch(step)
        elif hidden := viewport.hidden_rows(index, step):
            viewport.scroll(step * min(hidden, max(viewport.height - 2, 1)))
        else:
            self.index = min(max(index + step, 0), len(self._document) - 1)
            viewport.scroll_to_block(self.index, step)
        self.changed()

    def fetch(self, step: Step) -> None:
        """If the cursor is out of view, move it to the edge where a move in that direction enters the
        view."""
        seen = self._viewport.blocks
        if self._surface.has_focus and self.ensure() not in (None, *seen):
            self.index = seen.start if step > 0 else seen.stop - 1
            self.changed()

    def to_turn_above(self) -> None:
        """Move to the beginning of this turn or, from there, of the turn before."""
        index = self.ensure()
        if index is not None and not self._stand_on_turn(range(index - 1, -1, -1)):
            self.to_first()

    def to_turn_below(self) -> None:
        """Move to the beginning of the next turn, or from the last turn to the end."""
        index = self.ensure()
        if index is not None and not self._stand_on_turn(range(index + 1, len(self._document))):
            self.to_last()

    def to_first(self) -> None:
        """Move to the first block."""
        self._viewport.go_home()
        self.stand_on(0)

    def to_last(self) -> None:
        """Move to the last block, and follow the end from now on."""
        self._viewport.go_to_end()
        self.stand_on(len(self._document) - 1)

    def fold(self) -> None:
        """Unfold the block at the cursor, or fold it."""
        if self.index is not None and self._document.toggle(self.index):
            # Unfolding must not push the block out of view.
            self._viewport.following = False
            self._viewport.settle()
            self._viewport.stop()

    def changed(self) -> None:
        """Repaint after the cursor has moved or appeared."""
        self._surface.refresh()
        self._surface.announce()

    def _stand_on_turn(self, blocks: Iterable[int]) -> bool:
        """Move to the first of these blocks that begins a turn. False if none does."""
        entries = self._document.entries
        begin = next((index for index in blocks if isinstance(entries[index].block, UserBlock)), None)
        if begin is None:
            return False
        self.stand_on(begin)
        self._scroll_to(begin)
        return True

    def _scroll_to(self, index: int) -> None:
        """Scroll to a block, with some rows above it if there is room."""
        self._viewport.go(Place(index, 0), above=min(ROWS_ABOVE_REVEALED, self._viewport.height // 3))
