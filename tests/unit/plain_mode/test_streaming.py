"""Text in whole lines, and Markdown in words."""

from __future__ import annotations

import pytest

from keen_tui.frontends.line.streaming import LineStream, read_out

LONG = "This sentence is long enough to be told before its paragraph has come to its end, is it not? And on"


def streamed(text: str, size: int, *, sentences: bool = False) -> list[str]:
    stream = LineStream(sentences=sentences)
    pieces = [text[start : start + size] for start in range(0, len(text), size)]
    return [line for piece in pieces for line in stream.take(piece)] + [*stream.end()]


@pytest.mark.parametrize("size", [1, 2, 5, 1000])
def test_lines_are_whole_however_they_come(size: int) -> None:
    assert streamed("one\ntwo\r\n\nthree", size) == ["one", "two", "", "three"]


def test_nothing_is_told_of_a_line_that_is_not_whole() -> None:
    stream = LineStream(sentences=True)
    assert [*stream.take("Half a sentence")] == []
    assert [*stream.take(" and its end.\n")] == ["Half a sentence and its end."]


@pytest.mark.parametrize("size", [1, 7, 1000])
def test_a_long_line_is_told_by_sentences_and_no_word_is_lost(size: int) -> None:
    lines = streamed(LONG, size, sentences=True)
    assert len(lines) == 2
    assert " ".join(lines) == LONG
    assert lines[0].endswith("is it not?")


def test_markdown_is_read_in_words_and_code_as_it_stands() -> None:
    prose = "# The end\n\n**Bold** and __strong__, `**not** this`\n\n---\n"
    text = f"{prose}```python\nx = 2 ** 3 ** 2\n# no heading\n```"
    assert [*read_out(text)] == [
        "Heading: The end",
        "Bold and strong, `**not** this`",
        "Code in python:",
        "x = 2 ** 3 ** 2",
        "# no heading",
        "End of code.",
    ]


def test_code_that_breaks_off_is_ended() -> None:
    assert [*read_out("```\nx")] == ["Code:", "x", "End of code."]
