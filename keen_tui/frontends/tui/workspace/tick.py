"""One tick a second while something runs. After a turn, garbage is collected twice; then no timer runs."""

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
        self._cleaning: list[Timer] = []

    def run(self, running: bool) -> None:
        """Tick from now on, or no more."""
        if running and self._ticking is None:
            self._ticking = self._view.set_interval(1.0, self.tick)
            for timer in self._cleaning:
                timer.stop()
        elif not running and self._ticking is not None:
            self._ticking.stop()
            self._ticking = None
            self._cleaning = [
                self._view.set_timer(gc_policy.REST_SECONDS, self._collect_new),
                self._view.set_timer(gc_policy.AWAY_SECONDS, gc_policy.collect_all),
            ]
            self._beat = True

    def _collect_new(self) -> None:
        """Unless a page is open. It becomes garbage when it is closed, and would stay for a long time."""
        if self._view.is_active:
            gc_policy.collect_new()

    def tick(self) -> None:
        """A second has passed."""
        self._beat = self.reduced or not self._beat
        view = self._view
        view.transcript.tick()
        view.sidebar.tick(self._beat)
        view.strip.tick(self._beat)
        view.status.tick(self._beat)
