"""The worker between bus and screen."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keen_tui.domain.bus import EventBus
from keen_tui.domain.events import Event, ModeChanged, QueueChanged, SessionOpened, SessionRestored, TextDelta
from keen_tui.frontends.tui.state.bridge import CHARACTERS_AT_ONCE, follow
from keen_tui.frontends.tui.state.reducer import apply, apply_all
from keen_tui.frontends.tui.state.state import TextBlock, UiState
from tests.support import story
from tests.support.any_event import any_event
from tests.support.waiting import LIMIT, one_round, until


async def followed(bus: EventBus, show: Callable[[UiState], None], publish: Callable[[], None]) -> None:
    """Follow the bus while `publish` runs, up to its close."""
    reader = asyncio.create_task(follow(bus.subscribe(), UiState(), show))
    await asyncio.sleep(0)
    publish()
    bus.close()
    await asyncio.wait_for(reader, LIMIT)


async def test_all_that_was_published_before_the_close_is_shown() -> None:
    bus, shown = EventBus(), list[UiState]()

    def publish() -> None:
        bus.publish(story.started(1, "go"))
        for _ in range(1_000):
            bus.publish(TextDelta(turn=1, step=1, text="ab"))

    await followed(bus, shown.append, publish)
    block = shown[-1].live[-1]
    assert isinstance(block, TextBlock)
    assert block.text == "ab" * 1_000
    assert len(shown) < 10


async def test_a_reply_that_comes_all_at_once_is_drawn_in_pieces() -> None:
    bus, shown, lengths = EventBus(), list[UiState](), list[int]()

    def publish() -> None:
        bus.publish(story.started(1, "go"))
        for _ in range(1_000):
            bus.publish(TextDelta(turn=1, step=1, text="x" * 20))

    await followed(bus, shown.append, publish)
    for state in shown:
        block = state.live[-1] if state.live else None
        lengths.append(len(block.text) if isinstance(block, TextBlock) else 0)
    assert lengths[-1] == 20_000
    assert max(after - before for before, after in pairwise(lengths)) <= 2 * CHARACTERS_AT_ONCE


@pytest.mark.parametrize("enough", [True, False])
async def test_states_inside_a_batch_are_drawn_only_if_they_cannot_be_prepared(enough: bool) -> None:
    bus, shown, prepared = EventBus(), list[UiState](), list[UiState]()

    def prepare(state: UiState) -> bool:
        prepared.append(state)
        return enough

    reader = asyncio.create_task(follow(bus.subscribe(), UiState(), shown.append, prepare=prepare))
    bus.publish_all([story.started(1, "go"), TextDelta(turn=1, step=1, text="x" * 5 * CHARACTERS_AT_ONCE)])
    bus.close()
    await asyncio.wait_for(reader, LIMIT)
    assert len(prepared) == 4
    assert len(shown) == (1 if enough else 5)
    block = shown[-1].live[-1]
    assert isinstance(block, TextBlock) and len(block.text) == 5 * CHARACTERS_AT_ONCE


async def test_a_long_text_of_the_past_is_the_very_one_that_was_read() -> None:
    """A session of 10,000 messages would have another copy of all its replies."""
    bus, shown, text = EventBus(), list[UiState](), "x" * 3 * CHARACTERS_AT_ONCE

    def publish() -> None:
        bus.publish_all([SessionOpened(id="s", restoring=True), story.started(1, "go")])
        bus.publish_all([TextDelta(turn=1, step=1, text=text), SessionRestored()])

    await followed(bus, shown.append, publish)
    block = shown[-1].live[-1]
    assert isinstance(block, TextBlock)
    assert block.text is text


async def test_a_state_that_cannot_be_drawn_is_logged_and_the_next_one_is_drawn(
    caplog: pytest.LogCaptureFixture,
) -> None:
    bus, shown = EventBus(), list[UiState]()

    def show(state: UiState) -> None:
        shown.append(state)
        if len(shown) == 1:
            asyncio.get_running_loop().call_soon(bus.publish, ModeChanged(mode="plan"))
            asyncio.get_running_loop().call_soon(bus.close)
            raise RuntimeError("a bug in a pane")

    reader = asyncio.create_task(follow(bus.subscribe(), UiState(), show))
    await asyncio.sleep(0)
    with caplog.at_level(logging.ERROR):
        bus.publish(QueueChanged(texts=("a",)))
        await asyncio.wait_for(reader, LIMIT)
    assert shown[-1].mode == "plan"
    assert shown[-1].queue == ("a",)
    assert "could not be drawn" in caplog.text


async def test_an_event_that_cannot_be_folded_is_logged_and_the_rest_is_shown(
    caplog: pytest.LogCaptureFixture,
) -> None:
    bus, shown = EventBus(), list[UiState]()

    def publish() -> None:
        bus.publish("no event")  # type: ignore[arg-type]
        bus.publish(ModeChanged(mode="plan"))

    with caplog.at_level(logging.ERROR):
        await followed(bus, shown.append, publish)
    assert shown[-1].mode == "plan"
    assert "could not be shown: str" in caplog.text


@pytest.mark.parametrize("restoring", [True, False])
async def test_others_get_their_turn_while_a_long_past_is_folded(restoring: bool) -> None:
    bus, shown, turns = EventBus(), list[UiState](), list[int]()
    ticks = iter(range(1_000_000))
    reader = asyncio.create_task(follow(bus.subscribe(), UiState(), shown.append, lambda: float(next(ticks))))
    await asyncio.sleep(0)
    bus.publish(SessionOpened(id="s", restoring=restoring))
    bus.publish_all([story.started(turn, "go") for turn in range(1, 5)])
    bus.publish(SessionRestored())

    async def other() -> None:
        turns.append(len(shown))
        await one_round()

    await until(lambda: shown and shown[-1].turns and not shown[-1].restoring, moment=other)
    bus.close()
    await asyncio.wait_for(reader, LIMIT)
    assert len(turns) >= 4
    assert len(shown[-1].turns) == 4
    on_the_way = {len(state.turns) for state in shown if state.restoring}
    assert on_the_way == ({0, 1, 2, 3, 4} if restoring else set()), "a past is taken in piece by piece"


@given(st.lists(any_event, max_size=30))
def test_no_state_is_changed_by_those_that_follow_it(events: list[Event]) -> None:
    state, seen = UiState(), list[tuple[UiState, list[object]]]()
    for event in events:
        state = apply(state, event, 0.0)
        seen.append((state, [list(state.past), list(state.turns)]))
    assert all([list(each.past), list(each.turns)] == was for each, was in seen)
    assert apply_all(UiState(), events, 0.0) == state
