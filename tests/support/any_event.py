"""Strategies for any event, derived from the types, so that no new event or field is forgotten."""

from __future__ import annotations

import types
import typing
from collections.abc import Mapping
from functools import cache
from typing import Any, Literal

from hypothesis import strategies as st
from msgspec import Struct, structs

from keen_tui.domain.events import Event, OwnEvent

EVENT_TYPES: tuple[type[Event], ...] = typing.get_args(Event)
OWN_TYPES: tuple[type[Event], ...] = typing.get_args(OwnEvent)
"""Those that a session file can hold: the events of sub-agents are in files of their own."""

texts = st.text(st.characters(exclude_categories=()), max_size=20) | st.sampled_from(
    [
        "\0",
        "\u2028\u2029\x85",
        "\ud800",
        "\udc80\udcff",
        "\ud83d\ude00",
        '{"n":1,"type":"x"}',
        "a\r\nb",
        "\ufeff",
    ]
)
"""Any text that Python allows: lone surrogates, NUL, the line ends that JSON doesn't escape."""

json_values: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=6,
)


def events(kind: type[Event]) -> st.SearchStrategy[Event]:
    """Any event of that type."""
    return typing.cast("st.SearchStrategy[Event]", _values(typing.cast("Any", kind)))


@cache
def _values(hint: Any) -> st.SearchStrategy[Any]:
    """Any value that the type hint allows."""
    simple = {
        str: texts,
        int: st.integers(),
        bool: st.booleans(),
        float: st.floats(allow_nan=False, allow_infinity=False),
        types.NoneType: st.none(),
    }
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if hint in simple:
        return simple[hint]
    if isinstance(hint, type) and issubclass(hint, Struct):
        hints = typing.get_type_hints(hint)
        return st.builds(hint, **{each.name: _values(hints[each.name]) for each in structs.fields(hint)})
    if origin is Literal:
        return st.sampled_from(arguments)
    if origin is tuple and arguments[-1] is not Ellipsis:
        return st.tuples(*map(_values, arguments))
    if origin is tuple:
        return st.lists(_values(arguments[0]), max_size=3).map(tuple)
    if origin is Mapping:
        return st.dictionaries(texts, json_values, max_size=3)
    return st.one_of(*map(_values, arguments))


any_event: st.SearchStrategy[Event] = st.one_of(*map(events, EVENT_TYPES))
any_own_event: st.SearchStrategy[Event] = st.one_of(*map(events, OWN_TYPES))
