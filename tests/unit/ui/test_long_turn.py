"""A turn with hundreds of calls: its oldest blocks go to the past, and the screen shows the same."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from keen_tui.domain.events import (
    Event,
    HostContacted,
    ImagesAttached,
    MessageTakenBack,
    Notice,
    ReasoningDelta,
    RetryScheduled,
    Steered,
    StepRestarted,
    TextDelta,
    ToolOutput,
    WebSearched,
)
from keen_tui.domain.messages import Image
from keen_tui.frontends.tui.look.glyphs import UNICODE
from keen_tui.frontends.tui.panels.activity import Activity
from keen_tui.frontends.tui.state import state_edits
from keen_tui.frontends.tui.state.reducer import apply_all
from keen_tui.frontends.tui.state.state import Block, UiState
from keen_tui.frontends.tui.state.state_edits import MOST_LIVE
from tests.support import story
from tests.support.screen import look

IMAGE = Image(name="a.png", media_type="image/png", width=1, height=1, content=b"x")
PARTS: Mapping[str, Callable[[int], list[Event]]] = {
    "reply": lambda step: [
        TextDelta(turn=2, step=step, text="so "),
        TextDelta(turn=2, step=step, text="far"),
    ],
    "thought": lambda step: [ReasoningDelta(turn=2, step=step, text="hm", seconds=1.0)],
    "read": lambda step: story.read(2, f"c{step}", "a.py", 3),
    "edit": lambda step: story.edit(2, f"c{step}"),
    "calls": lambda step: [
        story.tool_started(2, f"slow{step}", "bash", "sleep 9"),
        *story.failing_bash(2, f"d{step}", "pytest"),
    ],
    "output": lambda step: [ToolOutput(turn=2, id=f"slow{step - 1}", text="line\n", lines=1, bytes=5)],
    "end of a call": lambda step: story.read(2, f"slow{step - 2}", "a.py", 3)[1:],
    "contact": lambda step: [HostContacted(turn=2, id=f"c{step // 2}", host="a.example")],
    "search": lambda step: [WebSearched(turn=2, step=step, query="tax")],
    "steered": lambda step: [Steered(turn=2, step=step, text=f"and {step}")],
    "image": lambda _: [ImagesAttached(turn=2, images=(IMAGE,))],
    "notice": lambda _: [Notice(turn=2, text="a note")],
    "restart": lambda step: [StepRestarted(turn=2, step=step)],
    "retry": lambda step: [
        RetryScheduled(turn=2, step=step, attempt=2, max_attempts=4, delay=1, reason="cut", detail="lost")
    ],
    "cut": lambda _: [story.incomplete(2)],
    "retried": lambda _: [story.started(2, None, attempt=2)],
}
"""Pieces of a turn by name, each for the number of a step."""


def _blocks(state: UiState) -> list[Block]:
    return [*state.past, *state.live]


def _long_turn(calls: int) -> list[Event]:
    return [
        story.started(1, "go"),
        *(event for n in range(calls) for event in story.read(1, f"c{n}", "a", 3)),
    ]


@given(st.lists(st.sampled_from([*PARTS]), max_size=40), st.integers(2, 6), st.booleans())
def test_a_long_turn_has_the_blocks_that_it_would_have_if_all_were_live(
    parts: list[str], most: int, is_over: bool
) -> None:
    events: list[Event] = [story.started(1, "hi"), story.done(1), story.started(2, "go")]
    events += [event for step, part in enumerate(parts, 1) for event in PARTS[part](step)]
    events += [story.done(2), story.started(3, "thanks")] if is_over else []
    with patch.object(state_edits, "MOST_LIVE", sys.maxsize):
        whole = apply_all(UiState(), events, 1.0)
    with patch.object(state_edits, "MOST_LIVE", most), patch.object(state_edits, "NEWEST_LIVE", most // 2):
        state = apply_all(UiState(), events, 1.0)
    assert _blocks(state) == _blocks(whole)
    assert [*state.turn_past, *state.live] == [*whole.live]
    assert replace(state, past=whole.past, live=whole.live, turn_past=whole.turn_past) == whole


def test_activity_shows_a_late_contact_of_a_call_that_is_in_the_past() -> None:
    panel = Activity(look().styles, UNICODE, clock=lambda: 1.0)
    state = apply_all(UiState(), _long_turn(300), 1.0)
    panel.show(state)
    contact = HostContacted(turn=1, id="c3", host="a.example")
    with patch.object(panel, "changed") as changed:
        panel.show(apply_all(state, [contact], 1.0))
    changed.assert_called_once_with()
    assert len(panel.entries(40)[3].rows) == 2


def test_few_blocks_of_a_long_turn_are_live() -> None:
    state = apply_all(UiState(), _long_turn(1_000), 1.0)
    assert len(state.live) <= MOST_LIVE
    assert len(_blocks(state)) == 1_001


def test_a_message_taken_back_takes_all_its_blocks_along() -> None:
    state = apply_all(UiState(), [*_long_turn(1_000), MessageTakenBack(turn=1, text="go")], 1.0)
    assert (_blocks(state), [*state.turn_past]) == ([], [])


@pytest.mark.parametrize("calls", [30, 1_000])
def test_activity_lists_every_call_of_the_turn(calls: int) -> None:
    panel = Activity(look().styles, UNICODE, clock=lambda: 1.0)
    for event in _long_turn(calls):
        panel.show(apply_all(panel._state, [event], 1.0))
    listed = [entry.call_id for entry in panel.entries(40) if entry.call_id]
    assert listed == [f"c{number}" for number in range(calls)]
    assert panel.place_of(1, f"c{calls - 1}") == calls - 1
    assert panel.wanted_height(44, 20) >= 20
