"""More or less of what happened is shown."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from keen_tui.frontends.tui.questions.question import Question
from keen_tui.frontends.tui.transcript.blocks.folding import Folding
from keen_tui.frontends.tui.workspace.view import WorkspaceView

if TYPE_CHECKING:
    from keen_tui.frontends.tui.pages.whole_view import WholeView

_SAID: Final[dict[Folding, str]] = {
    "usual": "Usual view: edits, failed commands and your own commands are unfolded.",
    "unfolded": "All details are unfolded.",
    "folded": "All details are folded.",
}


class DetailLevel:
    """Folds the transcript, and shows on the whole screen what a question has no room for."""

    def __init__(self, view: WorkspaceView) -> None:
        self._view = view
        self._whole: WholeView | None = None

    def change(self) -> None:
        """The whole of what a question is about, where its pane shows a part; else the next way to fold."""
        pane = self._view.question_pane
        if pane.question and pane.is_cut:
            self._show_whole(pane.question)
        else:
            self._view.say(_SAID[self._view.transcript.next_folding()])

    def leave_whole(self) -> None:
        """Close the page about the question's subject, because the question is settled."""
        if self._whole is not None and self._whole.is_current:
            self._whole.dismiss()

    def _show_whole(self, question: Question) -> None:
        from keen_tui.frontends.tui.pages.whole_view import WholeView  # noqa: PLC0415 - not before the first paint

        self._whole = WholeView(self._view.look, self._view.glyphs, question)
        self._view.open_page(self._whole, self._left_whole)

    def _left_whole(self, _: None) -> None:
        self._whole = None
        self._view.question_pane.guard()
