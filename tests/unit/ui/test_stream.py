"""Streamed Markdown: however it is cut on its way, it is drawn the same, and what is drawn stays."""

from __future__ import annotations

from collections.abc import Iterable

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from keen_tui.frontends.tui.markdown.code import PAD
from keen_tui.frontends.tui.markdown.highlight import highlight
from keen_tui.frontends.tui.markdown.splitter import (
    CODE_LINES,
    LIST_ITEMS,
    PARAGRAPH,
    TABLE_ROWS,
    Splitter,
)
from keen_tui.frontends.tui.markdown.stream import MarkdownStream, render_markdown
from keen_tui.frontends.tui.rows.lines import Line, code_pieces
from keen_tui.frontends.tui.rows.render_style import RenderStyle
from keen_tui.frontends.tui.transcript.flow import Flow
from keen_tui.text.highlighting import Coloured, load
from keen_tui.text.markdown import parse
from tests.support.screen import look

LOOK = look()
WORDS = st.sampled_from(["word", "**bold**", "`code`", "[link](http://x.y)", "*it*", "a | b", "# no", "1. x"])
LINE = st.lists(WORDS, min_size=1, max_size=8).map(" ".join)
BLOCK = st.one_of(
    LINE,
    st.lists(LINE, min_size=1, max_size=3).map("\n".join),
    LINE.map("## {}".format),
    st.lists(LINE, min_size=1, max_size=40).map(lambda rows: "\n".join(f"- {row}" for row in rows)),
    st.lists(LINE, min_size=1, max_size=30).map(
        lambda rows: "\n\n".join(f"{number}. {row}" for number, row in enumerate(rows, 3))
    ),
    st.lists(LINE, min_size=1, max_size=80).map(lambda rows: "\n".join(("```python", *rows, "```"))),
    st.lists(LINE, min_size=1, max_size=3).map(lambda rows: "\n".join(f"> {row}" for row in rows)),
    st.integers(1, 50).map(
        lambda rows: "| a | b |\n|---|--:|\n" + "\n".join(f"| {row} | x |" for row in range(rows))
    ),
    st.just("---"),
    st.just("~~~\nopen fence"),
)
ODD_LINES: st.SearchStrategy[Coloured] = st.sampled_from([[], [("another text" * 9, "name")]])
DOCUMENT = st.lists(BLOCK, max_size=8).map("\n\n".join)


def streamed(text: str, cuts: list[int], *, draw_between: bool = False) -> list[Line]:
    stream = MarkdownStream()
    start = 0
    for length in cuts:
        stream.feed(text[start : start + length])
        start += length
        if draw_between:
            stream.lines(LOOK)
    stream.feed(text[start:])
    stream.finish()
    return list(stream.lines(LOOK))


def whole(text: str, chosen: RenderStyle = LOOK) -> list[Line]:
    return list(render_markdown(text, chosen))


def texts(lines: Iterable[Line]) -> list[str]:
    return [line.text.rstrip() for line in lines]


@settings(max_examples=60)
@given(DOCUMENT, st.lists(st.integers(1, 200), max_size=30))
def test_text_cut_anywhere_is_drawn_as_in_one_piece(text: str, cuts: list[int]) -> None:
    assert streamed(text, cuts, draw_between=True) == whole(text)


FENCES = ("```", "```py\n", "~~~\n", "   ```\n")
BLOCKS = (
    "- a",
    "1. b",
    "    code",
    " - c",
    "> q",
    "# h",
    "text",
    "| a | b |\n|---|---|\n| 1 | 2 |",
    "---",
    "===",
)
BITS = ("\n", "\n\n", "\t", "  ", "[x]: http://y", "[x]", "<b>", "`", "**", "\\")
ODDS = st.sampled_from((*FENCES, *BLOCKS, *BITS))


@settings(max_examples=300)
@example("```py\n```py\n\t")
@example("- a\n   ```\n\n\t")
@given(st.lists(ODDS, max_size=25).map("".join) | st.lists(ODDS, max_size=25).map("\n".join))
def test_a_text_that_is_parsed_in_one_go_is_drawn_as_one_that_is_cut(text: str) -> None:
    assert whole(text) == streamed(text, [])


@pytest.mark.parametrize(
    "text",
    [
        "- a\n- b\n\n1. c\n2. d\n\n---\n\n- e",
        "Title\n===\n\npara\n---\nx",
        "a | b\n--|--\n1 | 2\n\nafter",
        "````\n```\n````\ntext",
        "1. one\n\n   ```py\n   x = 1\n   ```\n\n2. two",
        "red \x1b[31mtext\x1b[0m, bell \x07\r\nnext",
        "red \x9b31mtext, another set \x1b(0 of letters",
        "a\n\n\u00a0\n\nb",
        "\u3000",
        "text\n>",
    ],
)
def test_text_fed_letter_by_letter_is_drawn_as_in_one_piece(text: str) -> None:
    assert streamed(text, [1] * len(text)) == whole(text)


LONG_BLOCKS = {
    "fence": "```python\n" + "\n".join(f"x = {row}" for row in range(CODE_LINES * 3)),
    "list": "\n".join(f"- item {row}" for row in range(LIST_ITEMS * 4)),
    "table": "| a | b |\n|---|---|\n" + "\n".join(f"| {row} | x |" for row in range(TABLE_ROWS * 4)),
    "paragraph": "word and another " * (PARAGRAPH // 4),
}


@pytest.mark.parametrize("kind", LONG_BLOCKS)
def test_the_tail_of_a_block_without_end_stays_short(kind: str) -> None:
    splitter = Splitter()
    longest = 0
    for start in range(0, len(LONG_BLOCKS[kind]), 50):
        splitter.feed(LONG_BLOCKS[kind][start : start + 50])
        tail = splitter.tail()
        longest = max(longest, len(tail.source) if tail else 0)
    assert longest <= PARAGRAPH + 50
    assert len(splitter.pieces) >= 2


@pytest.mark.parametrize("kind", ["fence", "list", "table"])
def test_a_long_block_in_pieces_shows_every_row_without_a_gap(kind: str) -> None:
    rows = texts(render_markdown(LONG_BLOCKS[kind], LOOK))
    assert "" not in rows
    heads = {"fence": 0, "list": 0, "table": 2}[kind]
    counts = {"fence": CODE_LINES * 3, "list": LIST_ITEMS * 4, "table": TABLE_ROWS * 4}
    assert len(rows) == counts[kind] + heads


def test_numbers_go_on_where_a_long_list_is_cut() -> None:
    rows = texts(render_markdown("\n".join(f"1. item {row}" for row in range(1, 60)), LOOK))
    assert rows[0] == "    1. item 1"
    assert rows[58] == "    59. item 59"


@settings(max_examples=200)
@given(DOCUMENT)
@example("a\n\n- b\n\n\n# c\n" * 20)
def test_a_piece_has_the_blocks_of_its_own_text(text: str) -> None:
    splitter = Splitter()
    splitter.feed(text)
    splitter.finish()
    kept = [piece for piece in splitter.pieces if piece.blocks is not None]
    assert [piece.blocks for piece in kept] == [parse(piece.source) for piece in kept]


def test_another_width_parses_and_colours_nothing_again(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "# One\n\n- two\n\n```python\nreturn 3\n```\n\nfour " + "words " * 30
    load("python", "")
    stream = MarkdownStream()
    stream.feed(text)
    stream.finish()
    list(stream.lines(LOOK))
    for name in ("stream.parse", "late_rows.highlight"):
        monkeypatch.setattr(f"keen_tui.frontends.tui.markdown.{name}", None)
    narrow = list(stream.lines(look(width=30)))
    monkeypatch.undo()
    assert narrow == whole(text, look(width=30)) and narrow != whole(text)


def test_code_that_nobody_reads_is_not_coloured(monkeypatch: pytest.MonkeyPatch) -> None:
    coloured: list[str] = []

    def watched(code: str, language: str) -> list[Coloured]:
        coloured.append(code)
        return highlight(code, language)

    monkeypatch.setattr("keen_tui.frontends.tui.markdown.late_rows.highlight", watched)
    long = "x = " + "one + " * 40
    rows = render_markdown(f"```\na\n```\n\ntext\n\n```\n{long}\nb\n\n```\n", LOOK)
    height = len(rows)
    assert coloured == []
    assert texts(rows[-2:]) == ["      b", ""]
    assert coloured == [f"{long}\nb\n"]
    assert height == len(list(rows)) > 8
    assert coloured[1:] == ["a"]


@given(st.text(st.sampled_from("ab  \n日e\u0301-{"), max_size=150), st.integers(5, 30), st.none() | ODD_LINES)
def test_code_has_as_many_rows_as_it_says(text: str, width: int, odd: Coloured | None) -> None:
    """Also if the colours are those of another text."""
    colours = highlight if odd is None else lambda *_: [odd] * (text.count("\n") + 1)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("keen_tui.frontends.tui.markdown.late_rows.highlight", colours)
        rows = render_markdown(f"~~~\n{text}\n~~~", look(width=width))
        again = [rows[number] for number in range(len(rows))]
    assert again == list(rows)
    cells = look(width=width).wide - 2 * PAD
    assert len(rows) == sum(len([*code_pieces(line, cells)]) for line in text.split("\n"))
    assert {row.cells for row in again} <= {look(width=width).wide + 4}
    if odd is None:
        assert Flow(again).text == "\n".join(line.rstrip() for line in text.split("\n"))


def test_finished_blocks_are_not_drawn_again() -> None:
    stream = MarkdownStream()
    stream.feed("first block\n\nsecond block\n\nthird")
    before = stream.lines(LOOK)
    stream.feed(" goes on")
    after = stream.lines(LOOK)
    assert all(old is new for old, new in zip(before[:2], after[:2], strict=True))
    assert after[-1].text.endswith("third goes on")


def test_a_definition_applies_to_the_text_after_it() -> None:
    stream = MarkdownStream()
    stream.feed("[docs]: http://x.y\n\nsee [docs]")
    assert texts(stream.lines(LOOK)) == ["    see docs"]
    stream.feed(" and\n\n# More\n\n[Docs]")
    assert texts(stream.lines(LOOK))[-1] == "    Docs"


def test_a_definition_applies_to_the_text_before_it_when_the_text_ends() -> None:
    stream = MarkdownStream()
    stream.feed("see [docs]\n\nand [docs][]\n\n[docs]: http://x.y")
    assert texts(stream.lines(LOOK))[0] == "    see [docs]"
    stream.finish()
    assert texts(stream.lines(LOOK)) == ["    see docs", "", "    and docs"]


def test_the_first_definition_of_a_label_counts_in_every_piece() -> None:
    text = "[a]: http://first.org\n\n# One\n\n[a]\n\n# Two\n\n[a]\n\n[a]: http://second.org"
    links = [part.style.link for line in render_markdown(text, LOOK) for part in line.segments if part.style]
    assert [link for link in links if link] == ["http://first.org"] * 2


@pytest.mark.parametrize("end", ["|", "| ", "|1", "| 1 |"])
def test_a_row_of_a_table_that_begins_adds_no_rows_but_its_own(end: str) -> None:
    stream = MarkdownStream()
    stream.feed("| a | b |\n|---|---|\n| 0 | x |\n" + end)
    assert len(stream.lines(LOOK)) == 3 + ("1" in end)


def test_an_open_fence_shows_its_code_at_once() -> None:
    stream = MarkdownStream()
    stream.feed("```python\nreturn 1")
    assert texts(stream.lines(LOOK)) == ["      return 1"]


def test_blocks_that_come_all_at_once_are_cut_as_well() -> None:
    splitter = Splitter()
    splitter.feed("\n\n".join(["intro", *LONG_BLOCKS.values(), "outro\n"]).replace("x = 191", "```"))
    tail = splitter.tail()
    assert tail is not None and tail.source.strip() == "outro"
    assert all(len(piece.source) <= PARAGRAPH for piece in splitter.pieces)


def test_a_list_after_a_long_list_is_cut_before_more_text_comes() -> None:
    splitter = Splitter()
    splitter.feed("- a\n" * (LIST_ITEMS + 1) + "\npara\n\n" + "1. b\n" * (LIST_ITEMS + 1))
    assert [piece.number for piece in splitter.pieces] == [None, 1 + LIST_ITEMS, None]
