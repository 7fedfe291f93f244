"""The transcript: one scrolling widget that paints rows of a document, never a widget a message."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import ClassVar, Final

from textual import events
from textual.binding import Binding, BindingType
from textual.geometry import Offset, Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.selection import Selection
from textual.strip import Strip
from textual.widget import Widget

from keen_tui.ui.glyphs import Glyphs
from keen_tui.ui.measures import counted
from keen_tui.ui.state import Block, EndBlock, ToolBlock
from keen_tui.ui.themes import Styles
from keen_tui.ui.transcript.blocks import fold_key, source
from keen_tui.ui.transcript.document import Document, Place
from keen_tui.ui.transcript.lines import copied
from keen_tui.ui.transcript.look import Look
from keen_tui.ui.transcript.painting import Painter

WHEEL_ROWS: Final = 3
ROWS_ABOVE_REVEALED: Final = 2


class Transcript(ScrollView, can_focus=True):
    """Shows the blocks of a session. It follows the end until it is scrolled up, and again from `end` on.

    With the focus it has a block cursor: up and down move it, enter folds its block, ctrl+y copies it.
    """

    DEFAULT_CSS = """
    Transcript {
        width: 1fr;
        height: 1fr;
        margin: 1 0;
        background: $background;
        overflow-x: hidden;
        overflow-y: auto;
        scrollbar-size: 0 0;
    }
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up,k", "cursor(-1)", "Block above", show=False),
        Binding("down,j", "cursor(1)", "Block below", show=False),
        Binding("enter", "fold", "Fold or unfold", show=False),
        Binding("ctrl+y", "copy_block", "Copy", show=False),
        Binding("pageup", "page_up", "Page up", show=False),
        Binding("pagedown", "page_down", "Page down", show=False),
        Binding("home", "scroll_home", "Beginning", show=False),
        Binding("end", "scroll_end", "End", show=False),
    ]

    class Moved(Message):
        """`following`, `below` or `key_chip_visible` changed."""

        def __init__(self, transcript: Transcript) -> None:
            super().__init__()
            self.transcript = transcript
            self.following = transcript.following
            self.below = transcript.below
            self.key_chip_visible = transcript.key_chip_visible

    class LinkOpened(Message):
        """A link in the text was clicked. `href` is what the model wrote: ask before acting on it."""

        def __init__(self, href: str) -> None:
            super().__init__()
            self.href = href

    class Copied(Message):
        """`text` was put on the clipboard; `what` names it in a word or two."""

        def __init__(self, text: str, what: str) -> None:
            super().__init__()
            self.text = text
            self.what = what

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
        self.reduced_motion = False
        """True: the dot of a running call stands still."""
        self._document = Document(Look(styles, glyphs, 80), clock)
        self._anchor = Place(0, 0)
        self._cursor: int | None = None
        self._past_length = 0
        self._placing = False
        self._announced: tuple[bool, int, bool] = (True, 0, False)
        self._painter = Painter(self._document)
        self._clicked_row = 0

    # What the app sets and reads

    @property
    def live_output(self) -> bool:
        """True: a running call shows its newest lines under its row."""
        return self._document.live_output

    @live_output.setter
    def live_output(self, shown: bool) -> None:
        if shown != self._document.live_output:
            self._document.live_output = shown
            self._document.redraw_running()
            self._settle()

    @property
    def below(self) -> int:
        """Rows below the last one in view."""
        return max(self._document.rows - self.scroll_offset.y - self._viewport, 0)

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

    def begin(self) -> None:
        """The blocks shown next are another conversation: nothing is unfolded, and it stands at its end."""
        self._document.clear()
        self._painter.forget()
        self._cursor = None
        self._anchor = Place(0, 0)
        self.following = True
        if self.text_selection is not None:
            self.screen.clear_selection()

    def show(self, past: tuple[Block, ...], live: tuple[Block, ...]) -> None:
        """Show these blocks. Costs what changed and what is seen; equal tuples cost nothing."""
        bottom = self.scroll_offset.y + self._viewport
        first_changed = self._document.show(past, live)
        self._past_length = len(past)
        if self._cursor is not None and self._cursor >= len(self._document):
            self._cursor = len(self._document) - 1 if len(self._document) else None
        self._settle(seen=self.following or self._document.top(first_changed) <= bottom)

    def set_look(self, styles: Styles, glyphs: Glyphs) -> None:
        """Draw everything anew in another theme or with other glyphs."""
        self._document.redraw(Look(styles, glyphs, self._document.look.width))
        self._painter.forget()
        self._settle()

    def tick(self) -> None:
        """Let running clocks go on. Called once a second while something runs."""
        document = self._document
        document.breath = not document.breath and not self.reduced_motion
        live = range(min(self._past_length, len(document)), len(document))
        for index in document.tick(live):
            document.lines(index)
            top = document.top(index)
            if top < self.scroll_offset.y + self._viewport:
                self.refresh_lines(top, document.height(index))

    def toggle_details(self) -> None:
        """Fold or unfold the block under the cursor; without the focus, all tool and reasoning blocks."""
        if self.has_focus and self._cursor is not None:
            self.action_fold()
            return
        self._document.toggle_all()
        self._settle()

    def reveal(self, turn: int, call_id: str | None = None) -> None:
        """Scroll to a tool call or, without `call_id`, to the beginning of a turn."""
        for index, entry in enumerate(self._document.entries):
            block = entry.block
            wanted = isinstance(block, ToolBlock) and block.id == call_id if call_id else True
            if wanted and getattr(block, "turn", None) == turn:
                self._cursor = index
                self._go(Place(index, 0))
                self._scroll_rows(-ROWS_ABOVE_REVEALED)
                return

    # Scrolling

    @property
    def _viewport(self) -> int:
        return self.scrollable_content_region.height

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        super().watch_scroll_y(old_value, new_value)
        if not self._placing and round(old_value) != round(new_value):
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
        self.following = self.below == 0
        self._announce()

    def _settle(self, *, seen: bool = True) -> None:
        """Measure what is in view, keep the view where it was (or at the end), and paint."""
        if not self._viewport:
            return
        row = self._measured_bottom() if self.following else self._measured_view()
        self._place(row)
        if seen:
            self.refresh()
        else:
            self.refresh_lines(self.scroll_offset.y + self._viewport - 1)
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
        now = (self.following, self.below, self.key_chip_visible)
        if now != self._announced:
            self._announced = now
            self.post_message(self.Moved(self))

    def _on_resize(self, event: events.Resize) -> None:
        look = self._document.look
        width = self.scrollable_content_region.width
        if width and width != look.width:
            self._document.redraw(Look(look.styles, look.glyphs, width))
            self._painter.forget()
            if self.text_selection is not None:
                self.screen.clear_selection()
        self._settle()

    # The block cursor

    def on_focus(self) -> None:
        self._ensure_cursor()
        self.refresh()

    def on_blur(self) -> None:
        self.refresh()

    def action_cursor(self, step: int) -> None:
        """Move the block cursor, and scroll so far that its block is seen."""
        cursor = self._ensure_cursor()
        if cursor is None:
            return
        self._cursor = min(max(cursor + step, 0), len(self._document) - 1)
        self._scroll_to_cursor(self._cursor)
        self.refresh()

    def action_fold(self) -> None:
        if self._cursor is not None and self._document.toggle(self._cursor):
            # What is unfolded in view must not be pushed out of it.
            self.following = False
            self._settle()
            self._stopped()

    def action_copy_block(self) -> None:
        if self._cursor is None:
            return
        text = source(self._document.entries[self._cursor].block)
        self.app.copy_to_clipboard(text)
        self.post_message(self.Copied(text, counted(text.count("\n") + 1, "line")))

    def _ensure_cursor(self) -> int | None:
        """The block under the cursor; it begins on the last one in view."""
        if self._cursor is None and len(self._document):
            self._cursor = self._document.find(self.scroll_offset.y + self._viewport - 1).block
        return self._cursor

    def _scroll_to_cursor(self, index: int) -> None:
        top = self._document.top(index)
        height = self._document.height(index)
        first = self.scroll_offset.y
        if top < first:
            self._scroll_rows(top - first)
        elif top + height > first + self._viewport:
            self._scroll_rows(min(top + height - first - self._viewport, top - first))

    # The mouse

    def on_click(self, event: events.Click) -> None:
        """Open a link; fold or unfold the block whose first row was clicked."""
        href = event.style.meta.get("href")
        if href:
            self.post_message(self.LinkOpened(str(href)))
            return
        offset = event.get_content_offset(self)
        if offset is None or self.text_selection is not None or event.chain > 1:
            return
        place = self._document.find(self.scroll_offset.y + offset.y)
        if place.block >= len(self._document):
            return
        entry = self._document.entries[place.block]
        if place.offset == entry.gap and fold_key(entry.block) is not None:
            self._cursor = place.block
            self.action_fold()

    def on_mouse_down(self, event: events.MouseDown) -> None:
        self._clicked_row = self.scroll_offset.y + event.y

    def text_select_all(self) -> None:
        """A double click selects the block under the pointer, not the whole session."""
        place = self._document.find(self._clicked_row)
        top = self._document.top(place.block)
        end = top + self._document.height(place.block) - 1
        last = len(self._document.line(self._document.find(end)).text)
        self.screen.selections = {self: Selection(Offset(0, top), Offset(last, end))}

    def get_selection(self, selection: Selection) -> tuple[str, str] | None:
        """The selected text: wrapped lines in one, decoration left out."""
        if selection.start is None and selection.end is None:
            return "\n\n".join(source(entry.block) for entry in self._document.entries), "\n"
        first = selection.start.y if selection.start else 0
        last = selection.end.y if selection.end else self._document.rows - 1
        rows = []
        for row in range(first, min(last, self._document.rows - 1) + 1):
            span = selection.get_span(row)
            if span is not None:
                end = None if span[1] == -1 else span[1]
                rows.append((self._document.line(self._document.find(row)), span[0], end))
        return copied(rows), "\n"

    def selection_updated(self, selection: Selection | None) -> None:
        self.refresh()

    # Painting

    def render_line(self, y: int) -> Strip:
        row = self.scroll_offset.y + y
        if row >= self._document.rows:
            return self._painter.blank(self.size.width)
        place = self._document.find(row)
        has_cursor = self.has_focus and place.block == self._cursor
        selection = self.text_selection
        span = selection.get_span(row) if selection is not None else None
        strip = self._painter.strip(place, has_cursor=has_cursor, selected=span)
        if y == self._viewport - 1 and not self.following and self.below:
            return self._painter.with_mark(strip, self.below)
        return strip.apply_offsets(0, row)
