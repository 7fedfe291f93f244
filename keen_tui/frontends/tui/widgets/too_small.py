"""The page for terminals that are too small for anything else."""

from __future__ import annotations

from rich.text import Text
from textual.css.query import NoMatches
from textual.geometry import Size
from textual.screen import Screen

from keen_tui.frontends.tui.look.glyphs import Glyphs
from keen_tui.frontends.tui.look.layout import SMALLEST, layout_of
from keen_tui.frontends.tui.look.themes import Styles
from keen_tui.frontends.tui.widgets.row_widget import RowWidget


class TooSmall(RowWidget):
    """Says so, and how large the terminal has to be."""

    def rows(self, width: int, height: int) -> list[Text]:
        words = Text("too small"[:width], self.look("text"))
        size = Text(f"{SMALLEST.width} x {SMALLEST.height} at least"[:width], self.look("soft"))
        for row in (words, size):
            row.pad_left(max((width - row.cell_len) // 2, 0))
        return [Text()] * (max(height - 2, 0) // 2) + [words, size]


def cover(page: Screen[object], size: Size, styles: Styles, glyphs: Glyphs) -> None:
    """Lay that over a page where the terminal is too small, and take it away where it isn't. The page below
    keeps its focus and what was typed there."""
    is_tiny = layout_of(size).tiny
    try:
        covering = page.query_one("#cover", TooSmall)
    except NoMatches:
        if is_tiny:
            page.mount(TooSmall(styles, glyphs, id="cover"))
    else:
        covering.display = is_tiny
