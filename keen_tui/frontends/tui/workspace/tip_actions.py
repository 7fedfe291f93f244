"""The part of the workspace that gives tips."""

from __future__ import annotations

import asyncio
from contextlib import suppress

from keen_tui.frontends.tui.state.state import UiState
from keen_tui.frontends.tui.state.tips import Tips
from keen_tui.frontends.tui.workspace.stage import Stage


class TipActions(Stage):
    """Shows a tip above the composer, where the tour has its words, and has it written down."""

    tips: Tips | None = None
    """None: none are given."""

    def show(self, state: UiState) -> None:
        before = self.state
        super().show(state)
        words = self.tips.next(before, state) if self.tips else None
        if words is None:
            return
        self.guide.text = words
        if words:
            self.run_worker(self._keep_tips(), name="tips")

    def used(self, action_id: str = "", key: str = "") -> None:
        """An action was used, or a key that may be one's: a tip about it has done its work."""
        if self.tips and self.tips.used(action_id, key):
            self.guide.text = ""

    async def _keep_tips(self) -> None:
        with suppress(OSError):  # it is given once more then
            if self.tips:
                await asyncio.to_thread(self.tips.keep)
