"""Tips are in the last row of an empty composer, until the next key."""

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
        """Show the tip that this change of the state makes due, unless somebody is writing or reading
        something else. Nothing moves for a tip: without an empty row there is none."""
        view, composer = self._view, self._view.composer
        is_free = (
            composer.display
            and not composer.flat
            and not view.prompt.text
            and view.app.screen is composer.screen
        )
        if self.tips and is_free and (words := self.tips.next(before, after)):
            composer.show_tip(words)
            view.work(self._keep(), "tips")

    def leave(self) -> None:
        """A key was pressed: the tip goes."""
        self._view.composer.show_tip("")

    async def _keep(self) -> None:
        with suppress(OSError):  # it is given once more then
            if self.tips:
                await asyncio.to_thread(self.tips.keep)
