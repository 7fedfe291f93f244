"""Two commands that differ never look the same in a question."""

from __future__ import annotations

import pytest

from keen_tui.text.disguise import revealed


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("cat <tab>x", "cat \tx"),
        ("rm <U+200B>x", "rm \u200bx"),
        ("ls <2 blanks>", "ls   "),
        ("echo ^[x", "echo \x1bx"),
        ("a\nb", "a\u2028b"),
        ("a<1 empty lines>", "a\n\n"),
    ],
)
def test_a_mark_is_never_what_stands_there(one: str, other: str) -> None:
    assert revealed(one) != revealed(other)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a\u200db", "a<U+200D>b"),
        ("a\u034fb", "a<U+034F>b"),
        ("a\u2215b", "a<U+2215>b"),
        ("cafe\u0301", "cafe<U+0301>"),
        ("rm a\u1161b", "rm a<U+1161>b"),
        ("rm \u1112\u1161\u1161", "rm \u1112\u1161<U+1161>"),
        ("rm \u11a8 x", "rm <U+11A8> x"),
        ("rm -\u20dd\u0483 x", "rm -<U+20DD><U+0483> x"),
        ("rm a\U00016fe4", "rm a<U+16FE4>"),
        ("\u0441\u0440 x", "<U+0441><U+0440> x"),
        ("ls" + " " * 400 + "; rm x", "ls<400 blanks>; rm x"),
        ("ls" + "\n" * 200 + "rm x", "ls\n<199 empty lines>\nrm x"),
    ],
)
def test_what_is_not_seen_or_looks_like_something_else_is_named(text: str, shown: str) -> None:
    assert revealed(text) == shown


@pytest.mark.parametrize(
    "text",
    [
        "git commit -m '\u043f\u0440\u0438\u0432\u0435\u0442'",
        "echo caf\u00e9",
        "ls \u1112\u1161\u11ab\u1100\u1173\u11af",
        "ls \u0928\u092e\u0938\u094d\u0924\u0947",
        "if x:\n        y\n\nz",
    ],
)
def test_other_languages_and_indents_stay(text: str) -> None:
    assert revealed(text) == text
