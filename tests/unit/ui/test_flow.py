"""The rows of a block as text: what is joined, what is left out, and the way back to rows and columns."""

from __future__ import annotations

from hypothesis import example, given
from hypothesis import strategies as st
from rich.segment import Segment
from rich.style import Style

from keen_tui.domain.display import CommandDisplay, FileDisplay
from keen_tui.frontends.tui.look.glyphs import UNICODE
from keen_tui.frontends.tui.markdown.code import code_block
from keen_tui.frontends.tui.rows.lazy_lines import CopiedText, LazyLines
from keen_tui.frontends.tui.rows.lines import Line, wrap
from keen_tui.frontends.tui.tool_views import render_display
from keen_tui.frontends.tui.transcript.blocks.block_context import BlockContext
from keen_tui.frontends.tui.transcript.blocks.block_rows import draw_block
from keen_tui.frontends.tui.transcript.flow import Flow
from keen_tui.text.diff import diff_display
from tests.support.screen import DIFF, look, text_block, tool_block

PROSE = st.text(st.sampled_from("ab  \n日é-"), max_size=120)


@given(PROSE, st.integers(4, 20))
def test_wrapped_code_flows_as_it_was_written(text: str, cells: int) -> None:
    code = text.replace("\n", " ").rstrip() + "x"
    rows = code_block([code], lambda _: [(code, "text")], cells, look().styles, ground="panel")
    assert Flow(rows).text == Flow(list(rows)).text == code


@given(PROSE, st.integers(4, 20), st.integers(4, 20))
def test_a_place_in_the_text_is_the_same_for_every_width(text: str, cells: int, others: int) -> None:
    words = " ".join(text.split())
    one, other = Flow(wrap([Segment(words)], cells)), Flow(wrap([Segment(words)], others))
    assert one.text == other.text == words


@given(PROSE, st.integers(4, 20))
def test_every_column_leads_to_its_place_and_back(text: str, cells: int) -> None:
    rows = [row.behind((Segment("  "),)) for row in wrap([Segment(text)], cells)]
    flow = Flow(rows)
    for number, row in enumerate(rows):
        for column in range(row.skip, len(row.text.rstrip())):
            place = flow.place(number, column)
            assert flow.text[place] == row.text[column]
            assert flow.row(place) == number
            assert flow.columns(number, place, place + 1) == (column, column + 1)


def test_text_over_a_wrap_has_columns_in_both_rows() -> None:
    flow = Flow(wrap([Segment("one two three")], 8))
    assert flow.text == "one two three"
    assert flow.columns(0, 4, 9) == (4, 7)
    assert flow.columns(1, 4, 9) == (0, 1)
    assert flow.columns(2, 4, 9) is None


def test_decoration_is_no_text() -> None:
    context = BlockContext(look=look(), now=0.0, unfolded=True)
    call = Flow(draw_block(tool_block(name="edit_file", target="src/cart.py", display=DIFF), context)).text
    assert call.split("\n")[1] == "  def total(self) -> Money:"
    assert "▾" not in call
    reply = Flow(draw_block(text_block("- a list\n\n```\ncode\n```"), context)).text
    assert reply == "•  a list\n\ncode"


@example("aaaaaaaaaaaaa\t日a日", 8)
@given(st.text(st.sampled_from("ab  \n日é-\t"), max_size=200), st.integers(8, 30))
def test_rows_that_are_drawn_where_they_are_seen_flow_like_rows_drawn_at_once(text: str, width: int) -> None:
    text = "\n".join(line.rstrip() for line in text.split("\n"))
    displays = (
        CommandDisplay(command=text, output=text, exit_code=1),
        FileDisplay(path="a.py", text=text * 3),
        diff_display("a.py", text, text.replace("a", "b")),
    )
    for display in displays:
        lines = render_display(display, width, look().styles, UNICODE)
        lazy, whole = Flow(lines), Flow(list(lines))
        assert lazy.text == whole.text
        for row in range(len(lines)):
            assert lazy.bounds(row)[0] == whole.bounds(row)[0]
            assert lazy.place(row, 9) == whole.place(row, 9)
            place = whole.bounds(row)[0]
            assert lazy.columns(row, place, place + 1) == whole.columns(row, place, place + 1)
            if lazy.columns(row, place, place + 1):
                assert lazy.row(place) == whole.row(place) == row


def test_what_is_said_of_a_large_file_is_not_drawn_for_it() -> None:
    drawn: list[int] = []

    def draw(group: int) -> list[Line]:
        drawn.append(group)
        return [Line((Segment(f"row {group}"),))]

    flow = Flow(LazyLines([1] * 1_000, draw, lambda group: CopiedText("\n", f"row {group}")))
    place = flow.text.index("row 700")
    assert drawn == []
    assert flow.row(place) == 700
    assert flow.columns(700, place, place + 7) == (0, 7)
    assert drawn == [700]


def test_a_column_left_of_the_text_or_right_of_it_leads_to_its_edge() -> None:
    rows = [row.behind((Segment("    "),)).filled(20, Style.null()) for row in wrap([Segment("one")], 8)]
    flow = Flow(rows)
    assert [flow.place(0, column) for column in (0, 4, 5, 19)] == [0, 0, 1, 3]
    assert flow.place(7, 0) == 0
