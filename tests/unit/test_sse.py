"""The decoder of server-sent events."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keen_tui.providers.wire.sse import ServerSentEvent, SseDecoder


def decode(*pieces: bytes) -> list[ServerSentEvent]:
    decoder = SseDecoder()
    return [event for piece in pieces for event in decoder.feed(piece)] + decoder.finish()


def data_of(body: bytes) -> list[str]:
    return [event.data for event in decode(body)]


@pytest.mark.parametrize("line_end", [b"\n", b"\r", b"\r\n"])
def test_every_line_end_ends_a_line(line_end: bytes) -> None:
    body = line_end.join([b"event: a", b"data: 1", b"", b"data: 2", b"", b""])
    assert decode(body) == [ServerSentEvent("1", "a"), ServerSentEvent("2")]


def test_a_line_end_split_between_its_bytes_is_one_line_end() -> None:
    assert decode(b"data: 1\r", b"\ndata: 2\r", b"\n\r", b"\n") == [ServerSentEvent("1\n2")]


def test_comments_unknown_fields_and_a_byte_order_mark_are_ignored() -> None:
    assert data_of(b"\xef\xbb\xbf: ping\n\ndata: 1\nid: 7\nretry: 9\nnonsense\n\n: ping\n\n") == ["1"]


def test_only_the_first_space_after_the_colon_is_dropped() -> None:
    assert data_of(b"data:1\n\ndata: 1\n\ndata:  1\n\n") == ["1", "1", " 1"]


def test_data_lines_are_joined_and_other_line_separators_stay_inside() -> None:
    assert data_of("data: a\ndata: b\u2028c\x0bd\x85e\n\n".encode()) == ["a\nb\u2028c\x0bd\x85e"]


def test_the_last_event_needs_no_blank_line_but_a_whole_line() -> None:
    assert data_of(b"data: 1\n") == ["1"]
    assert data_of(b"data: 1") == []
    assert data_of(b"data: 1\ndata: 2") == []


def test_bytes_that_are_no_utf8_become_replacement_characters() -> None:
    assert data_of(b"data: \xff\n\n") == ["\ufffd"]


@given(
    st.lists(st.sampled_from(["data: é𝄞", "data", "event: x", ":", "", "\ufeff", "data:\u2028"])), st.data()
)
def test_the_pieces_make_no_difference(lines: list[str], data: st.DataObject) -> None:
    ends = data.draw(
        st.lists(st.sampled_from(["\n", "\r", "\r\n"]), min_size=len(lines), max_size=len(lines))
    )
    body = "".join(line + end for line, end in zip(lines, ends, strict=True)).encode()
    cuts = sorted(data.draw(st.sets(st.integers(0, len(body)))))
    pieces = [body[start:stop] for start, stop in zip([0, *cuts], [*cuts, len(body)], strict=True)]
    assert decode(*pieces) == decode(body)
