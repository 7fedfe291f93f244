"""The part of the workspace that is about memory: the next request, and how much later turns are told."""

from __future__ import annotations

from typing import TYPE_CHECKING

from keen_tui.domain.errors import SessionRefused
from keen_tui.domain.reports import POLICIES
from keen_tui.frontends.tui.questions.confirm import memory_question
from keen_tui.frontends.tui.state.state import UiState
from keen_tui.frontends.tui.workspace.stage import Stage

if TYPE_CHECKING:
    from keen_tui.frontends.tui.pages.context.screen import ContextScreen


class MemoryActions(Stage):
    """Opens the context view and that of what was used, and changes the memory policy."""

    _opened: ContextScreen | None = None

    def show(self, state: UiState) -> None:
        """Draw this state, in an open context view too where the next request may have changed."""
        old = self.state
        super().show(state)
        view = self._context_view
        if view and not state.running and _what_is_sent(old) != _what_is_sent(state):
            view.show(state)

    def action_context(self) -> None:
        """Show what the next request holds if the draft is sent now."""
        if not self._context_view:
            self.run_worker(self._open_context(), name="context", group="context", exclusive=True)

    def action_usage(self) -> None:
        """Show what the session has used."""
        from keen_tui.frontends.tui.pages.usage import UsageScreen  # noqa: PLC0415 - not before the first paint

        self.app.push_screen(UsageScreen(self.status.look, self.status.glyphs, self.state))

    async def _open_context(self) -> None:
        from keen_tui.frontends.tui.pages.context.screen import ContextScreen  # noqa: PLC0415 - not before the first paint

        look, glyphs, draft = self.status.look, self.status.glyphs, self.prompt.written
        try:
            report = await self.session.context(draft)
        except SessionRefused as refused:
            self.say(str(refused))
            return
        self._opened = ContextScreen(look, glyphs, self.session, self.state, report, draft=draft)
        self.app.push_screen(self._opened)

    def action_memory(self) -> None:
        """Ask how much of a finished turn later turns shall get."""
        self.ask(memory_question(self.session.policy, self.status.glyphs))

    def answer_memory(self, choice: str) -> None:
        """Change the policy, or open the context view, where memory is edited."""
        self.close_question()
        policy = next((name for name in POLICIES if name == choice), None)
        if policy is None:
            self.action_context()
        elif policy == self.session.policy:
            self.say(f"Later turns get {policy}, as before.")
        else:
            try:
                self.session.set_policy(policy)
            except SessionRefused as refused:
                self.say(str(refused))
                return
            self.say(f"Later turns get {policy}, from the next turn on.")

    @property
    def _context_view(self) -> ContextScreen | None:
        """The context view while it is open."""
        return self._opened if self._opened in self.app.screen_stack else None


def _what_is_sent(state: UiState) -> tuple[object, ...]:
    """What of the state the next request depends on."""
    return state.turns, state.pending, state.policy, state.running, state.model
