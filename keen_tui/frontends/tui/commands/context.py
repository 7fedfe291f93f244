"""The context view while it is open."""

from __future__ import annotations

from typing import TYPE_CHECKING

from keen_tui.frontends.shared.pages import ContextPage
from keen_tui.frontends.tui.state.state import UiState
from keen_tui.frontends.tui.workspace.view import WorkspaceView

if TYPE_CHECKING:
    from keen_tui.frontends.tui.pages.context.screen import ContextScreen


class ContextViewer:
    """Opens the context view and updates it."""

    def __init__(self, view: WorkspaceView) -> None:
        self._view = view
        self._opened: ContextScreen | None = None

    def open(self, page: ContextPage) -> None:
        """Show the next request."""
        from keen_tui.frontends.tui.pages.context.screen import ContextScreen  # noqa: PLC0415 - not before the first paint

        view = self._view
        if not self._open:
            self._opened = ContextScreen(
                view.look,
                view.glyphs,
                view.controls,
                view.state,
                page.report,
                folder=view.session.workspace,
                draft=page.draft,
            )
            view.open_page(self._opened)

    def show(self, before: UiState, after: UiState) -> None:
        """Update an open context view if the next request may have changed."""
        page = self._open
        if page and not after.running and _what_is_sent(before) != _what_is_sent(after):
            page.show(after)

    @property
    def _open(self) -> ContextScreen | None:
        """The context view while it is open."""
        return self._opened if self._opened in self._view.app.screen_stack else None


def _what_is_sent(state: UiState) -> tuple[object, ...]:
    """The parts of the state that the next request depends on."""
    return state.turns, state.pending, state.policy, state.running, state.model
