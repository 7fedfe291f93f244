"""A line of text that keys edit."""

from __future__ import annotations

import pytest

from keen_tui.frontends.tui.questions.typed_line import TypedLine


@pytest.mark.parametrize(
    ("keys", "text", "cursor"),
    [
        (["backspace"], "one tw", 6),
        (["left", "left", "delete"], "one to", 5),
        (["ctrl+w"], "one ", 4),
        (["ctrl+w", "ctrl+w"], "", 0),
        (["home", "delete"], "ne two", 0),
        (["ctrl+a", "right", "ctrl+k"], "o", 1),
        (["left", "ctrl+u"], "o", 0),
        (["home", "left", "end", "right"], "one two", 7),
        (["home", "backspace"], "one two", 0),
        (["ctrl+w", "home", "ctrl+y"], "twoone ", 3),
        (["ctrl+w", "ctrl+w", "ctrl+y"], "one two", 7),
        (["home", "right", "ctrl+k", "home", "ctrl+y", "ctrl+y"], "ne twone twoo", 12),
        (["left", "ctrl+u", "end", "ctrl+k", "ctrl+y"], "oone tw", 7),
    ],
)
def test_keys_move_and_delete(keys: list[str], text: str, cursor: int) -> None:
    line = TypedLine()
    line.insert("one two")
    assert all(line.edit(key) for key in keys)
    assert (line.text, line.cursor) == (text, cursor)


def test_other_keys_and_an_empty_line_are_left_alone() -> None:
    line = TypedLine()
    assert not line.edit("backspace")
    assert not line.edit("ctrl+y")
    line.insert("a")
    assert not line.edit("f5")
    line.edit("home")
    line.insert("b")
    assert line.take() == "ba"
    assert (line.text, line.cursor) == ("", 0)
