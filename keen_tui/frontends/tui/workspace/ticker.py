"""A tick each second while something runs. Later garbage is collected once; then no timer runs."""

from __future__ import annotations

from typing import Final

from textual.timer import Timer

from keen_tui.frontends.tui.terminal import gc_policy
from keen_tui.frontends.tui.workspace.view import WorkspaceView

_SECOND: Final = 1.0
_EARLY: Final = 0.2
"""Seconds that a tick may come early, if something else is painted then: one picture costs less than two."""


class Ticker:
    """Lets the panes breathe and count, unless the motion is `reduced`: then nothing blinks."""

    def __init__(self, view: WorkspaceView, *, reduced: bool) -> None:
        self._view = view
        self.reduced = reduced
        self._beat = True
        self._ticking: Timer | None = None
        self._began = 0.0
        """When the second began that ends with the next tick."""
        self._came_early = False
        self._resting: Timer | None = None

    def run(self, running: bool) -> None:
        """Tick from now on, or no more. Called whenever a state is drawn; if the next tick is due soon, it
        comes now."""
        if not running:
            self._stop()
        elif self._ticking is None:
            self._start()
        elif not self._came_early and self._view.clock() - self._began >= _SECOND - _EARLY:
            self._came_early = True
            self._tick()

    def put_off_rest(self) -> None:
        """Somebody is there."""
        if self._resting:
            self._resting.reset()

    def end_second(self) -> None:
        """A second has passed: tick, unless that was done early. So clocks count evenly."""
        came_early, self._came_early = self._came_early, False
        self._began = self._view.clock()
        if not came_early:
            self._tick()

    def _start(self) -> None:
        self._ticking = self._view.set_interval(_SECOND, self.end_second)
        self._began, self._came_early = self._view.clock(), False
        if self._resting:
            self._resting.stop()

    def _stop(self) -> None:
        if self._ticking is not None:
            self._ticking.stop()
            self._ticking = None
            self._resting = self._view.set_timer(gc_policy.REST_SECONDS, gc_policy.collect)
            self._beat = True

    def _tick(self) -> None:
        self._beat = self.reduced or not self._beat
        view = self._view
        view.transcript.tick()
        view.sidebar.tick(self._beat)
        view.strip.tick(self._beat)
        view.status.tick(self._beat)
