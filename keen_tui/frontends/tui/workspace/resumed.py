"""After a session was resumed, one row says how large its next request is, and whether it had a run."""

from __future__ import annotations

import logging

from keen_tui.frontends.shared.commands.command import CommandContext
from keen_tui.frontends.shared.commands.memory import resumed
from keen_tui.frontends.shared.run_status import left_over
from keen_tui.frontends.tui.state.state import UiState
from keen_tui.frontends.tui.workspace.view import WorkspaceView

_log = logging.getLogger(__name__)

_AFTER_SECONDS = 0.3
"""Time for the newest reply to be drawn, and for keys that came meanwhile."""


class ResumedRow:
    """Says it above the composer, once the newest reply is on the screen."""

    def __init__(self, view: WorkspaceView, context: CommandContext) -> None:
        self._view = view
        self._context = context
        self._said = ""

    def show(self, before: UiState, after: UiState) -> None:
        """Begin to measure where this change of the state restored a session: a short one at once."""
        if after.running and not before.running:
            self._view.said.withdraw(self._said)
            self._view.said.withdraw(left_over(before.run) if before.run.is_on else "")
        is_new = after.session_id != before.session_id or before.restoring
        if is_new and not after.restoring and after.run.is_on and not after.replay:
            self._view.said.say_too(left_over(after.run))
        if is_new and not after.restoring and after.turns and not after.replay:
            self._view.call_after_refresh(self._wait)

    def _wait(self) -> None:
        self._view.set_timer(_AFTER_SECONDS, lambda: self._view.work(self._say(), "sizes", instead=True))

    async def _say(self) -> None:
        session = self._view.state.session_id
        try:
            words = await resumed(self._context)
        except Exception:
            _log.exception("the next request could not be measured")
            return
        if words and self._view.state.session_id == session:
            self._said = words
            self._view.said.say_too(words)
