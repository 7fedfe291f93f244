"""Markdown as a tree: tables and strikethrough of GFM, links, positions, and texts that mean no good."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keen_tui.export.html_markdown import html_of
from keen_tui.text.markdown import DEEPEST, MarkdownBlock, definitions, every, line_start, parse
from tests.fuzz.budget import examples
from tests.fuzz.corpora import COMMONMARK, NAUGHTY, WIDE

TABLE = "| a | b |\n|---|--:|\n"


def said(block: MarkdownBlock) -> str:
    """All text of a block."""
    inline = "".join(text for part in every([block]) for kind, text in part.inline if kind in TEXTS)
    return block.text + inline


TEXTS = ("text", "code", "html")


def cells(text: str) -> list[list[str]]:
    """The text in each cell of the only table."""
    [table] = parse(text)
    assert table.kind == "table"
    return [[said(cell) for cell in row.blocks] for row in table.blocks]


def kinds(text: str) -> list[str]:
    return [block.kind for block in parse(text)]


# Tables and strikethrough


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (TABLE + "| 1 | 2 |", [["a", "b"], ["1", "2"]]),
        ("a | b\n-|-\n1 | 2", [["a", "b"], ["1", "2"]]),
        ("| a |\n|---|", [["a"]]),
        (TABLE + "| 1 |\n| 1 | 2 | 3 |", [["a", "b"], ["1", ""], ["1", "2"]]),
        (TABLE + "1\n2 | 3", [["a", "b"], ["1", ""], ["2", "3"]]),
        (TABLE + r"| `x\|y` | **\|** |", [["a", "b"], ["x|y", "|"]]),
        ("  | a | b |\n  |---|---|\n   1 | 2", [["a", "b"], ["1", "2"]]),
    ],
)
def test_a_table_has_the_cells_of_its_head_in_every_row(text: str, shown: list[list[str]]) -> None:
    assert cells(text) == shown


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("| a | b |\n|---|\n| 1 |", ["paragraph"]),
        ("| a |\n| 1 |", ["paragraph"]),
        ("text\n" + TABLE + "| 1 | 2 |", ["paragraph", "table"]),
        (TABLE + "| 1 | 2 |\n> quote", ["table", "quote"]),
        (TABLE + "| 1 | 2 |\n\ntext", ["table", "paragraph"]),
        (TABLE + "| 1 | 2 |\n- item", ["table", "list"]),
        ("    | a |\n    |---|", ["code"]),
    ],
)
def test_a_table_begins_and_ends_where_it_should(text: str, shown: list[str]) -> None:
    assert kinds(text) == shown


def test_columns_are_aligned_as_their_marks_say() -> None:
    [table] = parse("| a | b | c | d |\n|:--|:-:|--:|---|\n")
    assert table.columns == ("left", "center", "right", "")


@pytest.mark.parametrize(
    ("text", "html"),
    [
        ("~~Hi~~ there", "<s>Hi</s> there"),
        ("~~a **b**~~", "<s>a <strong>b</strong></s>"),
        ("a~~b~~c", "a<s>b</s>c"),
        ("~~a\n\nb~~", "~~a</p>\n<p>b~~"),
        ("x ~~~a~~~ b", "x ~~~a~~~ b"),
        (r"\~~a~~", "~~a~~"),
        ("PATH=~/bin:~/.local/bin", "PATH=~/bin:~/.local/bin"),
        ("~a~ *~b~*", "~a~ <em>~b~</em>"),
    ],
)
def test_two_tildes_strike_through_and_one_is_text(text: str, html: str) -> None:
    assert html_of(text) == f"<p>{html}</p>\n"


# Links


@pytest.mark.parametrize(
    ("link", "address"),
    [
        ("[x](https://a.org/b?c=d&e=f%20g#h)", "https://a.org/b?c=d&e=f%20g#h"),
        ("[x](<https://a.org/b c>)", "https://a.org/b%20c"),
        ("[x](https://a.org/ä)", "https://a.org/%C3%A4"),
        ("[x](https://bücher.example/)", "https://xn--bcher-kva.example/"),
        ("[x](https://a.org/&#27;]8;;y)", "https://a.org/%1B%5D8;;y"),
        ('[x](https://a.org/"<>)', "https://a.org/%22%3C%3E"),
        ("<me@a.org>", "mailto:me@a.org"),
        ("[x][y]\n\n[Y]: /z", "/z"),
    ],
)
def test_an_address_has_only_characters_that_act_on_nothing(link: str, address: str) -> None:
    assert [text for kind, text in parse(link)[0].inline if kind == "link"] == [address]


@pytest.mark.parametrize(
    "link",
    [
        "[a *b*](javascript:c)",
        "[a](JavaScript:c 'd')",
        "<vbscript:a>",
        "![a](file:///etc/passwd)",
        "[a](data:text/html,b)",
    ],
)
def test_a_link_that_runs_something_is_text(link: str) -> None:
    assert parse(f"{link} **b**")[0].inline[:2] == [("text", link), ("text", " ")]


def test_definitions_from_elsewhere_win() -> None:
    known = definitions("[A  b]: /first\n[a b]: /second\n\ntext")
    inside = [text for kind, text in parse("[a B] [c]\n\n[a b]: /own", known)[0].inline if kind == "link"]
    assert known == {"a b": "/first"}
    assert inside == ["/first"]


# Positions


@examples(150, 10_000)
@given(
    st.lists(st.sampled_from((*COMMONMARK, *NAUGHTY[::7], *WIDE, "- ä\n", "> ö\n", "``` ü\né\n")), max_size=5)
)
def test_blocks_stand_where_they_say(texts: list[str]) -> None:
    """Each block at the top, read alone with all after it, is the first one there."""
    text = "\n\n".join(texts).encode(errors="replace").decode()
    for block in parse(text):
        assert 0 <= block.start <= block.end <= len(text)
        [first, *_] = parse(text[line_start(text, block.start) :], definitions(text))
        assert (first.kind, said(first)) == (block.kind, said(block))


# Texts that mean no good

HOSTILE = {
    "quotations": "> " * 10_000 + "end",
    "bare quotations": ">" * 10_000 + "end",
    "lists": "- " * 10_000 + "end",
    "numbers": "1. " * 10_000 + "end",
    "indented lists": "".join(f"{'  ' * depth}- a\n" for depth in range(300)) + "  " * 300 + "end",
    "lists in quotations": "> - " * 5_000 + "end",
    "brackets": "[" * 10_000 + "end",
    "closed brackets": "[" * 5_000 + "]" * 5_000 + "end",
    "images": "![" * 10_000 + "end",
    "links in links": "[a](" * 10_000 + "end",
    "emphasis": "*a **b " * 5_000 + "end",
    "nested emphasis": "*a " * 2_000 + "b* " * 2_000 + "end",
    "code": "".join("`" * count + " " for count in range(200)) + "end",
    "tags": "<a " * 10_000 + "end",
    "columns": "|" * 5_000 + "\n" + "|-" * 5_000 + "|\n\nend",
    "definitions": "[a]: b\n" * 5_000 + "\nend",
    "references": "[a]: b\n\n" + "[a]" * 5_000 + "end",
    "one line": "word " * 20_000 + "end",
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_texts_keep_their_end(name: str) -> None:
    text = HOSTILE[name]
    blocks = parse(text)
    assert said(blocks[-1]).endswith("end")
    assert depth(blocks) <= DEEPEST + 4
    assert "end" in html_of(text)


def depth(blocks: list[MarkdownBlock]) -> int:
    return max((1 + depth(block.blocks) for block in blocks), default=0)


@pytest.mark.parametrize(
    "text", ["\ud800 a [\udfff](\udc00)", "\0", "```\ud800\n\udfff", "&#xD800; &#0; &#x110000;"]
)
def test_what_cannot_be_encoded_is_read(text: str) -> None:
    inside = "".join(map(said, parse(text)))
    assert inside
    inside.encode()
