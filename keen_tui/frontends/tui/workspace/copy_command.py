"""Text is copied: what is selected, the newest reply, the whole session."""

from __future__ import annotations

from keen_tui.frontends.tui.workspace.view import WorkspaceView


class CopyCommand:
    """Puts text on the clipboard, and says how much. What is long is copied beside everything else."""

    def __init__(self, view: WorkspaceView) -> None:
        self._view = view

    def copy(self, words: str = "") -> None:
        """Copy the newest reply, its code, or everything."""
        transcript = self._view.transcript
        match words.strip().lower():
            case "":
                transcript.copier.copy_reply()
            case "code":
                transcript.copier.copy_reply(code=True)
            case "all":
                transcript.copier.copy_everything()
                self._say_copying()
            case _:
                self._view.say("write /copy, /copy code or /copy all")

    def copy_selected(self) -> bool:
        """Copy what is selected in the transcript or in the prompt. False: nothing is."""
        view = self._view
        if view.transcript.copy_selection():
            view.clear_selection()
            self._say_copying()
        elif selected := view.prompt.selected_text:
            view.app.copy_to_clipboard(selected)
            view.say("copied")
        else:
            return False
        return True

    def _say_copying(self) -> None:
        if self._view.transcript.copier.busy:
            self._view.say("copying")
