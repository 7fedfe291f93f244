"""Breaking text into rows, and copying it back out of them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import accumulate

from hypothesis import example, given
from hypothesis import strategies as st
from rich.cells import cell_len, chop_cells
from rich.segment import Segment
from rich.style import Style

from keen_tui.frontends.tui.rows.lines import (
    Line,
    code_pieces,
    cut_into,
    lines_to_text,
    sliced,
    wrap,
)

TEXT = st.text(st.sampled_from("ab  \n日é-"), max_size=120)

ODD = ["a", "bc", " ", "\n", "日", "e\u0301", "\u200d", "\ufe0f", "👩‍💻", "❤️", "🇩🇪", "\u200b", "\t"]
WIDE = [(0x3001, 0x3029), (0x3041, 0x3096), (0x30A0, 0x30FF), (0x3400, 0x4DBF), (0x4E00, 0x9FFF),
        (0xAC00, 0xD7A3), (0xFF01, 0xFF60)]  # fmt: skip
RUNS = st.lists(
    st.builds(
        lambda pieces, bold: Segment("".join(pieces), Style(bold=bold)),
        st.lists(st.sampled_from(ODD), max_size=12),
        st.booleans(),
    ),
    max_size=5,
)


@given(TEXT, st.integers(2, 20))
def test_rows_are_never_wider_than_the_column(text: str, cells: int) -> None:
    assert all(line.cells <= cells for line in wrap([Segment(text)], cells))
    assert all(cell_len(piece) <= cells for piece in code_pieces(text.replace("\n", " "), cells))


@given(TEXT, st.integers(2, 20))
def test_no_character_but_blanks_is_lost_by_wrapping(text: str, cells: int) -> None:
    shown = "".join(line.text for line in wrap([Segment(text)], cells))
    assert "".join(shown.split()) == "".join(text.split())


@given(RUNS, st.integers(0, 12))
@example([Segment("\u200d\u200da" * 3)], 1)
def test_every_row_is_what_the_rule_says_character_by_character(runs: list[Segment], cells: int) -> None:
    """Wide characters, marks and joiners included; rows, joints and styles are those of the plain rule."""
    assert _faces(wrap(runs, cells)) == _by_the_rule(runs, max(cells, 1))


@given(RUNS, st.integers(0, 12))
@example([Segment("\u200d\u200da" * 3)], 1)
def test_code_is_broken_into_exactly_its_characters(runs: list[Segment], cells: int) -> None:
    text = "".join(run.text for run in runs)
    ends = [0, *accumulate(map(len, code_pieces(text, max(cells, 1))))]
    rows = cut_into(runs, ends)
    assert [face for row, _ in _faces(rows) for face in row] == _characters(runs)
    assert [row.joint for row in rows] == [None] + [""] * (len(rows) - 1)


@given(RUNS, st.integers(0, 60), st.integers(0, 60))
def test_a_slice_has_the_characters_between_its_ends(runs: list[Segment], first: int, last: int) -> None:
    assert _characters(sliced(runs, first, last)) == _characters(runs)[first : max(last, first)]


def test_words_stay_whole_where_they_can() -> None:
    assert [line.text for line in wrap([Segment("one two three")], 8)] == ["one two", "three"]
    assert [line.text for line in wrap([Segment("a"), Segment("bcdefgh ij")], 4)] == ["abcd", "efgh", "ij"]


def test_code_is_broken_behind_a_blank_where_one_is_near() -> None:
    def broken(code: str, cells: int) -> list[str]:
        return [*code_pieces(code, cells)]

    assert broken("one two three four", 10) == ["one two ", "three four"]
    assert broken("一二三 three four", 10) == ["一二三 ", "three four"]
    assert broken("f(" + "x" * 16 + ")", 10) == ["f(xxxxxxxx", "xxxxxxxx)"]
    assert broken("a " + "x" * 12, 10) == ["a xxxxxxxx", "xxxx"]
    assert broken("", 10) == [""]
    assert broken("e\u0301" * 25, 10) == ["e\u0301" * 10, "e\u0301" * 10, "e\u0301" * 5]


def test_every_script_that_is_taken_for_wide_is() -> None:
    wide = [chr(code) for first, last in WIDE for code in range(first, last + 1)]
    assert {cell_len(character) for character in wide} == {2}
    rows = wrap([Segment("".join(wide))], 9)
    assert {row.cells for row in rows[:-1]} == {8}
    assert "".join(row.text for row in rows) == "".join(wide)


def test_wide_characters_count_two_cells() -> None:
    rows = wrap([Segment("日本語日本語")], 5)
    assert [cell_len(row.text) for row in rows] == [4, 4, 4]


def test_lines_can_be_given_to_other_widgets() -> None:
    assert lines_to_text([Line((Segment("a"),)), Line((Segment("b"),))]).plain == "a\nb"


Face = tuple[str, Style | None]


def _characters(runs: Sequence[Segment]) -> list[Face]:
    return [(character, run.style) for run in runs for character in run.text]


def _faces(lines: list[Line]) -> list[tuple[list[Face], str | None]]:
    return [(_characters(line.segments), line.joint) for line in lines]


def _by_the_rule(runs: list[Segment], cells: int) -> list[tuple[list[Face], str | None]]:
    """What `wrap` must give, said in the plainest way: a row is filled word by word."""
    characters = _characters(runs)
    rows: list[tuple[list[Face], str | None]] = []
    position = 0
    for paragraph in "".join(run.text for run in runs).split("\n"):
        row, joint = "", None
        start = position
        words: list[str] = re.findall(r"\s*\S+\s*|\s+", paragraph)
        if len(paragraph) <= cells and cell_len(paragraph) <= cells:
            words = [paragraph]
        used = 0
        for word in words:
            bare, width = word.rstrip(), cell_len(word.rstrip())
            if used and used + width > cells:
                rows.append((characters[start : start + len(row.rstrip())], joint))
                start, row, joint, used = start + len(row), "", " ", 0
            if width > cells:
                pieces = chop_cells(bare, cells) or [bare]
                for piece in pieces[:-1]:
                    rows.append((characters[start : start + len(row) + len(piece)], joint))
                    start, row, joint = start + len(row) + len(piece), "", ""
                row += pieces[-1] + word[len(bare) :]
                used = cell_len(pieces[-1]) + len(word) - len(bare)
            else:
                row += word
                used += cell_len(word)
        rows.append((characters[start : start + len(row.rstrip())], joint))
        position += len(paragraph) + 1
    return rows
