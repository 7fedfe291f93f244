"""When the panes tick."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, cast

import pytest

from keen_tui.frontends.tui.terminal import gc_policy
from keen_tui.frontends.tui.workspace.ticker import Ticker
from keen_tui.frontends.tui.workspace.view import WorkspaceView


class FakeView:
    """A workspace that counts its ticks and lists the timers that run, by their seconds."""

    def __init__(self) -> None:
        self.now = 100.0
        self.ticks = 0
        self.timers: list[float] = []
        self.transcript = SimpleNamespace(tick=self._ticked)
        self.sidebar = self.strip = self.status = SimpleNamespace(tick=lambda beat: None)

    def clock(self) -> float:
        return self.now

    def set_interval(self, seconds: float, action: Callable[[], None]) -> Any:
        self.timers.append(seconds)
        return SimpleNamespace(stop=lambda: self.timers.remove(seconds))

    set_timer = set_interval

    def _ticked(self) -> None:
        self.ticks += 1


@pytest.fixture
def view() -> FakeView:
    return FakeView()


@pytest.fixture
def ticker(view: FakeView) -> Ticker:
    return Ticker(cast(WorkspaceView, view), reduced=False)


def ticks_of_pictures(view: FakeView, ticker: Ticker, *moments: float) -> list[int]:
    """How many ticks there were after a picture at each of these moments."""
    ticks = []
    for view.now in moments:
        ticker.run(True)
        ticks.append(view.ticks)
    return ticks


def test_a_tick_that_is_due_soon_comes_with_the_next_picture(view: FakeView, ticker: Ticker) -> None:
    assert ticks_of_pictures(view, ticker, 100.0, 100.75, 100.85, 100.95) == [0, 0, 1, 1]


def test_after_an_early_tick_the_second_ends_as_usual(view: FakeView, ticker: Ticker) -> None:
    assert ticks_of_pictures(view, ticker, 100.0, 100.85) == [0, 1]
    view.now = 101.0
    ticker.end_second()
    assert view.ticks == 1
    assert ticks_of_pictures(view, ticker, 101.7) == [1]
    view.now = 102.0
    ticker.end_second()
    assert view.ticks == 2


def test_while_nothing_is_drawn_each_second_ticks(view: FakeView, ticker: Ticker) -> None:
    ticker.run(True)
    for view.now in (101.0, 102.0):
        ticker.end_second()
    assert view.ticks == 2
    assert view.timers == [1.0]


def test_after_a_turn_only_the_rest_is_timed_and_the_next_one_begins_anew(
    view: FakeView, ticker: Ticker
) -> None:
    ticks_of_pictures(view, ticker, 100.0, 100.9)
    ticker.run(False)
    view.now = 105.0
    ticker.run(False)
    assert (view.ticks, view.timers) == (1, [gc_policy.REST_SECONDS])
    ticker.run(True)
    assert (view.ticks, view.timers) == (1, [1.0])
    view.now = 106.0
    ticker.end_second()
    assert view.ticks == 2, "the early tick of the turn before doesn't count"
