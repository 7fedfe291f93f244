"""Where a JSON object ends whose text arrives in pieces."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keen_tui.providers.openai.chat_calls import JsonExtent

VALUES = st.recursive(st.none() | st.booleans() | st.text(), lambda each: st.lists(each), max_leaves=8)
OBJECTS = st.dictionaries(st.text(), VALUES)


def closed_after(pieces: list[str]) -> list[bool]:
    """Whether the object had ended, after each piece."""
    extent = JsonExtent()
    found = []
    for piece in pieces:
        extent.feed(piece)
        found.append(extent.is_closed)
    return found


@given(OBJECTS, st.booleans())
def test_an_object_in_single_characters_is_closed_with_its_last_one(
    value: dict[str, object], is_ascii: bool
) -> None:
    text = json.dumps(value, ensure_ascii=is_ascii)
    assert closed_after(list(text)) == [False] * (len(text) - 1) + [True]


@given(OBJECTS, st.data())
def test_where_pieces_are_split_makes_no_difference(value: dict[str, object], data: st.DataObject) -> None:
    text = json.dumps(value)
    cut = data.draw(st.integers(0, len(text)))
    assert closed_after([text[:cut], text[cut:], " \n"])[-1]


@pytest.mark.parametrize("text", ["", " ", "{", '{"a": "}"', "{}{}", "{} x", "x{}", '"{}"', "}", "{}}"])
def test_anything_else_is_not_closed(text: str) -> None:
    assert not closed_after(list(text) or [""])[-1]
