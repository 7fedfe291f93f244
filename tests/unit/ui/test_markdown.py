"""How Markdown looks as rows."""

from __future__ import annotations

from collections.abc import Iterable

import pytest
from rich.segment import Segment

from keen_tui.frontends.tui.markdown.stream import render_markdown
from keen_tui.frontends.tui.rows.lines import Line
from tests.support.screen import look

LOOK = look()


def rows(text: str, width: int = 80) -> list[str]:
    return [line.text.rstrip() for line in render_markdown(text, look(width))]


def segment(lines: Iterable[Line], text: str) -> Segment:
    return next(part for line in lines for part in line.segments if text in part.text)


def test_prose_begins_at_the_text_edge_and_wraps_at_the_right_one() -> None:
    shown = rows("word " * 40)
    assert all(row.startswith("    word") and len(row) <= 76 for row in shown)
    assert max(len(row) for row in rows("word " * 99, width=200)) <= 100


def test_lists_are_indented_by_their_marks() -> None:
    assert rows("- a\n  - b\n    1. c\n- d") == ["    •  a", "       •  b", "          1. c", "    •  d"]


def test_loose_lists_have_blank_lines() -> None:
    assert rows("1. a\n\n2. b") == ["    1. a", "", "    2. b"]


def test_a_quotation_has_its_line_in_the_glyph_column() -> None:
    assert rows("> said\n>\n> again") == ["  │ said", "  │", "  │ again"]


def test_a_table_has_a_rule_under_its_head_and_aligned_columns() -> None:
    assert rows("| name | n |\n|---|--:|\n| a | 100 |") == [
        "    name     n",
        "    ──────────",
        "    a      100",
    ]


def test_a_table_too_wide_for_the_column_is_wrapped_inside_its_cells() -> None:
    shown = rows("| a | b |\n|---|---|\n| " + "word " * 20 + "| " + "word " * 20 + "|", width=60)
    assert all(len(row) <= 56 for row in shown)
    assert sum(row.count("word") for row in shown) == 40


def test_html_and_images_are_shown_as_text() -> None:
    assert rows("<b>x</b> ![a plan](plan.png)") == ["    <b>x</b> a plan"]


def test_html_keeps_its_lines_and_ends_at_an_empty_one() -> None:
    text = "<details>\n  <summary>**Log**</summary>\n\n- a\n\n</details>\n\none<br>*two*"
    assert rows(text) == [
        "    <details>",
        "      <summary>**Log**</summary>",
        "",
        "    •  a",
        "",
        "    </details>",
        "",
        "    one<br>two",
    ]


def test_addresses_in_html_can_be_opened() -> None:
    style = segment(render_markdown('<div>\n<a href="https://x.y/z">', LOOK), "https").style
    assert style is not None and style.link == "https://x.y/z"


def test_boxes_of_tasks_are_shown_as_written() -> None:
    assert rows("- [ ] a\n- [x] b") == ["    •  [ ] a", "    •  [x] b"]


def test_a_list_in_a_list_has_empty_lines_of_its_own() -> None:
    assert rows("- a\n  - b\n\n  - c\n- d") == ["    •  a", "       •  b", "", "       •  c", "    •  d"]


def test_a_list_that_is_nested_too_deep_keeps_its_text() -> None:
    assert "end" in rows("- " * 500 + "end", width=200)[0]


def test_links_can_be_opened_by_terminal_and_click() -> None:
    lines = render_markdown("[docs](https://x.y/z) and https://a.b/c.", LOOK)
    named, bare = segment(lines, "docs").style, segment(lines, "https").style
    assert named is not None and bare is not None
    assert named.link == "https://x.y/z"
    assert named.meta["href"] == "https://x.y/z"
    assert bare.link == "https://a.b/c"


@pytest.mark.parametrize(
    ("link", "shown"),
    [
        ("[https://good.org](https://evil.org/x)", "https://good.org (evil.org)"),
        ("[good.org](https://good.org.evil.org)", "good.org (good.org.evil.org)"),
        ("[good.org](https://good.org@evil.org/)", "good.org (evil.org)"),
        ("[www.good.org/a](javascript:alert)", "[www.good.org/a](javascript:alert)"),
        ("[good.org/a](mailto:a@evil.org)", "good.org/a (evil.org)"),
        ("[https://good.org/a](https://good.org/b)", "https://good.org/a"),
        ("[the docs](https://x.y/z)", "the docs"),
        ("[app.py](https://x.org/app.py)", "app.py (x.org)"),
    ],
)
def test_a_link_whose_text_names_another_address_says_where_it_leads(link: str, shown: str) -> None:
    assert "".join(segment.text for segment in render_markdown(link, LOOK)[0].segments).strip() == shown


@pytest.mark.parametrize("address", ["javascript:alert(1)", "file:///etc/passwd", "src/cart.py"])
def test_other_addresses_are_no_links(address: str) -> None:
    style = segment(render_markdown(f"[a]({address})", LOOK), "a").style
    assert style is None or style.link is None


def test_code_has_syntax_colours_on_its_ground() -> None:
    lines = render_markdown("```python\nreturn None\n```", LOOK)
    style = segment(lines, "return").style
    assert style == LOOK.styles("keyword", on="panel")
    assert lines[0].cells == 76


def test_nothing_from_outside_reaches_the_terminal_raw() -> None:
    text = (
        "a&#27;[31mb \x1b]0;title\x07 `c\x1b[2J` &#x202e;d\n\n"
        "```\n\x1b[31m\u202e\n```\n\n"
        "| \x07 |\n|---|\n| \x9b2J |"
    )
    shown = "".join(line.text for line in render_markdown(text, LOOK))
    assert not any(ord(char) < 32 or 0x7F <= ord(char) < 0xA0 or char == "\u202e" for char in shown)
    assert "<U+202E>d" in shown


def test_levels_of_headings_can_be_told_apart_without_colours() -> None:
    lines = render_markdown("# One\n\n### Three *it*\n\nFour\n----", LOOK)
    assert [line.text.strip() for line in lines if line.text.strip()] == ["# One", "### Three it", "## Four"]
    title = segment(lines, "One").style
    assert title is not None and title.bold
