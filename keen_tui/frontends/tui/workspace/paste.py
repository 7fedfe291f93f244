"""An image that is pasted goes into a file, and a label for it into the message."""

from __future__ import annotations

from keen_tui.domain.errors import KeenError
from keen_tui.frontends.shared.mentions import mention
from keen_tui.frontends.tui.terminal.clipboard import clipboard_here
from keen_tui.frontends.tui.workspace.view import WorkspaceView

_NO_IMAGE = "There is no image on the clipboard. To attach a file, write its path: @shot.png"
_NO_CLIPBOARD = (
    "No image can be taken from the clipboard here: that needs a desktop, with wl-paste or xclip on Linux. "
    "To attach a file, write its path: @shot.png"
)

_NOT_KEPT = "Nothing is saved here, not even a pasted image. To attach a file, write its path: @shot.png"


class ImagePaste:
    """Takes images from the clipboard."""

    def __init__(self, view: WorkspaceView) -> None:
        self._view = view

    def start(self) -> None:
        """Take the image that is on the clipboard."""
        self._view.work(self._paste(), "image", instead=True)

    async def _paste(self) -> None:
        view, clipboard = self._view, clipboard_here()
        content = await clipboard.image()
        if content is None:
            self._paste_text(_NO_IMAGE if clipboard.pastes_image else _NO_CLIPBOARD)
            return
        if view.prompts is None:
            view.say(_NOT_KEPT)
            return
        try:
            kept = await view.prompts.keep_image(content)
        except KeenError as problem:
            view.say(str(problem))
            return
        size = f"{kept.width} × {kept.height}"
        view.prompt.paste_image(size, mention(kept.path, view.session.workspace))

    def _paste_text(self, otherwise: str) -> None:
        """Paste the text that was copied in this program, or say `otherwise` if there is none."""
        if self._view.app.clipboard:
            self._view.prompt.action_paste()
        else:
            self._view.say(otherwise)
