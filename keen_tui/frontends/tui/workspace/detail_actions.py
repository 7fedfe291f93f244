"""The part of the workspace that shows more or less of what happened."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from keen_tui.frontends.tui.questions.question import Question
from keen_tui.frontends.tui.transcript.folding import Folding
from keen_tui.frontends.tui.workspace.stage import Stage

if TYPE_CHECKING:
    from keen_tui.frontends.tui.pages.whole_view import WholeView

_SAID: Final[dict[Folding, str]] = {
    "usual": "Usual view: edits, failed commands and your own commands are unfolded.",
    "unfolded": "All details are unfolded.",
    "folded": "All details are folded.",
}


class DetailActions(Stage):
    """Folds the transcript, and shows on the whole screen what a question has no room for."""

    _whole: WholeView | None = None

    def action_details(self) -> None:
        """The whole of what a question is about, where its pane shows a part; else the next way to fold."""
        question = self.question_pane.question
        if question and self.question_pane.is_cut:
            self._show_whole(question)
        else:
            self.say(_SAID[self.transcript.next_folding()])

    def ask(self, question: Question) -> None:
        self._leave_whole()
        super().ask(question)

    def close_question(self) -> None:
        self._leave_whole()
        super().close_question()

    def _show_whole(self, question: Question) -> None:
        from keen_tui.frontends.tui.pages.whole_view import WholeView  # noqa: PLC0415 - not before the first paint

        self._whole = WholeView(self.status.look, self.status.glyphs, question)
        self.app.push_screen(self._whole, self._left_whole)

    def _left_whole(self, _: None) -> None:
        self._whole = None
        self.question_pane.guard()

    def _leave_whole(self) -> None:
        """What was asked about is settled: there is nothing to read any more."""
        if self._whole is not None and self._whole.is_current:
            self._whole.dismiss()
