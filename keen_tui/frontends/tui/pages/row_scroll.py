"""The rows of a page that scroll."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from rich.text import Text
from textual.message import Message

from keen_tui.frontends.tui.look.glyphs import Glyphs
from keen_tui.frontends.tui.look.themes import Styles
from keen_tui.frontends.tui.widgets.row_widget import RowWidget, indented
from keen_tui.text.units import counted

Row = TypeVar("Row")


class RowScroll(RowWidget):
    """Draws as many rows as there is room for.

    Args:
        draw: all rows, for a number of cells; not needed by a subclass that says what is `seen`.
        edge: cells to the left and to the right of them.
    """

    wheel = 3

    class Moved(Message):
        """Other rows are in view, or there are more."""

    def __init__(
        self,
        styles: Styles,
        glyphs: Glyphs,
        draw: Callable[[int], Sequence[Text]] = lambda width: (),
        *,
        id: str | None = None,
        edge: int = 2,
    ) -> None:
        super().__init__(styles, glyphs, id=id)
        self._draw = draw
        self._edge = edge
        self.first = self._count = 0
        self._room = 1

    @property
    def place(self) -> str:
        """Which rows are in view, and of how many."""
        last = min(self.first + self._room, self._count)
        if last - self.first == self._count:
            return counted(self._count, "row")
        return f"rows {self.first + 1} to {last} of {self._count:,}"

    def move(self, rows: int) -> None:
        """Move by rows, as far as there are any."""
        self.first += rows
        self.changed()

    def move_page(self, pages: int) -> None:
        """Move by pages; one row stays in view."""
        self.move(pages * max(self._room - 1, 1))

    def to_top(self) -> None:
        """Begin with the first row."""
        self.first = 0
        self.changed()

    def rows(self, width: int, height: int) -> list[Text]:
        before = self.place
        rows = self.seen(width, height)
        if self.place != before:
            self.post_message(self.Moved())
        return rows

    def seen(self, width: int, height: int) -> list[Text]:
        """The rows in view."""
        rows = self._draw(max(width - 2 * self._edge, 1))
        return [indented(row, self._edge) for row in self.in_view(rows, height)]

    def in_view(self, rows: Sequence[Row], room: int) -> Sequence[Row]:
        """Those of all rows that have room."""
        self._count, self._room = len(rows), max(room, 1)
        self.first = max(min(self.first, self._count - self._room), 0)
        return rows[self.first : self.first + self._room]

    def on_mouse_scroll_down(self) -> None:
        self.move(self.wheel)

    def on_mouse_scroll_up(self) -> None:
        self.move(-self.wheel)
