"""The part of the workspace that moves: the focus from pane to pane, and what is seen of the transcript."""

from __future__ import annotations

from textual.widget import Widget

from keen_tui.frontends.tui.panels.panel import Panel
from keen_tui.frontends.tui.transcript.widget import Transcript
from keen_tui.frontends.tui.workspace.composing_actions import ComposingActions


class MovingActions(ComposingActions):
    """Keys that lead somewhere, from the composer too."""

    def action_next_pane(self) -> None:
        """Write what is chosen; else move the focus on: composer, transcript, panels."""
        if not self.take_completion():
            panes = sorted(self.focus_chain, key=_rank)
            place = panes.index(self.focused) + 1 if self.focused in panes else 0
            self.set_focus(panes[place % len(panes)] if panes else None)

    def action_page_up(self) -> None:
        """Up in a long question, else in the transcript."""
        if not self.question_pane.scroll_body(-1):
            self.transcript.action_page_up()

    def action_page_down(self) -> None:
        """Down in a long question, else in the transcript."""
        if not self.question_pane.scroll_body(1):
            self.transcript.action_page_down()

    def action_top(self) -> None:
        """To the first message."""
        self.transcript.action_scroll_home()

    def action_bottom(self) -> None:
        """To the newest row, following it from now on."""
        self.transcript.action_scroll_end()


def _rank(pane: Widget) -> int:
    """The place of a pane in the way that the focus takes; those of a place as they stand on the screen."""
    return 1 if isinstance(pane, Transcript) else 2 if isinstance(pane, Panel) else 0
