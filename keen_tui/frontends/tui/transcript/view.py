"""The scrolling view of a document: where it stands, and how it stays there while heights change."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import ClassVar, Final

from textual import events
from textual.binding import Binding, BindingType
from textual.geometry import Size
from textual.scroll_view import ScrollView
from textual.widget import Widget

from keen_tui.frontends.tui.look.glyphs import Glyphs
from keen_tui.frontends.tui.look.themes import Styles
from keen_tui.frontends.tui.state.state import EndBlock
from keen_tui.frontends.tui.terminal.row_widget import PaintedRows
from keen_tui.frontends.tui.transcript.document import Document, Place
from keen_tui.frontends.tui.transcript.flow import Flows
from keen_tui.frontends.tui.transcript.look import Look
from keen_tui.frontends.tui.transcript.messages import Moved
from keen_tui.frontends.tui.transcript.painting import Painter
from keen_tui.frontends.tui.transcript.selection import Selecting

WHEEL_ROWS: Final = 3


class DocumentView(PaintedRows, ScrollView):
    """Shows rows of a document. It follows the end until it is scrolled up, and again from `end` on.

    Where it stands is kept as a place, a block and a row in it, which stays the same when blocks above turn
    out higher than they were estimated.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("pageup", "page_up", "Page up", show=False),
        Binding("pagedown", "page_down", "Page down", show=False),
    ]

    def __init__(
        self,
        styles: Styles,
        glyphs: Glyphs,
        *,
        id: str | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        super().__init__(id=id)
        self.following = True
        self._document = Document(Look(styles, glyphs, 80), clock)
        self._flows = Flows(self._document)
        self._selected = Selecting(self._document, self._flows)
        self._painter = Painter(self._document)
        self._anchor = Place(0, 0)
        self._placing = False
        self._settled_in = Size(0, 0)
        self._may_follow = True
        self._announced: tuple[bool, int, bool, bool] = (True, 0, False, False)

    @property
    def document(self) -> Document:
        """The blocks, and which of them are laid out as rows."""
        return self._document

    @property
    def below(self) -> int:
        """Rows below the last one in view."""
        return max(self._document.rows - self.scroll_offset.y - self._viewport, 0)

    @property
    def can_fold(self) -> bool:
        """Whether the block under the cursor folds."""
        return False

    @property
    def key_chip_visible(self) -> bool:
        """True while the row with the key to press next is in view."""
        last = len(self._document) - 1
        if last < 0 or not isinstance(self._document.entries[last].block, EndBlock):
            return False
        entry = self._document.entries[last]
        top = self._document.top(last) + entry.gap - self.scroll_offset.y
        if top >= self._viewport:
            return False
        rows = (top + row for row, line in enumerate(self._document.lines(last)) if line.chip)
        return any(0 <= row < self._viewport for row in rows)

    @property
    def _viewport(self) -> int:
        return self.scrollable_content_region.height

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        # Amid a resize Textual cuts it to what there is: nobody has scrolled.
        if self._placing or self.scrollable_content_region.size != self._settled_in:
            return
        super().watch_scroll_y(old_value, new_value)
        if round(old_value) != round(new_value):
            self._scroll_rows(round(new_value) - round(old_value))

    def action_scroll_up(self) -> None:
        self._scroll_rows(-1)

    def action_scroll_down(self) -> None:
        self._scroll_rows(1)

    def action_page_up(self) -> None:
        self._scroll_rows(1 - self._viewport)

    def action_page_down(self) -> None:
        self._scroll_rows(self._viewport - 1)

    def action_scroll_home(self) -> None:
        self._go(Place(0, 0))

    def action_scroll_end(self) -> None:
        self.following = True
        self._settle()

    def _on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        event.stop()
        event.prevent_default()
        self._scroll_rows(-WHEEL_ROWS)

    def _on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        event.stop()
        event.prevent_default()
        self._scroll_rows(WHEEL_ROWS)

    def _scroll_rows(self, rows: int) -> None:
        """Scroll by rows, counted in heights that are measured on the way, not estimated."""
        document = self._document
        if not len(document):
            return
        index, offset = self._anchor
        offset += rows
        if abs(rows) > 4 * self._viewport:
            index, offset = document.find(document.top(index) + offset)
        while offset < 0 < index:
            index -= 1
            offset += document.height(index)
        while index < len(document) - 1 and offset >= document.height(index):
            offset -= document.height(index)
            index += 1
        self._go(Place(index, max(offset, 0)))

    def _go(self, place: Place) -> None:
        """Put `place` on the first row of the view, or as near to it as the end allows."""
        self.following = False
        self._anchor = place
        self._settle()
        self._stopped()

    def _stopped(self) -> None:
        """The view came to rest: at the end it follows again."""
        self.following = self._may_follow and self.below == 0
        self._announce()

    def _settle(self) -> None:
        """Measure what is in view, keep the view where it was (or at the end), and paint what changed."""
        if not self._viewport:
            return
        self._settled_in = self.scrollable_content_region.size
        row = self._measured_bottom() if self.following else self._measured_view()
        self._place(row)
        self.refresh_changed()
        self._announce()

    def _measured_bottom(self) -> int:
        """Measure from the end upwards; the row that is then on top."""
        document = self._document
        rows, index = 0, len(document)
        while index > 0 and rows < self._viewport:
            index -= 1
            rows += document.height(index)
        return max(document.rows - self._viewport, 0)

    def _measured_view(self) -> int:
        """Measure from the anchor downwards; the row that is then on top."""
        document = self._document
        if not len(document):
            return 0
        index = min(self._anchor.block, len(document) - 1)
        offset = min(self._anchor.offset, max(document.height(index) - 1, 0))
        rows, below = -offset, index
        while below < len(document) and rows < self._viewport:
            rows += document.height(below)
            below += 1
        if rows < self._viewport:
            return self._measured_bottom()
        return document.top(index) + offset

    def _place(self, row: int) -> None:
        self._placing = True
        try:
            self._set_virtual_size(Size(self.size.width, self._document.rows))
            if self.scroll_offset.y != row:
                self.scroll_y = row
                self.scroll_target_y = row
        finally:
            self._placing = False
        self._anchor = self._document.find(row)

    def _set_virtual_size(self, size: Size) -> None:
        """Tell Textual how large the contents are without a layout of the whole screen.

        `virtual_size` is a reactive that lays everything out anew, though nothing but this widget's
        scroll range depends on it. This is the one place that uses Textual's private ways.
        """
        if size != self.virtual_size:
            self.set_reactive(Widget.virtual_size, size)
            self._scroll_update(size)

    def _announce(self) -> None:
        now = (self.following, self.below, self.key_chip_visible, self.can_fold)
        if now != self._announced:
            self._announced = now
            following, below, key_chip_visible, can_fold = now
            moved = Moved(
                following=following, below=below, key_chip_visible=key_chip_visible, can_fold=can_fold
            )
            self.post_message(moved)

    def _on_resize(self, event: events.Resize) -> None:
        look = self._document.look
        width = self.scrollable_content_region.width
        if width and width != look.width:
            self._document.redraw(Look(look.styles, look.glyphs, width))
            self._painter.forget()
        self._settle()
