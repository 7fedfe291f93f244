"""A saved session played again: what it publishes, and when."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from keen_tui.agent.services.playback import Playback
from keen_tui.domain.events import (
    ContextMeasured,
    Event,
    SessionOpened,
    SessionRestored,
    TextDelta,
    ToolFinished,
    TurnDone,
    TurnError,
    TurnIncomplete,
    Usage,
)
from keen_tui.domain.messages import TokenUsage, TurnMemory
from keen_tui.frontends.shared.port import SessionControls
from keen_tui.frontends.tui.state.reducer import apply_all
from keen_tui.frontends.tui.state.state import UiState
from keen_tui.storage.reading import SessionFile
from tests.support import story
from tests.support.agent import EventLog
from tests.support.recording import recording
from tests.support.waiting import LIMIT

NEARLY_STILL = 1e-6
LONG_TEXT = "one two three four five six seven eight nine ten eleven twelve"


@asynccontextmanager
async def played(saved: SessionFile, speed: float) -> AsyncIterator[tuple[Playback, EventLog]]:
    """The file while it plays."""
    playback = Playback(saved, Path("/home/me/shop"), speed=speed)
    log = EventLog(playback.bus.subscribe())
    playing = asyncio.create_task(playback.play())
    try:
        yield playback, log
    finally:
        await playback.close()
        async with asyncio.timeout(LIMIT):
            await playing


async def all_of(saved: SessionFile, speed: float) -> list[Event]:
    """Everything that is published until all was played."""
    async with played(saved, speed) as (_, log):
        await log.wait_for(SessionRestored)
    return log.events


def texts(events: Iterable[Event]) -> list[str]:
    return [event.text for event in events if isinstance(event, TextDelta)]


async def test_at_speed_0_all_is_there_at_once_as_a_past() -> None:
    events = story.three_turns()
    assert await all_of(recording(events, pause=3_600.0), 0) == [
        SessionOpened(id="s1", restoring=True),
        *events,
        SessionRestored(),
    ]


async def test_text_comes_in_pieces_and_stop_has_the_rest_at_once() -> None:
    text = TextDelta(turn=1, step=1, text=LONG_TEXT)
    async with played(recording([text, story.done(1)], pause=60.0), NEARLY_STILL) as (playback, log):
        first = await log.wait_for(TextDelta)
        assert LONG_TEXT.startswith(first.text)
        assert len(first.text) < len(LONG_TEXT)
        assert not log.of(SessionRestored)
        playback.stop()
        await log.wait_for(SessionRestored)
    assert "".join(texts(log.events)) == LONG_TEXT
    assert log.of(TurnDone) == [story.done(1)]


async def test_while_it_plays_it_is_drawn_as_it_comes() -> None:
    events = await all_of(recording(story.three_turns(), pause=0.001), 100.0)
    assert events[0] == SessionOpened(id="s1", restoring=False)
    assert len([event for event in events if isinstance(event, TurnDone)]) == 3


async def test_a_long_pause_is_short_when_it_is_played() -> None:
    events = await all_of(recording([story.started(1, "hi"), story.done(1)], pause=1e9), 1_000.0)
    assert any(isinstance(event, TurnDone) for event in events)


async def test_a_clock_that_went_back_is_no_wait() -> None:
    events = await all_of(recording(story.three_turns(), pause=-3_600.0), NEARLY_STILL)
    assert len([event for event in events if isinstance(event, TurnDone)]) == 3


@pytest.mark.parametrize("speed", [0, 1_000.0])
async def test_a_turn_that_the_end_of_its_program_cut_off_is_interrupted(speed: float) -> None:
    events = [story.started(1, "fix it"), *story.edit(1, "e1"), *story.running_bash(1)]
    (*_, orphan, end, restored) = await all_of(recording(events), speed)
    assert isinstance(orphan, ToolFinished)
    assert (orphan.id, orphan.result.interrupted) == ("d5", True)
    assert isinstance(end, TurnIncomplete)
    assert (end.reason, end.turn_memory) == ("interrupted", TurnMemory(files_changed=("src/cart.py",)))
    assert restored == SessionRestored()


async def test_a_turn_that_ended_incomplete_stays_so() -> None:
    events = [*story.discount_turn(1), story.incomplete(1)]
    assert await all_of(recording(events), 0) == [
        SessionOpened(id="s1", restoring=True),
        *events,
        SessionRestored(),
    ]


async def test_a_message_that_nothing_came_of_is_a_failed_turn() -> None:
    events = await all_of(recording([story.started(1, "hi")]), 0)
    assert isinstance(events[-2], TurnError)


@pytest.mark.parametrize("speed", [0, 1_000.0])
async def test_a_damaged_session_says_what_is_missing(speed: float) -> None:
    events = await all_of(recording(story.three_turns(), damage=(b"half", b"lines")), speed)
    (restored,) = [event for event in events if isinstance(event, SessionRestored)]
    assert "2 damaged places (9 bytes)" in restored.skipped


async def test_an_empty_session_is_played_as_an_empty_one() -> None:
    assert await all_of(recording([]), 1.0) == [SessionOpened(id="s1"), SessionRestored()]


async def test_closing_ends_it_in_the_middle() -> None:
    async with played(recording(story.three_turns(), pause=60.0), NEARLY_STILL) as (_, log):
        await log.wait_for(SessionOpened)
    assert not log.of(SessionRestored), "nothing is published behind the close"


async def test_it_has_none_of_the_controls_of_a_session_at_work() -> None:
    playback = Playback(recording([]), Path("/home/me/shop"), speed=0)
    controls = [name for name in vars(SessionControls) if not name.startswith("_")]
    assert {"submit", "context"} < set(controls)
    assert not [name for name in controls if hasattr(playback, name)]


async def test_the_meter_shows_what_a_turn_had_reached_while_it_plays_and_no_longer() -> None:
    tokens = TokenUsage(input_tokens=900, output_tokens=100)
    past: list[Event] = [story.started(1, "hi"), Usage(turn=1, step=1, tokens=tokens), story.done(1)]
    events = await all_of(recording(past), NEARLY_STILL)
    measured = [event for event in events if isinstance(event, ContextMeasured)]
    assert measured == [ContextMeasured(tokens=1_000)]
    assert apply_all(UiState(), events[:-1], 0.0).context_tokens == 1_000
    assert apply_all(UiState(), events, 0.0).context_tokens is None, "there is no next request"
