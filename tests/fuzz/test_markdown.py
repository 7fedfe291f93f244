"""Markdown and what is none: drawn at every moment of its arrival, and the same however it arrived."""

from __future__ import annotations

import re
from collections.abc import Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from keen_tui.frontends.tui.markdown.stream import MarkdownStream, render_markdown
from keen_tui.frontends.tui.rows.lines import Line
from tests.fuzz.budget import LONG, examples
from tests.fuzz.corpora import COMMONMARK, DRIVING, NAUGHTY, WIDE
from tests.support.screen import look

LOOKS = {width: look(width) for width in (80, 24, 14)}
"""By the width of the column. In the narrow ones what is nested deep may be wider: the screen cuts it."""
ALL = (*COMMONMARK, *NAUGHTY, *DRIVING, *WIDE)
_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\ud800-\udfff\u202a-\u202e\u2066-\u2069\U000e0000-\U000e0fff]")
_DEPENDS_ON_CUTS = "\x1b"
"""Escape sequences that have no end."""

texts = st.one_of(
    st.text(st.characters(exclude_categories=()), max_size=60),
    st.lists(st.sampled_from(ALL), max_size=4).map("\n".join),
    st.lists(st.sampled_from(ALL), max_size=4).map("\n\n".join),
    st.lists(st.sampled_from(ALL).map(lambda text: text[: len(text) // 2]), max_size=5).map("".join),
)


def assert_drawn(lines: Iterable[Line], width: int) -> None:
    """No row is wider than the screen, and none holds what acts on a terminal or hides."""
    for line in lines:
        assert not _CONTROL.search(line.text), repr(line.text)
        assert width < 80 or cell_len(line.text) <= width, repr(line.text)


@examples(100, 10_000)
@given(texts, st.lists(st.integers(0, 40), max_size=8), st.sampled_from([80, 24, 14]))
def test_any_text_is_drawn_within_the_screen_while_it_arrives(text: str, cuts: list[int], width: int) -> None:
    chosen = LOOKS[width]
    stream, start = MarkdownStream(), 0
    for length in [*cuts, len(text)]:
        stream.feed(text[start : start + length])
        start += length
        assert_drawn(stream.lines(chosen), width)
    stream.finish()
    assert_drawn(stream.lines(chosen), width)
    if _DEPENDS_ON_CUTS not in text:
        assert list(stream.lines(chosen)) == list(render_markdown(text, chosen))


@pytest.mark.parametrize(
    "corpus", [COMMONMARK, NAUGHTY, DRIVING, WIDE], ids=["commonmark", "naughty", "driving", "wide"]
)
def test_every_text_is_drawn_at_every_prefix(corpus: tuple[str, ...]) -> None:
    """A letter at a time; few texts unless there is time for all."""
    chosen = LOOKS[80]
    for text in corpus if LONG else corpus[::29]:
        stream = MarkdownStream()
        for letter in text:
            stream.feed(letter)
            assert_drawn(stream.lines(chosen), 80)
        stream.finish()
        if _DEPENDS_ON_CUTS not in text:
            assert list(stream.lines(chosen)) == list(render_markdown(text, chosen)), text
