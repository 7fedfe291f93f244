"""The part of the workspace that takes images from the clipboard."""

from __future__ import annotations

from textual import on

from keen_tui.domain.errors import KeenError
from keen_tui.frontends.tui.terminal.clipboard import clipboard_here
from keen_tui.frontends.tui.terminal.dropped_files import mention
from keen_tui.frontends.tui.widgets.composer import Prompt
from keen_tui.frontends.tui.workspace.remembering_actions import RememberingActions

_NO_IMAGE = "There is no image on the clipboard. One that is a file is named by its path: @shot.png"
_NO_CLIPBOARD = (
    "No image can be taken from the clipboard here: that needs a desktop, with wl-paste or xclip on Linux. "
    "One that is a file is named by its path: @shot.png"
)

_NOT_KEPT = "Nothing is kept here, no pasted image either. One that is a file is named by its path: @shot.png"


class PastingActions(RememberingActions):
    """Puts an image that was pasted into a file, and a label for it into the message."""

    def action_paste_image(self) -> None:
        """Take the image that is on the clipboard."""
        self.run_worker(self._paste_image(), name="image", group="image", exclusive=True)

    @on(Prompt.ImageWanted)
    def _paste_from_prompt(self) -> None:
        self.action_paste_image()

    async def _paste_image(self) -> None:
        clipboard = clipboard_here()
        content = await clipboard.image()
        if content is None:
            self._paste_text(_NO_IMAGE if clipboard.pastes_image else _NO_CLIPBOARD)
            return
        if self.prompts is None:
            self.say(_NOT_KEPT)
            return
        try:
            kept = await self.prompts.keep_image(content)
        except KeenError as problem:
            self.say(str(problem))
            return
        size = f"{kept.width} × {kept.height}"
        self.prompt.paste_image(size, mention(kept.path, self.session.workspace))

    def _paste_text(self, otherwise: str) -> None:
        """What the program itself copied, as the key did before it knew images."""
        if self.app.clipboard:
            self.prompt.action_paste()
        else:
            self.say(otherwise)
