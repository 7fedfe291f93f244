"""The questions of a turn: approvals, and questions of the model. They come before all other questions."""

from __future__ import annotations

from keen_tui.domain.events import ApprovalRequested, QuestionAsked
from keen_tui.frontends.shared.questions import SCOPES
from keen_tui.frontends.tui.questions.approval import approval_question
from keen_tui.frontends.tui.questions.asking import asked_question
from keen_tui.frontends.tui.questions.question import GivenAnswer
from keen_tui.frontends.tui.state.state import UiState
from keen_tui.frontends.tui.workspace.view import WorkspaceView

_NO = GivenAnswer(choice="no")


class TurnQuestions:
    """Asks these questions and passes the answers to the session. Only events settle them."""

    def __init__(self, view: WorkspaceView) -> None:
        self._view = view

    def show(self, before: UiState, after: UiState) -> None:
        """Ask new questions, and close settled ones."""
        approval, asked = after.approval, after.asked
        question = self._view.question_pane.question
        if approval and approval is not before.approval:
            self._ask_approval(approval)
        elif asked and asked is not before.asked:
            self._ask_question(asked)
        elif question and question.interrupts and not (approval or asked):
            self._view.close_question()

    def ask_again(self) -> None:
        """Ask the open question again, after another one has replaced it."""
        state = self._view.state
        if state.approval:
            self._ask_approval(state.approval)
        elif state.asked:
            self._ask_question(state.asked)

    def decline(self) -> None:
        """Answer no, without words."""
        state = self._view.state
        if state.approval:
            self._answer(state.approval, _NO)
        elif state.asked:
            self._reply(state.asked, None)

    def _ask_approval(self, event: ApprovalRequested) -> None:
        answer = self._view.open_question(approval_question(event))

        async def answered() -> None:
            if given := await answer:
                self._answer(event, given)

        self._view.work(answered(), "approval")

    def _ask_question(self, event: QuestionAsked) -> None:
        answer = self._view.open_question(asked_question(event))

        async def answered() -> None:
            if given := await answer:
                self._reply(event, given)

        self._view.work(answered(), "question")

    def _answer(self, event: ApprovalRequested, given: GivenAnswer) -> None:
        view = self._view
        if given.choice == "stop":
            view.session.stop()
            return
        allow, scope = given.choice in SCOPES, SCOPES.get(given.choice, "once")
        view.attempt(lambda: view.controls.answer(event.id, allow=allow, scope=scope, message=given.words))

    def _reply(self, event: QuestionAsked, given: GivenAnswer | None) -> None:
        choice, words = (int(given.choice), given.words) if given else (None, "")
        self._view.attempt(lambda: self._view.controls.reply(event.id, choice, words))
