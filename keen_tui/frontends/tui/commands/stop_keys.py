"""Handles esc and ctrl+c."""

from __future__ import annotations

from typing import Final

from keen_tui.frontends.shared.runs_port import RunsPort
from keen_tui.frontends.tui.commands.outbox import Outbox
from keen_tui.frontends.tui.commands.screen_ui import ScreenUi
from keen_tui.frontends.tui.keys.keymap import shown
from keen_tui.frontends.tui.workspace.complete import Completer
from keen_tui.frontends.tui.workspace.copy_command import CopyCommand
from keen_tui.frontends.tui.workspace.find import FindRow
from keen_tui.frontends.tui.workspace.turn_questions import TurnQuestions
from keen_tui.frontends.tui.workspace.view import WorkspaceView

AGAIN_WITHIN_SECONDS: Final = 2.0
"""How soon the second key to leave, or to stop, must follow the first."""


class StopKeys:
    """Ends what is nearest: a list, a search, a question, the turn, the program."""

    def __init__(
        self,
        view: WorkspaceView,
        questions: TurnQuestions,
        completer: Completer,
        find: FindRow,
        copier: CopyCommand,
        screen: ScreenUi,
        outbox: Outbox,
        runs: RunsPort | None,
    ) -> None:
        self._view = view
        self._questions = questions
        self._completer = completer
        self._find = find
        self._copier = copier
        self._screen = screen
        self._outbox = outbox
        self._runs = runs
        self._last_interrupt = float("-inf")
        self._last_escape = float("-inf")

    def stop(self) -> None:
        """Decline what is asked; else stop what runs; else go back to the composer, and twice in a row clear
        it."""
        pane, session = self._view.question_pane, self._view.session
        if self._completer.close() or self._find.leave() or pane.back():
            return
        question = pane.question
        again = self._again_since(self._last_escape)
        self._last_escape = self._view.clock()
        if question and question.interrupts:
            self._decline(again=again)
        elif question:
            self._view.close_question()
        elif not self._outbox.take_back():
            was_running = session.running
            if not self._stop_run():
                session.stop()  # a replay plays on although nothing runs
                if not was_running:
                    self._back_to_prompt(again=again)

    def interrupt(self) -> None:
        """Copy what is selected; else stop, or put away what is written; the second time leave."""
        if self._copier.copy_selected() or self._put_away_draft():
            return
        view = self._view
        again = self._again_since(self._last_interrupt)
        self._last_interrupt = view.clock()
        if self._screen.asks_to_leave:
            if not view.question_pane.guarded:
                view.app.exit("left")
        elif again:
            view.run("leave")
        elif not view.session.running and self._stop_run():
            view.say(f"the run has ended; {shown('interrupt')} again quits")
        elif view.session.running:
            view.session.stop()
            view.said.say_in_turn(f"stopping; {shown('interrupt')} again quits")
        else:
            view.say(f"{shown('interrupt')} again quits")

    def _stop_run(self) -> bool:
        """End the run that is on, with what it runs. False: none is on."""
        return self._runs is not None and self._runs.stop()

    def _decline(self, *, again: bool) -> None:
        """esc declines what the turn asks, but not before one can have seen it; twice in a row stops the
        turn."""
        if again:
            self._view.session.stop()
        elif not self._view.question_pane.guarded:
            self._questions.decline()

    def _put_away_draft(self) -> bool:
        """Clear a composer that is written in while nothing runs. False: there is nothing to clear."""
        prompt = self._view.prompt
        if self._view.session.running or not prompt.has_focus or not prompt.text.strip():
            return False
        prompt.clear_away()
        self._view.say(f"cleared; up brings it back, {shown('interrupt')} quits")
        return True

    def _back_to_prompt(self, *, again: bool) -> None:
        """esc while nothing runs: unselects, then leads to the composer; there, the second one clears it."""
        view, prompt = self._view, self._view.prompt
        if view.transcript.selection.has_marks:
            view.clear_selection()
        elif not prompt.has_focus:
            prompt.focus()
        elif prompt.text and again:
            prompt.put_away()
        elif prompt.text:
            view.say(f"{shown('stop')} again clears what you wrote")

    def _again_since(self, before: float) -> bool:
        return self._view.clock() - before <= AGAIN_WITHIN_SECONDS
