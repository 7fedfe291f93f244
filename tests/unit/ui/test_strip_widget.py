"""Widgets that are painted row by row: what is between a row and the terminal."""

from __future__ import annotations

from collections.abc import Sequence

from rich.segment import Segment
from textual.app import App, ComposeResult
from textual.filter import LineFilter
from textual.strip import Strip

from keen_tui.frontends.tui.terminal.filters import AsciiFilter, ControlFilter
from keen_tui.frontends.tui.terminal.strip_widget import StripWidget


class Rows(StripWidget):
    """Draws these rows."""

    def __init__(self, *rows: str) -> None:
        super().__init__()
        self.drawn = [Strip([Segment(row)]) for row in rows]

    def strips(self) -> list[Strip]:
        return self.drawn


class Filtered(App[None]):
    """Shows the rows behind our filters."""

    CSS = "Rows { height: 3; }"

    def __init__(self, *rows: str) -> None:
        super().__init__()
        self.shown = Rows(*rows)

    def compose(self) -> ComposeResult:
        yield self.shown

    def get_line_filters(self) -> Sequence[LineFilter]:
        return [ControlFilter(), AsciiFilter()]


async def test_each_filter_changes_rows_and_leaves_others_as_they_are() -> None:
    app = Filtered("a\x1b[2Jb", "plain", "✓\x07 — done")
    async with app.run_test():
        rows = [app.shown.render_line(y) for y in range(3)]
    assert [row.text for row in rows] == ["a[2Jb", "plain", "+ - done"]
    assert rows[1] is app.shown.drawn[1]
