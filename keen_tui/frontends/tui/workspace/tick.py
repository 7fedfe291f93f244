"""One tick a second while something runs. Later garbage is collected once; then no timer runs."""

from __future__ import annotations

from textual.timer import Timer

from keen_tui.frontends.tui.startup import gc_policy
from keen_tui.frontends.tui.workspace.view import WorkspaceView


class Ticker:
    """Lets the panes breathe and count, unless the motion is `reduced`: then nothing blinks."""

    def __init__(self, view: WorkspaceView, *, reduced: bool) -> None:
        self._view = view
        self.reduced = reduced
        self._beat = True
        self._ticking: Timer | None = None
        self._resting: Timer | None = None

    def run(self, running: bool) -> None:
        """Tick from now on, or no more."""
        if running and self._ticking is None:
            self._ticking = self._view.set_interval(1.0, self.tick)
            if self._resting:
                self._resting.stop()
        elif not running and self._ticking is not None:
            self._ticking.stop()
            self._ticking = None
            self._resting = self._view.set_timer(gc_policy.REST_SECONDS, gc_policy.collect)
            self._beat = True

    def put_off_rest(self) -> None:
        """Somebody is there."""
        if self._resting:
            self._resting.reset()

    def tick(self) -> None:
        """A second has passed."""
        self._beat = self.reduced or not self._beat
        view = self._view
        view.transcript.tick()
        view.sidebar.tick(self._beat)
        view.strip.tick(self._beat)
        view.status.tick(self._beat)
