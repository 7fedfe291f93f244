"""The transcript: one scrolling widget that paints rows of a document, instead of one widget per message."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from typing import ClassVar, Final

from textual import events, on
from textual.binding import Binding, BindingType
from textual.geometry import Offset, Size
from textual.scroll_view import ScrollView
from textual.selection import Selection
from textual.strip import Strip
from textual.widget import Widget

from keen_tui.frontends.tui.keys.keymap import bindings, shown
from keen_tui.frontends.tui.look.glyphs import Glyphs
from keen_tui.frontends.tui.look.themes import Styles
from keen_tui.frontends.tui.rows.render_style import RenderStyle
from keen_tui.frontends.tui.state.state import Block, ToolBlock
from keen_tui.frontends.tui.state.trail import Trail
from keen_tui.frontends.tui.terminal.strip_widget import StripWidget
from keen_tui.frontends.tui.transcript.blocks.folding import Folding, fold_key
from keen_tui.frontends.tui.transcript.copying import Copier
from keen_tui.frontends.tui.transcript.cursor import BlockCursor
from keen_tui.frontends.tui.transcript.document import Document
from keen_tui.frontends.tui.transcript.find_session import FindSession
from keen_tui.frontends.tui.transcript.finding import Finder
from keen_tui.frontends.tui.transcript.flow import Flows
from keen_tui.frontends.tui.transcript.meant import meant_by
from keen_tui.frontends.tui.transcript.messages import (
    Copied,
    FileWanted,
    HitsCounted,
    LinkOpened,
    LinkWanted,
    Moved,
    RowWanted,
)
from keen_tui.frontends.tui.transcript.mouse_selection import MouseSelection
from keen_tui.frontends.tui.transcript.painting import Painter
from keen_tui.frontends.tui.transcript.selection import TextSelection
from keen_tui.frontends.tui.transcript.viewport import HeightUpdates, Viewport

WHEEL_ROWS: Final = 3
_ROOMY_FROM: Final = 30
"""Rows of the terminal from which an incomplete turn has empty rows around its facts."""


class Transcript(StripWidget, ScrollView, can_focus=True):
    """Shows the blocks of a session.

    The blocks are its `document`. The `viewport` is the visible part, the `cursor` the block that keys act
    on, the `selection` the text selected with the mouse, `finding` a search for words; the `copier` copies
    parts to the clipboard. This class passes them keys, mouse events and messages of Textual, and paints.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("pageup", "page_up", "Page up", show=False),
        Binding("pagedown", "page_down", "Page down", show=False),
        *bindings("transcript"),
    ]

    DEFAULT_CSS = """
    Transcript {
        width: 1fr;
        height: 1fr;
        margin: 1 0;
        background: $background;
        overflow-x: hidden;
        overflow-y: scroll; /* with auto, Textual would lay out the screen when the contents outgrow it */
        scrollbar-size: 0 0;
    }
    """

    waits_for_size = True

    ALLOW_SELECT = False
    """Turns off Textual's own selection."""

    FOCUS_ON_CLICK = False
    """Selecting or unfolding with the mouse leaves the focus in the composer."""

    def __init__(
        self,
        styles: Styles,
        glyphs: Glyphs,
        *,
        id: str | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        super().__init__(id=id)
        self.reduced_motion = False
        """True: the dot of a running call stands still."""
        self.document = Document(RenderStyle(styles, glyphs, 80), clock)
        self.viewport = Viewport(self, self.document)
        self.cursor = BlockCursor(self, self.document, self.viewport)
        self.copier = Copier(
            self.document,
            clipboard=lambda text: self.app.copy_to_clipboard(text),
            run=partial(self.run_worker, name="copy", group="copy", exclusive=True),
            copied=lambda text, told: self.post_message(Copied(text, told)),
        )
        flows = Flows(self.document)
        self.selection = MouseSelection(self, self.viewport, TextSelection(self.document, flows))
        self.finding = FindSession(
            self.document,
            Finder(self.document, flows),
            self.viewport,
            self.cursor,
            run=partial(self.run_worker, name="find", group="find"),
            refresh=self.refresh,
            counted=lambda tally: self.screen.post_message(HitsCounted(tally)),
        )
        run = partial(self.run_worker, name="heights", group="heights")
        self._heights = HeightUpdates(self.document, self.viewport, run=run)
        self._painter = Painter(self.document, (self.selection, self.finding))
        self._past_length = 0
        self._announced: tuple[bool, int, bool, bool] = (True, 0, False, False)

    def set_asked(self, asked: bool) -> None:
        """Set whether a question is open: then the key to press next is in the question, not here."""
        if asked != self.document.asked:
            self.document.asked = asked
            self.document.redraw_end()
            self.viewport.settle()

    def begin(self) -> None:
        """Prepare for another conversation: nothing is unfolded, and the view is at its end."""
        self.document.clear()
        self._painter.forget()
        self.finding.begin()
        self.cursor.forget()
        self.viewport.begin()
        self.selection.forget()

    def show(self, past: Trail[Block], live: tuple[Block, ...]) -> None:
        """Show these blocks. The cost depends on what changed and what is visible."""
        before = [entry.block for entry in self.document.entries[:1]]
        under_cursor = self.cursor.block
        adopted = self.document.adopt(past)
        first_changed = self.document.show(past, live)
        first_changed = 0 if adopted else first_changed
        self._past_length = len(past)
        if first_changed == 0 and before and (added := self.document.index_of(before[0])):
            for part in (self.viewport, self.cursor, self.selection, self.finding):
                part.moved_down(added)
        self.cursor.stay_on(under_cursor)
        first_selected = self.selection.first_block
        if first_selected is not None and first_selected >= len(self.document):
            self.selection.forget()
        self.finding.follow(first_changed)
        self._heights.settle()
        self.finding.search()

    def set_look(self, styles: Styles, glyphs: Glyphs) -> None:
        """Redraw everything in another theme or with other glyphs."""
        self._redraw(RenderStyle(styles, glyphs, self.document.look.width))

    def recolour(self) -> None:
        """Show colours that a thread has worked out."""
        self.document.recolour()
        self.viewport.settle()

    def tick(self) -> None:
        """Advance running clocks. Called once a second while something runs."""
        document = self.document
        document.breath = not document.breath and not self.reduced_motion
        live = range(min(self._past_length, len(document)), len(document))
        if ticking := document.tick(live):
            for index in ticking:
                document.lines(index)
            self.refresh_changed()

    def next_folding(self) -> Folding:
        """Switch all blocks to the next fold state, and return that state."""
        folding = self.document.next_folding()
        self._heights.settle()
        return folding

    def reveal(self, turn: int, call_id: str | None = None) -> bool:
        """Scroll to a tool call or, without `call_id`, to the beginning of a turn. False if it doesn't
        exist."""
        for index, entry in enumerate(self.document.entries):
            block = entry.block
            wanted = isinstance(block, ToolBlock) and block.id == call_id if call_id else True
            if wanted and getattr(block, "turn", None) == turn:
                self.cursor.reveal(index)
                return True
        return False

    def copy_selection(self) -> bool:
        """Copy the selection, with wrapped lines joined and without decoration. False if nothing is
        selected."""
        pieces = self.selection.pieces()
        if pieces:
            self.copier.copy(pieces)
        return pieces is not None

    def action_scroll_up(self) -> None:
        self.viewport.scroll(-1)

    def action_scroll_down(self) -> None:
        self.viewport.scroll(1)

    def action_page_up(self) -> None:
        self.viewport.scroll_page(-1)
        self.cursor.fetch(1)

    def action_page_down(self) -> None:
        self.viewport.scroll_page(1)
        self.cursor.fetch(-1)

    def action_scroll_home(self) -> None:
        self.viewport.go_home()

    def action_scroll_end(self) -> None:
        self.viewport.go_to_end()

    def action_cursor_up(self) -> None:
        self.cursor.move(-1)

    def action_cursor_down(self) -> None:
        self.cursor.move(1)

    def action_extend_up(self) -> None:
        self.cursor.move(-1, extend=True)

    def action_extend_down(self) -> None:
        self.cursor.move(1, extend=True)

    def action_turn_above(self) -> None:
        self.cursor.to_turn_above()

    def action_turn_below(self) -> None:
        self.cursor.to_turn_below()

    def action_first_block(self) -> None:
        self.cursor.to_first()

    def action_last_block(self) -> None:
        self.cursor.to_last()

    def action_fold(self) -> None:
        self.cursor.fold()

    def action_copy_block(self) -> None:
        self.copier.copy_blocks(self.cursor.indices)

    def action_copy_code(self) -> None:
        if self.cursor.index is not None:
            self.copier.copy_code(self.cursor.index)

    def action_select_all(self) -> None:
        self.selection.select_all()

    def action_open_file(self) -> None:
        """Open the file that the block at the cursor names."""
        if block := self.cursor.ensure_block():
            self.post_message(FileWanted(block))

    def action_open_link(self) -> None:
        """Open the web page that the block at the cursor names."""
        if (index := self.cursor.ensure()) is not None:
            place = next(reversed(meant_by(self.document.entries, index)), index)
            self.post_message(LinkWanted(self.document.entries[place].block))

    def action_show_in_activity(self) -> None:
        """Show the Activity row of the block at the cursor."""
        if block := self.cursor.ensure_block():
            call_id = block.id if isinstance(block, ToolBlock) else None
            self.post_message(RowWanted(getattr(block, "turn", 0), call_id))

    async def action_look_for(self) -> None:
        """Search for words, with the find field of the workspace."""
        await self.screen.run_action("do('find')")

    def on_focus(self) -> None:
        self.cursor.ensure()
        self.cursor.changed()

    def on_blur(self) -> None:
        self.refresh()

    def on_resize(self) -> None:
        if self.document.is_low != (is_low := self.app.size.height < _ROOMY_FROM):
            self.document.is_low = is_low
            self.document.redraw_end()
        look = self.document.look
        width = self.size.width
        if width and width != look.width:
            self._redraw(RenderStyle(look.styles, look.glyphs, width))
        else:
            self.viewport.settle()

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        if self.viewport.is_settled:
            super().watch_scroll_y(old_value, new_value)
            if rows := round(new_value) - round(old_value):
                self.viewport.scroll(rows)

    @on(events.MouseScrollUp)
    @on(events.MouseScrollDown)
    def _scroll_by_wheel(self, event: events.MouseScrollUp | events.MouseScrollDown) -> None:
        event.stop()
        event.prevent_default()
        self.viewport.scroll(-WHEEL_ROWS if isinstance(event, events.MouseScrollUp) else WHEEL_ROWS)
        self.selection.reach_pointer()

    def on_mouse_down(self, event: events.MouseDown) -> None:
        if event.button == 1:
            self.selection.press(event.offset, extend=event.shift)

    def on_mouse_move(self, event: events.MouseMove) -> None:
        if event.button:
            self.selection.drag(event.offset)
        else:  # the button was released outside the terminal, which reports nothing
            self.selection.release()

    @on(events.MouseUp)
    @on(events.MouseRelease)
    def _let_go(self) -> None:
        self.selection.release()

    def on_click(self, event: events.Click) -> None:
        """Open a link or fold a block; a double click selects a word, a triple click a line; shift extends
        the selection."""
        offset = event.get_content_offset(self)
        if offset is None or self.selection.dragged:
            return
        if event.shift:
            self.selection.reach(offset)
        elif event.chain == 1:
            self._click_once(event, offset)
        else:
            self.selection.take(offset, line=event.chain > 2)

    def get_selection(self, selection: Selection) -> tuple[str, str] | None:
        """The selected text, in the form that Textual wants."""
        pieces = self.selection.pieces()
        return ("".join(pieces), "\n") if pieces else None

    def selection_updated(self, selection: Selection | None) -> None:
        """Textual cleared the selection, or took ours over."""
        self.selection.updated()

    def strips(self) -> list[Strip]:
        viewport, (width, height) = self.viewport, self.size
        rows = self._painter.rows(self.document.blocks_in(viewport.row, height), self.cursor.painted)
        if rows and not viewport.following and (below := viewport.below):
            key = shown("last_block" if self.has_focus else "bottom")
            rows[-1] = self._painter.with_mark(rows[-1], below, key)
        return [*rows, *[self._painter.blank(width)] * (height - len(rows))]

    def scroll_to_row(self, row: int) -> None:
        """Have that row of the document be the first in view."""
        # Set the usual way, the size makes Textual lay out the screen for scrollbars that we don't have, and
        # the row is checked against that size and reported as if the user had scrolled.
        self.set_reactive(Widget.virtual_size, Size(self.size.width, self.document.rows))
        self.set_reactive(Widget.scroll_y, row)
        self.set_reactive(Widget.scroll_target_y, row)

    def announce(self) -> None:
        """Report the positions of view and cursor, if they have changed."""
        viewport = self.viewport
        now = (viewport.following, viewport.below, viewport.key_chip_visible, self.cursor.can_fold)
        if now != self._announced:
            self._announced = now
            self.screen.post_message(Moved())  # otherwise each container in between would handle it first

    def _redraw(self, look: RenderStyle) -> None:
        self.document.redraw(look)
        self._painter.forget()
        self._heights.settle()

    def _click_once(self, event: events.Click, offset: Offset) -> None:
        href = event.style.meta.get("href")
        place = self.document.find(self.selection.pointed(offset)[0])
        if href:
            self.post_message(LinkOpened(str(href)))
        elif place.block < len(self.document):
            entry = self.document.entries[place.block]
            if place.offset == entry.gap and fold_key(entry.block) is not None:
                self.cursor.index = place.block
                self.cursor.fold()
