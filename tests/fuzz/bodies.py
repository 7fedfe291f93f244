"""Bodies of streamed replies as servers might send them: whole ones, and what becomes of them on the way."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from hypothesis import strategies as st

from keen_tui.demo.script import Call, Fail, Refuse, Reply, ReplyPart, Say, Think, WireEvent
from keen_tui.demo.wire_json import sse
from keen_tui.demo.wires import WIRES
from keen_tui.domain.choices import Api
from keen_tui.domain.messages import StopReason
from tests.fuzz.canned import PATHS
from tests.support.any_event import json_values, texts

Payload = dict[str, Any]

_NAMES = st.sampled_from(["bash", "read_file", "", "no such tool", "\x07", "x" * 80]) | texts
_IDS = st.none() | st.sampled_from(["", "call_1", "call_2", "call_1\x00"]) | texts
_ARGUMENTS = (
    st.dictionaries(st.sampled_from(["command", "path", "x"]), texts | st.integers(), max_size=3)
    | st.sampled_from(["", "{", "[]", "null", '{"command": "ls"', '"text"', "{}{}", '{"a":NaN}', "\x00"])
    | st.builds(json.dumps, json_values)
)
_FINISHES: st.SearchStrategy[StopReason | None] = st.sampled_from(
    [None, None, "stop", "tool_calls", "length", "refusal", "content_filter", "unknown"]
)
_SAID = texts | st.sampled_from(["Hello.", "Größe: 3 µm 🙂", " \n", ""])

parts: st.SearchStrategy[ReplyPart] = st.one_of(
    st.builds(Say, _SAID),
    st.builds(Think, _SAID),
    st.builds(Call, _NAMES, _ARGUMENTS, _IDS),
    st.builds(Call, st.just("bash"), st.just({"command": "echo ran"})),
    st.builds(Refuse, _SAID),
)
replies = st.builds(
    Reply,
    st.lists(parts, max_size=6),
    finish=_FINISHES,
    delta_size=st.integers(1, 20),
    send_finish=st.sampled_from([True, True, True, False]),
    send_done=st.booleans(),
)
failing = st.builds(lambda reply, fail: Reply([*reply.parts, fail]), replies, st.builds(Fail, texts))
"""Replies with an error object in the stream."""


def events_of(api: Api, reply: Reply) -> list[WireEvent]:
    """The events of a reply in that API."""
    body = {"model": "m", "stream_options": {"include_usage": True}}
    return WIRES[PATHS[api]].encode(reply, body, 1)


def body_of(api: Api, reply: Reply) -> bytes:
    """The body of a reply in that API."""
    return b"".join(event.data for event in events_of(api, reply))


@st.composite
def cut_in_pieces(draw: st.DrawFn, body: bytes) -> list[bytes]:
    """The body in pieces of any size, some of them empty."""
    places = sorted(draw(st.lists(st.integers(0, len(body)), max_size=12)))
    return [body[start:end] for start, end in zip([0, *places], [*places, len(body)], strict=True)]


@st.composite
def mistreated(draw: st.DrawFn, api: Api) -> bytes:
    """A body whose events were lost, doubled, swapped, changed inside, mixed with those of another reply."""
    events = [event.data for event in events_of(api, draw(replies | failing))]
    for _ in range(draw(st.integers(0, 6))):
        change = draw(st.sampled_from(_CHANGES))
        place = draw(st.integers(0, max(len(events) - 1, 0)))
        events = change(draw, api, events, place)
    return b"".join(events)


_Change = Callable[[st.DrawFn, Api, list[bytes], int], list[bytes]]


def _lost(draw: st.DrawFn, api: Api, events: list[bytes], place: int) -> list[bytes]:
    return [*events[:place], *events[place + 1 :]]


def _doubled(draw: st.DrawFn, api: Api, events: list[bytes], place: int) -> list[bytes]:
    return [*events[: place + 1], *events[place:]]


def _moved(draw: st.DrawFn, api: Api, events: list[bytes], place: int) -> list[bytes]:
    rest = _lost(draw, api, events, place)
    target = draw(st.integers(0, len(rest)))
    return [*rest[:target], *events[place : place + 1], *rest[target:]]


def _spliced(draw: st.DrawFn, api: Api, events: list[bytes], place: int) -> list[bytes]:
    others = [event.data for event in events_of(api, draw(replies))]
    return [*events[:place], *others, *events[place:]]


def _strange(draw: st.DrawFn, api: Api, events: list[bytes], place: int) -> list[bytes]:
    stranger = draw(
        st.sampled_from(
            [b": ping\n\n", b"event: new\ndata: {}\n\n", b"data: null\n\n", b"data\n\n", b"\xff\n"]
        )
        | st.builds(lambda value: b"data: " + json.dumps(value).encode() + b"\n\n", json_values)
        | st.binary(max_size=8)
    )
    return [*events[:place], stranger, *events[place:]]


def _rewritten(draw: st.DrawFn, api: Api, events: list[bytes], place: int) -> list[bytes]:
    """One field, anywhere in the event's payload, is gone or holds something else."""
    found = [line for line in b"".join(events[place : place + 1]).split(b"\n") if line.startswith(b"data: {")]
    payload = json.loads(found[0][6:]) if found else {}
    if not payload:
        return events
    holder, key = draw(st.sampled_from(_fields(payload)))
    if draw(st.booleans()):
        del holder[key]
    else:
        holder[key] = draw(json_values | st.sampled_from([0, 1, 7, -1, "call_1", "", None]))
    return [*events[:place], sse(payload), *events[place + 1 :]]


def _fields(value: Any) -> list[tuple[Payload, str]]:
    if isinstance(value, list):
        return [field for each in value for field in _fields(each)]
    if not isinstance(value, dict):
        return []
    own = [(value, str(key)) for key in value]
    below = [field for each in value.values() for field in _fields(each)]
    return [*own, *below]


_CHANGES: tuple[_Change, ...] = (_lost, _doubled, _moved, _spliced, _strange, _rewritten, _rewritten)
