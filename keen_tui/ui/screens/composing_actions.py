"""The part of the workspace that helps to write a message."""

from __future__ import annotations

from keen_tui.ui.screens.stage import Stage


class ComposingActions(Stage):
    """Opens the editor."""

    def action_edit_draft(self) -> None:
        """Go on writing in the user's own editor."""
        self.run_worker(self._edit_draft(), name="editor", group="editor", exclusive=True)

    async def _edit_draft(self) -> None:
        from keen_tui.ui.editor import EditorFailed, edited  # noqa: PLC0415 - not before the first paint

        try:
            text = await edited(self.app, self.prompt.written)
        except EditorFailed as failed:
            self.say(str(failed))
        else:
            self.prompt.write(text)
