"""A widget whose rows are still for another size shows those it has, instead of drawing all of them twice."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from rich.segment import Segment
from textual.app import App, ComposeResult
from textual.events import Resize
from textual.geometry import Region
from textual.strip import Strip

from keen_tui.frontends.tui.terminal.rows_of_before import RowsOfBefore
from keen_tui.frontends.tui.terminal.strip_widget import StripWidget
from tests.support.waiting import until


class LateRows(StripWidget):
    """Rows of a letter, the next one each time they are drawn; it knows its size when it is told."""

    letter = "a"
    known = 0
    hears = True

    def __init__(self) -> None:
        super().__init__()
        self.rows_of_before = RowsOfBefore(self, lambda: self.known == self.size.width)
        self.early: list[list[str]] = []
        """The pictures before it knew its size."""

    def strips(self) -> Iterator[Strip]:
        self.letter = chr(ord(self.letter) + 1)
        yield from [Strip([Segment(self.letter * self.size.width)])] * self.size.height

    def on_resize(self, event: Resize) -> None:
        self.known = event.size.width if self.hears else 0

    def render_lines(self, crop: Region) -> list[Strip]:
        before = self.letter
        rows = super().render_lines(crop)
        if self.known != self.size.width and self.letter == before:
            self.early.append([row.text for row in rows])
        return rows


class OneWidget(App[None]):
    CSS = "LateRows { width: 100%; height: 100%; }"

    def compose(self) -> ComposeResult:
        yield LateRows()


@pytest.mark.parametrize("hears", [True, False])
@pytest.mark.parametrize(
    ("size", "early"), [((8, 3), ["bbbbb   ", "bbbbb   ", "        "]), ((3, 1), ["bbb"])], ids=str
)
async def test_rows_of_another_size_are_shown_once_more(
    size: tuple[int, int], early: list[str], hears: bool
) -> None:
    app = OneWidget()
    async with app.run_test(size=(5, 2)) as pilot:
        rows = app.query_one(LateRows)
        await until(lambda: rows.known == 5)
        rows.letter, rows.early, rows.hears = "a", [], hears
        rows.refresh()
        await until(lambda: rows.letter == "b")
        await pilot.resize_terminal(*size)
        await until(lambda: rows.letter == "c")
        assert rows.early[:1] == [early]
        assert [row.text for row in rows.render_lines(Region(0, 0, *size))] == ["c" * size[0]] * size[1]
