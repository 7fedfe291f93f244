"""The part of the workspace that copies: what is selected, the newest reply, the whole session."""

from __future__ import annotations

from textual import on

from keen_tui.frontends.tui.transcript.messages import Copied
from keen_tui.frontends.tui.workspace.stage import Stage


class CopyActions(Stage):
    """Puts text on the clipboard, and says how much. What is long is copied beside everything else."""

    def action_copy(self, words: str = "") -> None:
        """Copy the newest reply, its code, or everything."""
        match words.strip().lower():
            case "":
                self.transcript.copier.copy_reply()
            case "code":
                self.transcript.copier.copy_reply(code=True)
            case "all":
                self.transcript.copier.copy_everything()
                self._tell_copying()
            case _:
                self.say("write /copy, /copy code or /copy all")

    def action_copy_text(self) -> None:
        """What the terminal's own key for copying does, where the terminal passes it on."""
        self.copy_selected()

    def copy_selected(self) -> bool:
        """Copy what is selected in the transcript or in the prompt. False: nothing is."""
        if self.transcript.copy_selection():
            self.clear_selection()
            self._tell_copying()
        elif selected := self.prompt.selected_text:
            self.app.copy_to_clipboard(selected)
            self.say("copied")
        else:
            return False
        return True

    @on(Copied)
    def _tell_copied(self, message: Copied) -> None:
        self.say(message.told)

    def _tell_copying(self) -> None:
        if self.transcript.copier.busy:
            self.say("copying")
