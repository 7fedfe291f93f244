"""After the first incomplete turn one row offers to keep such turns on disk."""

from __future__ import annotations

from keen_tui.frontends.shared.commands.turns import offers_disk
from keen_tui.frontends.shared.port import FrontEndSetup
from keen_tui.frontends.tui.state.state import UiState
from keen_tui.frontends.tui.workspace.view import WorkspaceView


class DiskOffer:
    """Shows the row while the interrupted turn waits. It takes no key but its own."""

    def __init__(self, view: WorkspaceView, setup: FrontEndSetup) -> None:
        self._view = view
        self._setup = setup

    def show(self, before: UiState, after: UiState) -> None:
        """Show or hide the row as this change of the state demands."""
        is_same = after.session_id == before.session_id and not (before.restoring or after.restoring)
        if is_same and after.pending and not before.pending:
            self._view.work(self._offer(), "offer")
        elif not _is_due(after):
            self._view.disk_offer.display = False

    async def _offer(self) -> None:
        if await offers_disk(self._setup):
            self._view.disk_offer.display = _is_due(self._view.state)


def _is_due(state: UiState) -> bool:
    return state.pending is not None and not (state.running or state.keeps_pending)
