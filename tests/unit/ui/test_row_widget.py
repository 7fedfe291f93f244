"""Rows of panes: how they are cut, and painted once."""

from __future__ import annotations

from itertools import combinations

from rich.text import Text
from textual.app import App, ComposeResult
from textual.strip import Strip

from keen_tui.frontends.tui.look.glyphs import UNICODE
from keen_tui.frontends.tui.look.themes import Styles
from keen_tui.frontends.tui.widgets.row_widget import RowWidget, cut_row, spread
from tests.support.screen import THEMES
from tests.support.waiting import until

STYLES = Styles(THEMES["keen-dark"])


class _SaidRows(RowWidget):
    """Shows the rows that it is given."""

    said: tuple[Text, ...] = ()

    def rows(self, width: int, height: int) -> list[Text]:
        return list(self.said)


class _RowsApp(App[None]):
    CSS = "_SaidRows { width: 1fr; height: 1fr; }"

    def __init__(self) -> None:
        super().__init__()
        self.view = _SaidRows(STYLES, UNICODE)

    def compose(self) -> ComposeResult:
        yield self.view


def test_a_row_says_that_something_was_lost() -> None:
    assert cut_row(Text("one two three"), 8).plain == "one two…"
    assert cut_row(Text("one two"), 8).plain == "one two"
    assert cut_row(Text("one two three"), 8, "").plain == "one two"


def test_a_row_that_is_cut_twice_says_it_once() -> None:
    once = cut_row(Text("one two three"), 8)
    assert cut_row(once, 7).plain == "one tw…"
    assert spread(Text("one tw…  "), Text("3 below"), 15).plain == "one tw… 3 below"
    assert cut_row(Text("one two…   2 h ago"), 9).plain == "one two…"


async def test_a_row_that_says_and_looks_the_same_is_painted_once_wherever_it_stands() -> None:
    app = _RowsApp()
    async with app.run_test(size=(20, 8)) as pilot:

        def shown(*rows: Text) -> list[Strip]:
            app.view.said = rows
            app.view.refresh()
            return [app.view.render_line(y) for y in range(len(rows))]

        (first,) = shown(Text("turn 1", STYLES("dim")))
        _, moved, *others = shown(
            Text("above"),
            Text("turn 1", STYLES("dim")),
            Text("turn 2", STYLES("dim")),
            Text("turn 1", STYLES("text")),
            Text.assemble("turn ", ("1", STYLES("ok"))),
            Text.assemble("turn ", ("1", STYLES("wait"))),
        )
        assert moved is first
        assert all(one != other for one, other in combinations((first, *others), 2))
        await pilot.resize_terminal(30, 8)
        await until(lambda: app.view.size.width == 30)
        (wider,) = shown(Text("turn 1", STYLES("dim")))
        assert (first.cell_length, wider.cell_length) == (20, 30)
        assert wider.text.rstrip() == first.text.rstrip() == "turn 1"
