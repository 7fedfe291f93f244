"""Breaking text into rows, and copying it back out of them."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.segment import Segment

from keen_tui.ui.transcript.lines import Line, copied, lines_to_text, wrap, wrap_code

TEXT = st.text(st.sampled_from("ab  \n日é-"), max_size=120)


@given(TEXT, st.integers(2, 20))
def test_rows_are_never_wider_than_the_column(text: str, cells: int) -> None:
    assert all(line.cells <= cells for line in wrap([Segment(text)], cells))
    assert all(line.cells <= cells for line in wrap_code([Segment(text.replace("\n", " "))], cells))


@given(TEXT, st.integers(2, 20))
def test_no_character_but_blanks_is_lost_by_wrapping(text: str, cells: int) -> None:
    shown = "".join(line.text for line in wrap([Segment(text)], cells))
    assert "".join(shown.split()) == "".join(text.split())


@given(TEXT, st.integers(2, 20))
def test_wrapped_code_is_copied_as_it_was(text: str, cells: int) -> None:
    code = text.replace("\n", " ").rstrip() + "x"
    rows = wrap_code([Segment(code)], cells)
    assert "".join(row.text for row in rows) == code
    assert all(row.joint == "" for row in rows[1:])


def test_words_stay_whole_where_they_can() -> None:
    assert [line.text for line in wrap([Segment("one two three")], 8)] == ["one two", "three"]
    assert [line.text for line in wrap([Segment("a"), Segment("bcdefgh ij")], 4)] == ["abcd", "efgh", "ij"]


def test_wide_characters_count_two_cells() -> None:
    rows = wrap([Segment("日本語日本語")], 5)
    assert [cell_len(row.text) for row in rows] == [4, 4, 4]


def test_copied_text_has_no_wraps_and_no_decoration() -> None:
    rows = [line.behind((Segment("  > "),)) for line in wrap([Segment("one two three\nfour")], 8)]
    assert copied((row, 0, None) for row in rows) == "one two three\nfour"


def test_a_part_of_a_row_is_copied_from_its_first_to_its_last_character() -> None:
    assert copied([(Line((Segment("    hello world"),), skip=4), 10, 13)]) == "wor"


def test_lines_can_be_given_to_other_widgets() -> None:
    assert lines_to_text([Line((Segment("a"),)), Line((Segment("b"),))]).plain == "a\nb"
