"""The part of the workspace that runs commands of the user's own: messages that begin with `!`."""

from __future__ import annotations

from textual import on
from textual.widgets import TextArea

from keen_tui.domain.errors import SessionRefused
from keen_tui.frontends.tui.widgets.composer import SHELL_SIGN
from keen_tui.frontends.tui.workspace.stage import Stage


class ShellActions(Stage):
    """Hands the session what is to be run."""

    _is_command = False

    @on(TextArea.Changed, "#prompt")
    def _follow_sign(self) -> None:
        """The status bar says what enter does with a command."""
        if self.prompt.is_command != self._is_command:
            self._is_command = self.prompt.is_command
            self._show_status()

    def run_own_command(self, typed: str) -> None:
        """Run what was `typed` behind the sign. Where it can't be run it comes back."""
        command = typed.removeprefix(SHELL_SIGN).strip()
        if not command:
            self.prompt.write(typed)
            self.say("Write a command behind the !, for example !git status")
            return
        try:
            self.session.run_own(command)
        except SessionRefused as refused:
            self.prompt.write(typed)
            self.say(str(refused))
        else:
            self.transcript.action_scroll_end()
