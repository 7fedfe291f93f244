"""Rows of panes that are cut."""

from __future__ import annotations

from rich.text import Text

from keen_tui.frontends.tui.widgets.row_widget import cut_row, spread


def test_a_row_says_that_something_was_lost() -> None:
    assert cut_row(Text("one two three"), 8).plain == "one two…"
    assert cut_row(Text("one two"), 8).plain == "one two"


def test_a_row_that_is_cut_twice_says_it_once() -> None:
    once = cut_row(Text("one two three"), 8)
    assert cut_row(once, 7).plain == "one tw…"
    assert spread(Text("one tw…  "), Text("3 below"), 15).plain == "one tw… 3 below"
    assert cut_row(Text("one two…   2 h ago"), 9).plain == "one two…"
