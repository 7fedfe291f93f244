"""How often a reply is read, whose pieces come one after the other."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from keen_tui.providers.wire.event_reader import EventReader
from keen_tui.providers.wire.read_pace import PAUSE, ReadPace

AT_ONCE, SOON, LATER = 0.000_1, 0.005, 0.05
"""Seconds that a piece takes to come."""


@pytest.fixture
def pace() -> ReadPace:
    """The pace of a reply that is long already."""
    pace = ReadPace()
    while not pace.pause_after(SOON):
        pass
    return pace


def test_a_short_reply_is_read_as_it_comes() -> None:
    pace = ReadPace()
    assert [pace.pause_after(SOON) for _ in range(33)] == [0.0] * 32 + [PAUSE]


def test_in_a_long_reply_pieces_gather_once_all_are_read(pace: ReadPace) -> None:
    pauses = [pace.pause_after(waited) for waited in (AT_ONCE, AT_ONCE, SOON, AT_ONCE)]
    assert pauses == [0.0, 0.0, PAUSE, 0.0]


def test_pieces_that_are_far_apart_are_read_as_they_come(pace: ReadPace) -> None:
    assert [pace.pause_after(LATER) for _ in range(3)] == [0.0] * 3


async def test_a_pause_delays_the_next_piece_and_not_the_one_that_has_come(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def body() -> AsyncIterator[bytes]:
        yield b"data: one\n\n"
        yield b"data: two\n\n"

    reader = EventReader(body(), "text/event-stream", "server")
    monkeypatch.setattr(ReadPace, "pause_after", lambda pace, waited: 3_600.0)
    assert [event.data for event in await reader.read(60.0) or ()] == ["one"]
    with pytest.raises(TimeoutError):
        await reader.read(0.01)
