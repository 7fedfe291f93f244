"""Selecting text of the transcript with the mouse, also beyond the view."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from textual.geometry import Offset
from textual.selection import Selection
from textual.timer import Timer
from textual.widget import Widget

from keen_tui.frontends.tui.transcript.document import Place
from keen_tui.frontends.tui.transcript.painting import Mark
from keen_tui.frontends.tui.transcript.selection import EVERYTHING, Span, TextSelection
from keen_tui.frontends.tui.transcript.viewport import Viewport

SCROLL_SECONDS: Final = 1 / 20
"""Seconds between two steps of scrolling while the pointer is held above or below the view."""
_ROWS_A_ROW_AWAY: Final = 2
"""Additional rows per step for each row that the pointer is further away."""
_SELECTED: Final = Selection(Offset(0, 0), Offset(0, 0))
"""Tells Textual that something is selected here; the transcript itself knows what."""


class MouseSelection:
    """Selects text of a document, from the point where the button went down to the pointer.

    Textual would store a selection as rows, which move whenever a height above them changes. Ours is stored
    as positions in the text of blocks: it stays on its words while text streams in, blocks fold and the width
    changes. Offsets are relative to the upper left corner of the view.

    Args:
        widget: the widget that Textual treats as selected. It captures the mouse while the button is down.
        selected: the selection in the document.
    """

    def __init__(self, widget: Widget, viewport: Viewport, selected: TextSelection) -> None:
        self.dragged = False
        """Whether the pointer has moved since its button went down."""
        self._widget = widget
        self._viewport = viewport
        self._selected = selected
        self._pointer: Offset | None = None
        """The position of the pointer while its button is down."""
        self._timer: Timer | None = None

    @property
    def first_block(self) -> int | None:
        """The block where the selected text begins."""
        return self._selected.span.first.block if self._selected.span else None

    @property
    def has_marks(self) -> bool:
        """Whether something is selected."""
        return self._selected.span is not None

    def marks(self, place: Place) -> list[Mark]:
        """The marks for the selected characters of a row."""
        return self._selected.marks(place)

    def pieces(self) -> Iterator[str] | None:
        """The selected text in pieces, with wrapped lines joined and without decoration. None if nothing is
        selected."""
        return self._selected.pieces(self._selected.span) if self._selected.span else None

    def select_all(self) -> None:
        """Select the whole visible text of the conversation."""
        self._select(EVERYTHING)

    def forget(self) -> None:
        """Clear the selection."""
        self._selected.forget()
        if self._widget in self._widget.screen.selections:
            self._widget.screen.clear_selection()

    def updated(self) -> None:
        """Textual cleared the selection after a click elsewhere, or took ours over."""
        if self._widget not in self._widget.screen.selections:
            self._selected.span = None
        self._widget.refresh()

    def moved_down(self, blocks: int) -> None:
        """So many blocks were inserted at the beginning."""
        self._selected.moved_down(blocks)

    def press(self, offset: Offset, *, extend: bool) -> None:
        """The button went down: the selection begins there, or with `extend` at its old beginning."""
        self._pointer, self.dragged = offset, False
        if not extend:
            self._selected.hold(*self.pointed(offset))
        self._widget.capture_mouse()

    def drag(self, offset: Offset) -> None:
        """The pointer moved with its button down: select up to it."""
        if self._pointer is not None and offset != self._pointer:
            self._pointer, self.dragged = offset, True
            self.reach_pointer()
            self._scroll_on()

    def release(self) -> None:
        """The button is up, or another widget has the mouse."""
        if self._pointer is not None:
            self._pointer = None
            self._scroll_on()
            self._widget.release_mouse()

    def reach(self, offset: Offset) -> None:
        """Select from the beginning of the selection up to there."""
        self._selected.reach(*self.pointed(offset))
        self._select(self._selected.span)

    def take(self, offset: Offset, *, line: bool) -> None:
        """Select the word there, or the whole line."""
        take = self._selected.take_line if line else self._selected.take_word
        take(*self.pointed(offset))
        self._select(self._selected.span)

    def pointed(self, offset: Offset) -> tuple[int, int]:
        """The row of the document and the cell at an offset."""
        height = self._viewport.height
        row = min(max(offset.y, 0), max(height - 1, 0))
        cell = 0 if offset.y < 0 else self._widget.size.width if offset.y >= height else offset.x
        return self._viewport.row + row, cell

    def reach_pointer(self) -> None:
        """Select up to the pointer, if its button is down."""
        before = self._selected.span
        if self._pointer is not None:
            self._selected.reach(*self.pointed(self._pointer))
            if self._selected.span != before:
                self._select(self._selected.span)

    def _select(self, span: Span | None) -> None:
        self._selected.span = span
        self._widget.screen.selections = {self._widget: _SELECTED} if span else {}
        self._widget.refresh()

    def _scroll_on(self) -> None:
        """Scroll while the pointer is held above or below the view. This is the only timer."""
        wanted = self._rows_away() != 0
        if wanted and self._timer is None:
            self._timer = self._widget.set_interval(SCROLL_SECONDS, self._scroll_to_pointer)
        elif not wanted and self._timer is not None:
            self._timer.stop()
            self._timer = None

    def _scroll_to_pointer(self) -> None:
        away = self._rows_away()
        if self._viewport.row == 0 if away < 0 else self._viewport.below == 0:
            return
        self._viewport.scroll(away + (away - (away > 0) + (away < 0)) * (_ROWS_A_ROW_AWAY - 1))
        self.reach_pointer()

    def _rows_away(self) -> int:
        """How many rows the pointer is above the view (negative) or below it. The first row of the screen
        counts as above, since a pointer can't get higher."""
        if self._pointer is None:
            return 0
        above = self._pointer.y - (1 if self._widget.region.y == 0 else 0)
        return min(above, 0) or max(self._pointer.y - self._viewport.height + 1, 0)
