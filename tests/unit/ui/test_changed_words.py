"""Which words of a diff's rows stand out."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.color import Color, ColorSystem

from keen_tui.frontends.tui.look.glyphs import UNICODE
from keen_tui.frontends.tui.look.themes import Styles, load_themes
from keen_tui.frontends.tui.rows.lines import Line
from keen_tui.frontends.tui.tool_views import render_display
from keen_tui.frontends.tui.tool_views.changed_words import ChangedWords
from keen_tui.text.diff import diff_display

THEMES = load_themes()[0]


def changed(*rows: str) -> list[list[str]]:
    """What stands out in each row; a row begins with its sign."""
    texts = [row[1:] for row in rows]
    words = ChangedWords([row[0] for row in rows], texts)
    return [[texts[row][start:end] for start, end in words[row]] for row in range(len(rows))]


def standing_out(theme: str) -> list[str]:
    styles = Styles(THEMES[theme])
    display = diff_display("a.txt", "take the old word\n", "take the new word\n")
    rows: list[Line] = list(render_display(display, 40, styles, UNICODE))
    marks = [styles.theme.colours[role].removeprefix("ansi_") for role in ("add-mark", "del-mark")]
    return [
        part.text
        for row in rows
        for part in row.segments
        if part.style
        and (part.style.underline or (part.style.bgcolor and part.style.bgcolor.name in marks))
        and (part.style.underline or not styles.plain)
    ]


def test_only_the_changed_words_stand_out() -> None:
    assert changed("-total = f(old, 1)", "+total = f(new, 1)") == [["old"], ["new"]]


def test_words_with_a_blank_between_them_are_one() -> None:
    assert changed("-say it here again and again", "+say it over there again and again") == [
        ["here"],
        ["over there"],
    ]


@pytest.mark.parametrize("line", ["x = %s", "timeout: %s", "  return %s"])
def test_a_long_word_in_a_short_line_stands_out(line: str) -> None:
    long = "a_very_long_name_indeed"
    assert changed(f"-{line % 5}", f"+{line % long}") == [["5"], [long]]


def test_what_was_only_added_stands_out_in_one_row() -> None:
    assert changed("-def first(x):", "+def first(x, y=2):") == [[], [", y=2"]]


def test_a_sign_and_what_belongs_to_it_are_one_word() -> None:
    assert changed("-a heart \u2764 of mine", "+a heart \u2764\ufe0f of mine") == [
        ["\u2764"],
        ["\u2764\ufe0f"],
    ]


def test_another_indentation_stands_out() -> None:
    assert changed("-    return x", "+        return x") == [["    "], ["        "]]


def test_a_line_that_is_wholly_another_has_no_words_that_stand_out() -> None:
    assert changed("-import os", "+raise SystemExit(main())") == [[], []]
    assert changed("-old", "+new") == [[], []]
    assert changed("-(", "+)") == [[], []]
    assert changed("-return discount(net + tax(net))", "+net = discount(net)") == [[], []]


def test_a_line_is_held_against_the_one_it_became_wherever_that_is() -> None:
    rows = changed("-total = net + tax", "-return total", "+# in cents", "+total = net + tax + 1")
    assert rows == [[], [], [], [" + 1"]]


def test_lines_that_only_were_added_or_removed_have_nothing_to_be_held_against() -> None:
    assert changed(" a b c", "-a b d", " a b c", "+a b e") == [[], [], [], []]


def test_very_long_lines_and_very_many_of_them_are_left_alone() -> None:
    long = "word " * 400
    assert changed(f"-{long}", f"+{long}x") == [[], []]
    assert not any(changed(*["-one two three"] * 20, *["+one two four"] * 20))


def test_where_very_many_words_differ_all_of_them_stand_out_as_one() -> None:
    same = "as it was " * 60
    old, new = " ".join("abcd" * 25), " ".join("bdca" * 25)
    assert changed(f"-{same}{old} end", f"+{same}{new} end") == [[old], [new]]


def test_lines_of_one_word_again_and_again_take_no_time() -> None:
    """Were they compared word by word it would be hours."""
    assert not any(changed(*["-" + "x " * 600] * 16, *["+" + "x y " * 300] * 16))


@given(st.text("ab +(\u00e9\u4e2d", max_size=30), st.text("ab +(\u00e9\u4e2d", max_size=30))
def test_what_does_not_stand_out_is_the_same_in_both(old: str, new: str) -> None:
    words = ChangedWords("-+", [old, new])
    rests: list[str] = []
    for row, text in enumerate([old, new]):
        rest = text
        for start, end in reversed(words[row]):
            assert 0 <= start < end <= len(text)
            rest = rest[:start] + rest[end:]
        rests.append(rest.replace(" ", ""))
    if words[0] or words[1]:
        assert rests[0] == rests[1]


@pytest.mark.parametrize("theme", THEMES)
def test_they_can_be_seen_in_every_theme(theme: str) -> None:
    assert standing_out(theme) == ["old", "new"]


@pytest.mark.parametrize("theme", [name for name, theme in THEMES.items() if not theme.ansi])
@pytest.mark.parametrize("sign", ["add", "del"])
def test_with_256_colours_they_are_told_apart_from_their_row(theme: str, sign: str) -> None:
    colours = THEMES[theme].colours
    mark, row = (
        Color.parse(colours[f"{sign}-{ground}"]).downgrade(ColorSystem.EIGHT_BIT).number
        for ground in ("mark", "wash")
    )
    assert mark != row
