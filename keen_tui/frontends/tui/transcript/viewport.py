"""The part of a document that is in view. It stays in place while heights change."""

from __future__ import annotations

import asyncio
import time
from typing import Final, Literal, Protocol

from textual.geometry import Offset, Size

from keen_tui.frontends.tui.state.state import EndBlock
from keen_tui.frontends.tui.transcript.copying import RunBeside
from keen_tui.frontends.tui.transcript.document import Document, Place

_FEW: Final = 400
"""Blocks of a conversation that is short enough to work out all heights at once."""
_AT_ONCE: Final = 50
"""Blocks after which a slice looks at the clock."""
_REST: Final = 0.1
"""Seconds without a change before a long conversation's heights are worked out: somebody may drag the edge of
a window."""
_SLICE: Final = 0.001
_PAUSE: Final = 0.01
"""Seconds of a slice, and between two of them."""
Step = Literal[-1, 1]
"""Towards the beginning, or towards the end."""


class Surface(Protocol):
    """The widget that shows a viewport, as the viewport sees it."""

    @property
    def has_focus(self) -> bool:
        """Whether the widget has the focus."""

    @property
    def scroll_offset(self) -> Offset:
        """Its `y` is the first row in view."""

    @property
    def size(self) -> Size:
        """Its cells, all of which show rows; none while it is hidden."""

    def scroll_to_row(self, row: int) -> None:
        """Scroll so that this row of the document is the first in view."""

    def refresh(self) -> object:
        """Paint all rows in view again."""

    def refresh_changed(self) -> None:
        """Paint the rows again that look different."""

    def announce(self) -> None:
        """Report the new position, if it has changed."""


class Viewport:
    """Follows the end of a document until the user scrolls up, and again from the end on.

    Its position is stored as a place (a block and a row in it), which stays the same when blocks above turn
    out higher than estimated.
    """

    def __init__(self, surface: Surface, document: Document) -> None:
        self.following = True
        self.may_follow = True
        """False: the view stays where it is, even at the end."""
        self._surface = surface
        self._document = document
        self._anchor = Place(0, 0)
        self._settled_in = Size(0, 0)

    @property
    def height(self) -> int:
        """Rows in view."""
        return self._surface.size.height

    @property
    def row(self) -> int:
        """The first row of the document in view."""
        return self._surface.scroll_offset.y

    @property
    def top(self) -> Place:
        """The place of the first row in view."""
        return self._anchor

    @property
    def bottom(self) -> Place:
        """The place of the last row in view."""
        return self._document.find(self.row + self.height - 1)

    @property
    def below(self) -> int:
        """Rows below the last one in view."""
        return max(self._document.rows - self.row - self.height, 0)

    @property
    def blocks(self) -> range:
        """The blocks with at least one row in view."""
        first = self._document.find(self.row).block
        last, offset = self.bottom
        only_gap = last > first and offset < self._document.entries[last].gap
        return range(first, last + (0 if only_gap else 1))

    @property
    def key_chip_visible(self) -> bool:
        """Whether the row with the key to press next is in view."""
        last = len(self._document) - 1
        if last < 0 or not isinstance(self._document.entries[last].block, EndBlock):
            return False
        entry = self._document.entries[last]
        top = self._document.top(last) + entry.gap - self.row
        if top >= self.height:
            return False
        rows = (top + row for row, line in enumerate(self._document.lines(last)) if line.chip)
        return any(0 <= row < self.height for row in rows)

    @property
    def is_settled(self) -> bool:
        """Whether a change of the scroll offset comes from the user. During a resize it doesn't: Textual
        limits the offset to the new size."""
        return self._surface.size == self._settled_in

    def begin(self) -> None:
        """Another conversation replaces this one: go to its end."""
        self._anchor = Place(0, 0)
        self.following = True

    def moved_down(self, blocks: int) -> None:
        """So many blocks were inserted at the beginning."""
        self._anchor = self._anchor._replace(block=self._anchor.block + blocks)

    def scroll(self, rows: int) -> None:
        """Scroll by rows."""
        self.go(self._anchor, above=-rows)

    def scroll_page(self, step: Step) -> None:
        """Scroll by the height of the view, less one row."""
        self.scroll(step * (self.height - 1))

    def go(self, place: Place, *, above: int = 0) -> None:
        """Move `place` to the row of the view with so many rows above it, or as near to that as the beginning
        and the end allow."""
        if not len(self._document):
            return
        self.following = False
        self._anchor = self._away(place, -above)
        self.settle()
        self.stop()

    def go_home(self) -> None:
        """Go to the first row."""
        self.go(Place(0, 0))

    def go_to_end(self) -> None:
        """Go to the last row, and follow the end from now on."""
        self.following = True
        self.settle()

    def stop(self) -> None:
        """Scrolling stopped: at the end, follow the end again."""
        self.following = self.may_follow and self.below == 0
        self._surface.announce()

    def settle(self) -> None:
        """Measure the blocks in view, keep the view where it was (or at the end), and paint changed rows."""
        size = self._surface.size
        if not size:
            return
        self._settled_in = size
        row = self._measured_bottom() if self.following else self._measured_view()
        self._put_on(row)
        self._surface.refresh_changed()
        self._surface.announce()

    def hidden_rows(self, block: int, step: Step) -> int:
        """How many rows of a block are beyond the edge of the view."""
        top = self._document.top(block) + self._document.entries[block].gap
        end = self._document.top(block) + self._document.height(block)
        first = self.row
        return max(end - first - self.height, 0) if step > 0 else max(first - top, 0)

    def scroll_to_block(self, block: int, step: Step) -> None:
        """Scroll a block into view; of a block that is higher than the view, the part that comes first in
        that direction."""
        top, height = self._document.top(block), self._document.height(block)
        # Measuring may have moved the view: the block is higher, or lower, than estimated.
        above = top - self._document.top(self._anchor.block) - self._anchor.offset
        below = above + height - self.height
        if height > self.height:
            self.scroll(above if step > 0 else below)
        elif above < 0:
            self.scroll(above)
        elif below > 0:
            self.scroll(below)

    def _away(self, place: Place, rows: int) -> Place:
        """The place so many rows below (or, if negative, above) another one. Measures heights on the way
        instead of estimating them."""
        document = self._document
        index, offset = place.block, place.offset + rows
        if abs(rows) > 4 * self.height:
            index, offset = document.find(document.top(index) + offset)
        while offset < 0 < index:
            index -= 1
            offset += document.height(index)
        while index < len(document) - 1 and offset >= document.height(index):
            offset -= document.height(index)
            index += 1
        return Place(index, max(offset, 0))

    def _measured_bottom(self) -> int:
        """Measure from the end upwards. Returns the row that is then at the top."""
        document = self._document
        rows, index, height = 0, len(document), self._settled_in.height
        while index > 0 and rows < height:
            index -= 1
            rows += document.height(index)
        return max(document.rows - height, 0)

    def _measured_view(self) -> int:
        """Measure from the anchor downwards. Returns the row that is then at the top."""
        document = self._document
        if not len(document):
            return 0
        index = min(self._anchor.block, len(document) - 1)
        offset = min(self._anchor.offset, max(document.height(index) - 1, 0))
        rows, below, height = -offset, index, self._settled_in.height
        while below < len(document) and rows < height:
            rows += document.height(below)
            below += 1
        if rows < height:
            return self._measured_bottom()
        return document.top(index) + offset

    def _put_on(self, row: int) -> None:
        self._surface.scroll_to_row(row)
        self._anchor = self._document.find(row)


class HeightUpdates:
    """Works out the heights of blocks after all of them changed, for example because they were folded or got
    another width: those in view at once, the others in slices, once nothing has changed for a moment. In a
    short conversation all of them are worked out at once.

    Args:
        run: runs the slices.
    """

    def __init__(self, document: Document, viewport: Viewport, *, run: RunBeside) -> None:
        self._document = document
        self._viewport = viewport
        self._run = run
        self._is_running = False

    def settle(self) -> None:
        """Settle the view, and see to it that all heights are worked out."""
        if len(self._document) <= _FEW:
            self._document.update_heights(len(self._document))
        self._viewport.settle()
        if self._document.outdated and not self._is_running:
            self._is_running = True
            self._run(self._go_on())

    async def _go_on(self) -> None:
        document = self._document
        try:
            while document.outdated:
                revision = document.revision
                await asyncio.sleep(_REST)
                while document.outdated and document.revision is revision:
                    self._update_some()
                    await asyncio.sleep(_PAUSE)
        finally:
            self._is_running = False

    def _update_some(self) -> None:
        until = time.perf_counter() + _SLICE
        while self._document.outdated and time.perf_counter() < until:
            self._document.update_heights(_AT_ONCE)
        self._viewport.settle()
