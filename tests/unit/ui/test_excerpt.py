"""Prose of any length: drawn with both its ends, copied whole."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from rich.segment import Segment
from rich.style import Style

from keen_tui.frontends.tui.rows.lines import wrap
from keen_tui.frontends.tui.state.state import CompactionBlock, NoticeBlock, ReasoningBlock, UserBlock
from keen_tui.frontends.tui.transcript.blocks.block_context import BlockContext
from keen_tui.frontends.tui.transcript.blocks.block_rows import draw_block, extent, source
from keen_tui.frontends.tui.transcript.blocks.excerpt import MOST_CHARACTERS, MOST_LINES, gap_in, wrap_prose
from keen_tui.frontends.tui.transcript.flow import Flow
from keen_tui.text.sanitize import clean
from tests.support.screen import look

LOOK = look()
ENDS = st.text(st.sampled_from("ab \n"), max_size=9)
WORDS = st.sampled_from(["word ", "x" * 99, "日本\n", "a line\n", "\n", "\x1b[1mb\x1b[0m "])


@given(ENDS, WORDS, st.sampled_from([3, 240, 999, 2_000, 9_000]), ENDS)
@example("", "x", MOST_CHARACTERS + 1, "")
@example("", "\n", MOST_LINES + 1, "")
def test_long_prose_is_drawn_with_both_ends_and_copied_whole(
    begin: str, word: str, times: int, end: str
) -> None:
    text = begin + word * times + end
    lines = wrap_prose(text, Style(), LOOK)
    whole = wrap([Segment(clean(text, newlines=True), Style())], LOOK.prose)
    if gap_in(text) is None:
        assert lines == whole
    else:
        assert len(lines) < 1_500
        assert sum(line.text.startswith("… ") for line in lines) == 1
        assert lines[0].text == whole[0].text
        assert "".join(Flow(lines).text.split()) == "".join(Flow(whole).text.split())


def test_what_is_left_out_is_counted_in_lines_or_in_characters() -> None:
    lines = "".join(f"line {number}\n" for number in range(1, 5_001))
    rows = [line.text for line in wrap_prose(lines, Style(), LOOK)]
    first = rows.index("… 4,000 more lines")
    assert (rows[first - 1], rows[first + 1], rows[-2]) == ("line 750", "line 4751", "line 5000")
    assert "… 960,000 more characters" in [line.text for line in wrap_prose("x" * 1_000_000, Style(), LOOK)]


def test_copied_lines_are_those_of_the_text() -> None:
    text = "".join(f"line {number}\n" for number in range(1, 5_001))
    assert Flow(wrap_prose(text, Style(), LOOK)).text == text


@pytest.mark.parametrize(
    "block",
    [
        UserBlock(turn=1, text="a word\n" * 500_000),
        NoticeBlock(turn=1, text="x" * 5_000_000),
        ReasoningBlock(turn=1, step=1, text="日本語 " * 1_000_000, seconds=1.0, open=False),
    ],
)
def test_a_huge_block_has_few_rows_and_about_as_many_are_expected(
    block: UserBlock | NoticeBlock | ReasoningBlock | CompactionBlock,
) -> None:
    rows = len(draw_block(block, BlockContext(look=LOOK, now=0.0, unfolded=True)))
    lines, characters = extent(block, "unfolded")
    expected = lines + characters // LOOK.prose
    assert rows < 2_000
    assert expected / 2 < rows < 2 * expected
    assert len(source(block)) == len(block.text)
