"""Tips stand above the composer, where the tour has its words."""

from __future__ import annotations

import asyncio
from contextlib import suppress

from keen_tui.frontends.tui.state.state import UiState
from keen_tui.frontends.tui.state.tips import Tips
from keen_tui.frontends.tui.workspace.view import WorkspaceView


class TipRow:
    """Shows a tip, and has it written down. Without `tips` none are given."""

    def __init__(self, view: WorkspaceView) -> None:
        self._view = view
        self.tips: Tips | None = None

    def show(self, before: UiState, after: UiState) -> None:
        """Show the tip that this change of the state makes due."""
        words = self.tips.next(before, after) if self.tips else None
        if words is None:
            return
        self._view.guide.text = words
        if words:
            self._view.work(self._keep(), "tips")

    def used(self, action_id: str = "", key: str = "") -> None:
        """An action was used, or a key that may be one's: a tip about it has done its work."""
        if self.tips and self.tips.used(action_id, key):
            self._view.guide.text = ""

    async def _keep(self) -> None:
        with suppress(OSError):  # it is given once more then
            if self.tips:
                await asyncio.to_thread(self.tips.keep)
