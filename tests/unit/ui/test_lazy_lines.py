"""Rows that are drawn where they are seen: as many as was said, and the same as if all were drawn."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Sequence

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from rich.segment import Segment

from keen_tui.domain.display import CommandDisplay, Display, FileDisplay, FileListDisplay, TextDisplay
from keen_tui.frontends.tui.look.glyphs import UNICODE
from keen_tui.frontends.tui.rows.lazy_lines import LazyLines, joined, one_row
from keen_tui.frontends.tui.rows.lines import Line
from keen_tui.frontends.tui.tool_views import render_display
from keen_tui.frontends.tui.tool_views.side_by_side import draw_side_by_side
from keen_tui.frontends.tui.transcript.flow import Flow
from keen_tui.text.diff import diff_display
from tests.support.screen import look

ODD = ["a", "bc ", "日", "e\u0301", "\u200d", "👩‍💻", "\n", "\t", "x" * 50]
TEXT = st.lists(st.sampled_from(ODD), max_size=60).map("".join)


def row(text: str) -> Line:
    return Line((Segment(text),))


class Drawing:
    """Three groups of rows, and which of them were drawn."""

    def __init__(self) -> None:
        self.drawn: list[int] = []
        self.lines = LazyLines([1, 0, 3], self._draw)

    def _draw(self, group: int) -> Sequence[Line]:
        self.drawn.append(group)
        return [row(f"{group}.{number}") for number in range((1, 0, 3)[group])]


def test_only_what_is_looked_at_is_drawn_and_that_once() -> None:
    drawing = Drawing()
    assert len(drawing.lines) == 4
    assert drawing.drawn == []
    assert [drawing.lines[index].text for index in (2, -1, 1)] == ["2.1", "2.2", "2.0"]
    assert drawing.drawn == [2]


def test_rows_are_a_sequence_like_any_other() -> None:
    lines = Drawing().lines
    assert [line.text for line in lines] == ["0.0", "2.0", "2.1", "2.2"]
    assert [line.text for line in lines[1:3]] == ["2.0", "2.1"]
    assert [line.text for line in lines.mapped(lambda line: row(line.text + "!"))[-2:]] == ["2.1!", "2.2!"]
    both = joined(one_row(row("first")), lines)
    assert [line.text for line in both] == ["first", "0.0", "2.0", "2.1", "2.2"]
    with pytest.raises(IndexError):
        lines[4]


@given(TEXT, st.integers(3, 60))
@example("日" * 100, 3)
def test_a_display_has_as_many_rows_as_it_says_and_shows_all_of_the_text(text: str, width: int) -> None:
    styles = look().styles
    displays: list[Display] = [
        TextDisplay(text=text),
        CommandDisplay(command=text, output=text, exit_code=1),
        FileDisplay(path="a.py", text=text, first_line=9),
        FileListDisplay(lines=tuple(text.split("\n")), more=3),
        diff_display("a.py", text, text.replace("a", "b")),
    ]
    for display in displays:
        lines = render_display(display, width, styles, UNICODE)
        assert len(list(lines)) == len(lines)
        assert [lines[index] for index in range(len(lines))] == list(lines)
    shown = Flow(render_display(TextDisplay(text=text), width, styles, UNICODE)).text
    assert shown.split() == text.expandtabs(4).split()
    beside = draw_side_by_side(
        diff_display("a.py", text, text.replace("a", "b")), width, styles, UNICODE, "panel"
    )
    assert len(list(beside)) == len(beside)


@pytest.mark.parametrize("cells", range(2, 60, 3))
def test_groups_of_rows_begin_where_the_one_before_ended(cells: int) -> None:
    """Marks without a width behind a blank, then wide characters: the last row of a group alone would be
    longer than it is with what follows."""
    wide = "\u4e2d" * ((cells - 1) // 2)
    line = "y" * (cells * 29) + "z" * (cells - 1) + " " + "\u0301" * 25 + " " + wide + "\u4e2d\u4e2d"
    shown = render_display(diff_display("a.txt", "", f"{line}\n"), cells + 9, look().styles, UNICODE)
    rows = shown[: len(shown)]
    assert all(row.cells == cells + 9 for row in rows)
    assert "".join(row.text[8:].rstrip() for row in rows).replace(" ", "") == line.replace(" ", "")


def test_one_line_of_megabytes_is_drawn_where_it_is_seen() -> None:
    display = FileDisplay(path="a.json", text="0123456789" * 500_000, first_line=1)
    lines = render_display(display, 80, look().styles, UNICODE)
    assert len(lines) == -(-5_000_000 // 72)
    assert lines[0].text[:10] == "    1  012"
    assert lines[40_000].text.strip() == ("0123456789" * 9)[40_000 * 72 % 10 :][:72]
    assert lines[40_000].joint == ""


def test_colours_reach_a_line_as_far_down_as_it_stands() -> None:
    code = 'x = 1\n"""a string\n' * 40
    lines = render_display(FileDisplay(path="a.py", text=code), 80, look().styles, UNICODE)
    whole = [
        line.segments
        for line in render_display(FileDisplay(path="a.py", text=code), 80, look().styles, UNICODE)
    ]
    assert lines[60].segments == whole[60]
    assert lines[3].segments == whole[3]


def test_rows_that_nobody_needs_leave_no_garbage() -> None:
    rows = one_row(Line())
    found = weakref.ref(rows)
    gc.disable()
    try:
        del rows
        assert found() is None
    finally:
        gc.enable()
