"""When the panes tick."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, cast

import pytest

from keen_tui.frontends.tui.workspace.tick import Ticker
from keen_tui.frontends.tui.workspace.view import WorkspaceView


class FakeView:
    """A workspace that counts its ticks and lists the timers that run."""

    def __init__(self) -> None:
        self.now = 100.0
        self.ticks = 0
        self.intervals: list[float] = []
        """When each interval that still runs began."""
        self.transcript = SimpleNamespace(tick=self._ticked)
        self.sidebar = self.strip = self.status = SimpleNamespace(tick=lambda beat: None)

    def clock(self) -> float:
        return self.now

    def set_interval(self, seconds: float, action: Callable[[], None]) -> Any:
        began = self.now
        self.intervals.append(began)
        return SimpleNamespace(stop=lambda: self.intervals.remove(began))

    def set_timer(self, seconds: float, action: Callable[[], None]) -> Any:
        return SimpleNamespace(stop=lambda: None)

    def _ticked(self) -> None:
        self.ticks += 1


@pytest.fixture
def view() -> FakeView:
    return FakeView()


@pytest.fixture
def ticker(view: FakeView) -> Ticker:
    return Ticker(cast(WorkspaceView, view), reduced=False)


def test_a_tick_that_is_due_soon_comes_with_the_next_picture(view: FakeView, ticker: Ticker) -> None:
    ticker.run(True)
    view.now = 100.7
    ticker.run(True)
    assert (view.ticks, view.intervals) == (0, [100.0])
    view.now = 100.8
    ticker.run(True)
    assert (view.ticks, view.intervals) == (1, [100.8]), "the next one is due a second later"


def test_pictures_do_not_tick_more_often(view: FakeView, ticker: Ticker) -> None:
    ticker.run(True)
    view.now = 101.0
    ticker.tick()
    view.now = 101.7
    ticker.run(True)
    assert (view.ticks, view.intervals) == (1, [100.0])


def test_after_the_turn_nothing_ticks(view: FakeView, ticker: Ticker) -> None:
    ticker.run(True)
    view.now = 101.0
    ticker.run(False)
    view.now = 105.0
    ticker.run(False)
    assert (view.ticks, view.intervals) == (0, [])
    ticker.run(True)
    assert (view.ticks, view.intervals) == (0, [105.0])
