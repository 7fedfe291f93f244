"""Texts of any length as lines: read in pieces, with the same lines as read in one go."""

from __future__ import annotations

import re

from hypothesis import example, given
from hypothesis import strategies as st

from keen_tui.text.diff import MOST_ROWS, diff_display
from keen_tui.text.lines import endings, line_count, line_ends, lines_with_ends, pieces, usual_ending

WHOLE = 131_072
"""Characters that are read in one go."""

ENDS = st.sampled_from(["\n", "\r", "\r\n", "", "\n\r"])
TEXT = st.builds(
    lambda before, end, times, after: before + ("x" * 9 + end) * times + after,
    st.text(st.sampled_from("ab\r\n"), max_size=9),
    ENDS,
    st.sampled_from([0, 3, WHOLE // 11, WHOLE // 10, WHOLE // 9, WHOLE // 4]),
    st.text(st.sampled_from("ab\r\n"), max_size=9),
)


@given(TEXT)
@example("x" * (WHOLE - 1) + "\r\n" + "y")
@example("x" * WHOLE + "\r\n" + "y")
@example("\r" * WHOLE + "\n")
def test_lines_are_the_same_wherever_the_text_is_taken_apart(text: str) -> None:
    lines = re.findall(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+", text)
    assert lines_with_ends(text) == lines
    assert line_count(text) == line_count(text.encode()) == len(lines)
    ends = re.findall(r"\r\n|\r|\n", text)
    assert line_ends(text) == len(ends)
    assert endings(text) == set(ends)
    assert usual_ending(text) == (max(("\r\n", "\n", "\r"), key=ends.count) if ends else "")


@given(TEXT)
def test_pieces_are_whole_lines_and_short_unless_a_line_is_long(text: str) -> None:
    found = list(pieces(text))
    assert "".join(found) == text
    assert [piece.encode() for piece in found] == list(pieces(text.encode()))
    for piece in found:
        assert len(piece) <= WHOLE + 1 or line_count(piece) == 1
    assert sum(map(line_count, found)) == line_count(text)


@given(st.data())
def test_a_diff_counts_its_lines_from_the_beginning_of_the_file(data: st.DataObject) -> None:
    """What both texts begin and end with is not taken apart, and makes no difference."""
    line = st.builds(lambda word, end: word + end, st.sampled_from(["a", "b", ""]), ENDS)
    same = st.lists(line, max_size=12).map("".join)
    head, tail = data.draw(same), data.draw(same)
    before, after = (head + data.draw(same) + tail for _ in range(2))
    diff = diff_display("f", before, after)
    old, new = lines_with_ends(before), lines_with_ends(after)
    assert diff.total_lines == len(new)
    assert diff.added - diff.removed == len(new) - len(old)
    assert bool(diff.hunks) == (before != after)
    rows = [row for hunk in diff.hunks for row in hunk]
    assert len(rows) < MOST_ROWS
    for row in rows:
        there = old if row.sign == "-" else new
        assert there[row.number - 1].rstrip("\r\n") == row.text


def test_a_change_far_into_a_large_file_is_found_with_its_context() -> None:
    before = "".join(f"line {number}\n" for number in range(1, 50_001))
    diff = diff_display("f", before, before.replace("line 40000\n", "another\n"))
    (hunk,) = diff.hunks
    assert [(row.sign, row.number) for row in hunk] == [
        (" ", 39_997), (" ", 39_998), (" ", 39_999), ("-", 40_000), ("+", 40_000),
        (" ", 40_001), (" ", 40_002), (" ", 40_003),
    ]  # fmt: skip
    assert (diff.total_lines, diff.added, diff.removed, diff.left_out) == (50_000, 1, 1, 0)
