"""The commands about memory: the next request, and how much later turns are told."""

from __future__ import annotations

from typing import TYPE_CHECKING

from keen_tui.domain.errors import SessionRefused
from keen_tui.domain.reports import POLICIES
from keen_tui.frontends.tui.questions.confirm import memory_question
from keen_tui.frontends.tui.state.state import UiState
from keen_tui.frontends.tui.workspace.view import WorkspaceView

if TYPE_CHECKING:
    from keen_tui.frontends.tui.pages.context.screen import ContextScreen


class MemoryCommands:
    """Opens the context view, and changes the memory policy."""

    def __init__(self, view: WorkspaceView) -> None:
        self._view = view
        self._opened: ContextScreen | None = None

    def show(self, before: UiState, after: UiState) -> None:
        """Draw this state in an open context view, where the next request may have changed."""
        page = self._page
        if page and not after.running and _what_is_sent(before) != _what_is_sent(after):
            page.show(after)

    def context(self) -> None:
        """Show what the next request holds if the draft is sent now."""
        if not self._page:
            self._view.work(self._open(), "context", instead=True)

    async def memory(self) -> None:
        """Ask how much of a finished turn later turns shall get, and change the policy, or open the context
        view, where memory is edited."""
        view, session = self._view, self._view.session
        choice = await view.ask(memory_question(session.policy, view.glyphs))
        policy = next((name for name in POLICIES if name == choice), None)
        if not choice:
            return
        if policy is None:
            self.context()
        elif policy == session.policy:
            view.say(f"Later turns get {policy}, as before.")
        elif view.attempt(lambda: view.controls.set_policy(policy)):
            view.say(f"Later turns get {policy}, from the next turn on.")

    async def _open(self) -> None:
        from keen_tui.frontends.tui.pages.context.screen import ContextScreen  # noqa: PLC0415 - not before the first paint

        view, draft = self._view, self._view.prompt.written
        try:
            controls = view.controls
            report = await controls.context(draft)
        except SessionRefused as refused:
            view.say(str(refused))
            return
        folder = view.session.workspace
        self._opened = ContextScreen(
            view.look, view.glyphs, controls, view.state, report, folder=folder, draft=draft
        )
        view.open_page(self._opened)

    @property
    def _page(self) -> ContextScreen | None:
        """The context view while it is open."""
        return self._opened if self._opened in self._view.app.screen_stack else None


def _what_is_sent(state: UiState) -> tuple[object, ...]:
    """What of the state the next request depends on."""
    return state.turns, state.pending, state.policy, state.running, state.model
