"""The mouse in the transcript: links, folding, and text that is selected, also beyond what is seen."""

from __future__ import annotations

from typing import Final

from textual import events
from textual.geometry import Offset
from textual.selection import Selection
from textual.timer import Timer

from keen_tui.frontends.tui.transcript.cursor import CursorView
from keen_tui.frontends.tui.transcript.document import Place
from keen_tui.frontends.tui.transcript.folding import fold_key
from keen_tui.frontends.tui.transcript.messages import LinkOpened
from keen_tui.frontends.tui.transcript.painting import Mark
from keen_tui.frontends.tui.transcript.selection import EVERYTHING, Span

SCROLL_SECONDS: Final = 1 / 20
"""How often the view goes on while the pointer is held above or below it."""
_ROWS_A_ROW_AWAY: Final = 2
"""How many rows faster it goes for each row that the pointer is further away."""
_SELECTED: Final = Selection(Offset(0, 0), Offset(0, 0))
"""Tells Textual that something is selected here. What it is, is our own business."""


class SelectingView(CursorView):
    """A view whose text can be selected with the mouse.

    Textual would keep a selection in rows, which move whenever a height above them changes. Ours is kept in
    the text of blocks: it stays on its words while text streams in, blocks fold and the width changes.
    """

    ALLOW_SELECT = False
    """Textual's own selection is not wanted."""

    FOCUS_ON_CLICK = False
    """Who selects or unfolds with the mouse while writing goes on writing."""

    _pointer: Offset | None = None
    """Where the pointer is while its button is down, from the upper left corner of the view."""
    _dragged = False
    _scrolling_on: Timer | None = None

    @property
    def has_selection(self) -> bool:
        """Whether some text is selected."""
        return self._selected.span is not None

    def select_all(self) -> None:
        """Select the whole conversation, as it is shown."""
        self._select(EVERYTHING)

    def copy_selection(self) -> None:
        """Copy what is selected: wrapped lines in one, decoration left out."""
        if self._selected.span:
            self._copy(self._selected.pieces(self._selected.span))

    def get_selection(self, selection: Selection) -> tuple[str, str] | None:
        """The selected text, as Textual asks for it."""
        span = self._selected.span
        return ("".join(self._selected.pieces(span)), "\n") if span else None

    def selection_updated(self, selection: Selection | None) -> None:
        """Textual cleared the selection, as somebody clicked somewhere, or took ours over."""
        if self not in self.screen.selections:
            self._selected.span = None
        self.refresh()

    def on_mouse_down(self, event: events.MouseDown) -> None:
        if event.button == 1:
            self._pointer, self._dragged = event.offset, False
            if not event.shift:
                self._selected.hold(*self._pointed(event.offset))
            self.capture_mouse()

    def on_mouse_move(self, event: events.MouseMove) -> None:
        if self._pointer is not None and not event.button:
            self._let_go()  # it was let go outside of the terminal, which told nobody
        elif self._pointer is not None and event.offset != self._pointer:
            self._pointer, self._dragged = event.offset, True
            self._reach_pointer()
            self._scroll_on()

    def on_mouse_up(self) -> None:
        self._let_go()

    def on_mouse_release(self) -> None:
        self._let_go()

    def on_click(self, event: events.Click) -> None:
        """Open a link, fold a block; twice selects a word, three times a line; with shift up to here."""
        offset = event.get_content_offset(self)
        if offset is None or self._dragged:
            return
        if event.shift:
            self._selected.reach(*self._pointed(offset))
            self._select(self._selected.span)
        elif event.chain == 1:
            self._click_once(event, offset)
        else:
            take = self._selected.take_word if event.chain == 2 else self._selected.take_line
            take(*self._pointed(offset))
            self._select(self._selected.span)

    def _click_once(self, event: events.Click, offset: Offset) -> None:
        href = event.style.meta.get("href")
        place = self._document.find(self._pointed(offset)[0])
        if href:
            self.post_message(LinkOpened(str(href)))
        elif place.block < len(self._document):
            entry = self._document.entries[place.block]
            if place.offset == entry.gap and fold_key(entry.block) is not None:
                self._cursor = place.block
                self.action_fold()

    def _select(self, span: Span | None) -> None:
        self._selected.span = span
        self.screen.selections = {self: _SELECTED} if span else {}
        self.refresh()

    def _deselect(self) -> None:
        self._selected.forget()
        if self in self.screen.selections:
            self.screen.clear_selection()

    def _pointed(self, offset: Offset) -> tuple[int, int]:
        """The row of the document and the cell at an offset from the upper left corner of the view."""
        row = min(max(offset.y, 0), max(self._viewport - 1, 0))
        cell = 0 if offset.y < 0 else self.size.width if offset.y >= self._viewport else offset.x
        return self.scroll_offset.y + row, cell

    def _reach_pointer(self) -> None:
        """Select up to where the pointer is."""
        before = self._selected.span
        if self._pointer is not None:
            self._selected.reach(*self._pointed(self._pointer))
            if self._selected.span != before:
                self._select(self._selected.span)

    def _scroll_on(self) -> None:
        """Scroll for as long as the pointer is held above or below the view: the only timer there is."""
        wanted = self._rows_away() != 0
        if wanted and self._scrolling_on is None:
            self._scrolling_on = self.set_interval(SCROLL_SECONDS, self._scroll_to_pointer)
        elif not wanted and self._scrolling_on is not None:
            self._scrolling_on.stop()
            self._scrolling_on = None

    def _scroll_to_pointer(self) -> None:
        away = self._rows_away()
        if self.scroll_offset.y == 0 if away < 0 else self.below == 0:
            return
        self._scroll_rows(away + (away - (away > 0) + (away < 0)) * (_ROWS_A_ROW_AWAY - 1))
        self._reach_pointer()

    def _rows_away(self) -> int:
        """How many rows the pointer is above the view (negative) or below it. The first row of the screen
        counts as above: no pointer gets further."""
        if self._pointer is None:
            return 0
        above = self._pointer.y - (1 if self.region.y == 0 else 0)
        return min(above, 0) or max(self._pointer.y - self._viewport + 1, 0)

    def _let_go(self) -> None:
        if self._pointer is not None:
            self._pointer = None
            self._scroll_on()
            self.release_mouse()

    def _on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        super()._on_mouse_scroll_up(event)
        self._reach_pointer()

    def _on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        super()._on_mouse_scroll_down(event)
        self._reach_pointer()

    def _marks(self, place: Place) -> list[Mark]:
        """How the selected characters of a row are painted."""
        columns = self._selected.columns(place)
        return [Mark(*columns, self._document.look.styles("text", on="select"))] if columns else []
