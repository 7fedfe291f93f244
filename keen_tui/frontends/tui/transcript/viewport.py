"""The part of a document that is in view: where it stands, and how it stays there while heights change."""

from __future__ import annotations

from typing import Literal, Protocol

from textual.geometry import Offset, Region, Size

from keen_tui.frontends.tui.state.state import EndBlock
from keen_tui.frontends.tui.transcript.document import Document, Place

Step = Literal[-1, 1]
"""Towards the beginning, or towards the end."""


class Surface(Protocol):
    """What shows a viewport and what stands in it: the widget, as far as that is asked."""

    @property
    def has_focus(self) -> bool:
        """Whether it gets the keys."""

    @property
    def scroll_offset(self) -> Offset:
        """Its `y` is the first row in view."""

    @property
    def scrollable_content_region(self) -> Region:
        """Where rows are shown."""

    def scroll_to_row(self, row: int) -> None:
        """Have that row of the document be the first in view."""

    def refresh(self) -> object:
        """Paint all rows in view again."""

    def refresh_changed(self) -> None:
        """Paint those rows again that look different."""

    def announce(self) -> None:
        """Report where it stands now, if that is news."""


class Viewport:
    """Follows the end of a document until it is scrolled up, and again from the end on.

    Where it stands is kept as a place, a block and a row in it, which stays the same when blocks above turn
    out higher than they were estimated.
    """

    def __init__(self, surface: Surface, document: Document) -> None:
        self.following = True
        self.may_follow = True
        """False: it stays where it is, at the end too."""
        self._surface = surface
        self._document = document
        self._anchor = Place(0, 0)
        self._placing = False
        self._settled_in = Size(0, 0)

    @property
    def height(self) -> int:
        """Rows in view."""
        return self._surface.scrollable_content_region.height

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
        """The blocks of which at least one row is in view."""
        first = self._document.find(self.row).block
        last, offset = self.bottom
        only_gap = last > first and offset < self._document.entries[last].gap
        return range(first, last + (0 if only_gap else 1))

    @property
    def key_chip_visible(self) -> bool:
        """True while the row with the key to press next is in view."""
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
        """Whether a change of the scroll offset is somebody's scrolling. Amid a resize it is not: Textual
        cuts it to what there is."""
        region = self._surface.scrollable_content_region
        return not self._placing and region.size == self._settled_in

    def begin(self) -> None:
        """Another conversation takes the place of this one: it stands at its end."""
        self._anchor = Place(0, 0)
        self.following = True

    def moved_down(self, blocks: int) -> None:
        """So many blocks came before the first one."""
        self._anchor = self._anchor._replace(block=self._anchor.block + blocks)

    def scroll(self, rows: int) -> None:
        """Scroll by rows, counted in heights that are measured on the way, not estimated."""
        document = self._document
        if not len(document):
            return
        index, offset = self._anchor
        offset += rows
        if abs(rows) > 4 * self.height:
            index, offset = document.find(document.top(index) + offset)
        while offset < 0 < index:
            index -= 1
            offset += document.height(index)
        while index < len(document) - 1 and offset >= document.height(index):
            offset -= document.height(index)
            index += 1
        self.go(Place(index, max(offset, 0)))

    def scroll_page(self, step: Step) -> None:
        """Scroll by what is in view, but for a row."""
        self.scroll(step * (self.height - 1))

    def go(self, place: Place) -> None:
        """Put `place` on the first row of the view, or as near to it as the end allows."""
        self.following = False
        self._anchor = place
        self.settle()
        self.stop()

    def go_home(self) -> None:
        """To the first row."""
        self.go(Place(0, 0))

    def go_to_end(self) -> None:
        """To the last row, following the end from now on."""
        self.following = True
        self.settle()

    def stop(self) -> None:
        """It came to rest: at the end it follows again."""
        self.following = self.may_follow and self.below == 0
        self._surface.announce()

    def settle(self) -> None:
        """Measure what is in view, keep the view where it was (or at the end), and paint what changed."""
        if not self.height:
            return
        self._settled_in = self._surface.scrollable_content_region.size
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
        """Have all of a block in view or, of one that is higher, the part that comes first that way."""
        top, height = self._document.top(block), self._document.height(block)
        # Measuring it may have moved what is in view: it is higher, or lower, than was estimated.
        above = top - self._document.top(self._anchor.block) - self._anchor.offset
        below = above + height - self.height
        if height > self.height:
            self.scroll(above if step > 0 else below)
        elif above < 0:
            self.scroll(above)
        elif below > 0:
            self.scroll(below)

    def _measured_bottom(self) -> int:
        """Measure from the end upwards; the row that is then on top."""
        document = self._document
        rows, index, height = 0, len(document), self.height
        while index > 0 and rows < height:
            index -= 1
            rows += document.height(index)
        return max(document.rows - height, 0)

    def _measured_view(self) -> int:
        """Measure from the anchor downwards; the row that is then on top."""
        document = self._document
        if not len(document):
            return 0
        index = min(self._anchor.block, len(document) - 1)
        offset = min(self._anchor.offset, max(document.height(index) - 1, 0))
        rows, below, height = -offset, index, self.height
        while below < len(document) and rows < height:
            rows += document.height(below)
            below += 1
        if rows < height:
            return self._measured_bottom()
        return document.top(index) + offset

    def _put_on(self, row: int) -> None:
        self._placing = True
        try:
            self._surface.scroll_to_row(row)
        finally:
            self._placing = False
        self._anchor = self._document.find(row)
