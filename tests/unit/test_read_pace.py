"""How often a reply is read if its pieces come one by one."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest

from keen_tui.frontends.tui.state.bridge import FRAME_SECONDS
from keen_tui.providers.wire.event_reader import PAUSE, EventReader, ReadPace

AT_ONCE, SOON, LATER = 0.000_1, 0.005, 0.01
"""Seconds that a piece takes to come."""


@pytest.fixture
def pace() -> ReadPace:
    """The pace of a reply that is long already."""
    pace = ReadPace()
    while not pace.pause_after(SOON):
        pass
    return pace


def test_nobody_sees_a_pause() -> None:
    assert PAUSE < FRAME_SECONDS


def test_a_short_reply_is_read_as_it_comes() -> None:
    pace = ReadPace()
    assert [pace.pause_after(SOON) for _ in range(33)] == [0.0] * 32 + [PAUSE]


def test_in_a_long_reply_pieces_gather_once_all_are_read(pace: ReadPace) -> None:
    pauses = [pace.pause_after(waited) for waited in (AT_ONCE, AT_ONCE, SOON, AT_ONCE)]
    assert pauses == [0.0, 0.0, PAUSE, 0.0]


def test_pieces_that_are_far_apart_are_read_as_they_come(pace: ReadPace) -> None:
    assert [pace.pause_after(LATER) for _ in range(3)] == [0.0] * 3


def test_pieces_that_gather_by_themselves_need_no_pause(pace: ReadPace) -> None:
    assert [pace.pause_after(AT_ONCE) for _ in range(63)] == [0.0] * 63
    assert pace.pause_after(SOON) == 0.0
    assert [pace.pause_after(AT_ONCE) for _ in range(62)] == [0.0] * 62
    assert pace.pause_after(SOON) == PAUSE


async def test_the_reader_pauses_between_pieces_and_tells_only_how_long_each_took(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    loop, now, deeds = asyncio.get_running_loop(), 100.0, list[str]()

    async def sleep(seconds: float) -> None:
        nonlocal now
        now += seconds
        deeds.append(f"pause of {seconds}")

    async def body() -> AsyncIterator[bytes]:
        nonlocal now
        for number in range(3):
            now += 1 + number
            yield b"data: %d\n\n" % number

    def pause_after(pace: ReadPace, waited: float) -> float:
        deeds.append(f"waited {waited}")
        return 50.0 if waited == 2 else 0.0

    reader = EventReader(body(), "text/event-stream", "server")
    with monkeypatch.context() as patch:
        patch.setattr(ReadPace, "pause_after", pause_after)
        patch.setattr(asyncio, "sleep", sleep)
        patch.setattr(loop, "time", lambda: now)
        while events := await reader.read(10.0):
            deeds += [f"read {event.data}" for event in events]
    assert deeds == [
        *("waited 1.0", "read 0", "waited 2.0", "read 1"),
        *("pause of 50.0", "waited 3.0", "read 2", "waited 0.0"),
    ]
