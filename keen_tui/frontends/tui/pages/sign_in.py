"""A sign-in to an MCP server: the address to open, and a field for the one that the browser was sent to."""

from __future__ import annotations

from typing import Final

from rich.text import Text
from textual.app import ComposeResult

from keen_tui.domain.errors import KeenError
from keen_tui.frontends.shared.server_words import PASTE_WORDS, page_words
from keen_tui.frontends.shared.servers_port import OpenSignIn
from keen_tui.frontends.tui.keys.keymap import field_keys, shown
from keen_tui.frontends.tui.look.glyphs import Glyphs
from keen_tui.frontends.tui.look.themes import Styles
from keen_tui.frontends.tui.terminal.laid_out_once import KeenScreen
from keen_tui.frontends.tui.widgets.field import Field
from keen_tui.frontends.tui.widgets.row_widget import RowWidget, cut_row, indented, wrapped
from keen_tui.text.sanitize import clean

_KEYS: Final = {"enter": "take", "escape": "leave"}
_EDGE: Final = 2
_LOW: Final = 16
"""Rows of the terminal below which no blank ones stand between the parts of the page."""
_BELOW: Final = 3
"""Rows of the field and what is below it, without blank ones."""
_WIDEST: Final = 100


class SignInRows(RowWidget):
    """The page to open, and what to paste."""

    def __init__(self, styles: Styles, glyphs: Glyphs, sign_in: OpenSignIn) -> None:
        super().__init__(styles, glyphs, id="sign-in-rows")
        self._sign_in = sign_in

    def rows(self, width: int, height: int) -> list[Text]:
        look, high = self.look, self.screen.size.height
        inner = max(width - 2 * _EDGE, 1)
        wide = min(inner, _WIDEST)
        gap = [Text()] if high >= _LOW else []
        title = cut_row(Text(self._title, look("text", bold=True)), inner, self.glyphs.more)
        head = [*gap, title, *gap, *wrapped(page_words(self._sign_in), wide, look("soft")), *gap]
        foot = [*gap, *wrapped(PASTE_WORDS, wide, look("soft")), *gap]
        room = high - len(head) - len(foot) - _BELOW - 2 * len(gap)
        return [indented(row, _EDGE) for row in (*head, *self._address(inner, max(room, 1)), *foot)]

    @property
    def _title(self) -> str:
        return f"Sign in to the MCP server {clean(self._sign_in.name)}"

    def _address(self, width: int, most: int) -> list[Text]:
        url, look = clean(self._sign_in.url), self.look("accent")
        if len(url) > width * most:
            url = url[: width * most - len(self.glyphs.more)] + self.glyphs.more
        return [Text(url[at : at + width], look) for at in range(0, len(url), width)]


class SignInFoot(RowWidget):
    """A sentence, and the keys that work."""

    def __init__(self, styles: Styles, glyphs: Glyphs) -> None:
        super().__init__(styles, glyphs, id="sign-in-foot")
        self.said = ""

    def rows(self, width: int, height: int) -> list[Text]:
        inner = max(width - 2 * _EDGE, 1)
        said = cut_row(Text(clean(self.said), self.look("text")), inner, self.glyphs.more)
        keys = self.fact(
            self.key_hint("enter", "sign in"),
            self.key_hint(shown("page_copy"), "copy the address"),
            self.key_hint("esc", "cancel"),
        )
        return [indented(row, _EDGE) for row in (said, cut_row(keys, inner, self.glyphs.more))]


class SignInScreen(KeenScreen[str]):
    """Closes when the sign-in ends, here or in the browser, with a sentence about that. Esc gives it up."""

    def __init__(self, styles: Styles, glyphs: Glyphs, sign_in: OpenSignIn) -> None:
        super().__init__()
        self._sign_in = sign_in
        self._rows = SignInRows(styles, glyphs, sign_in)
        self._field = Field(id="sign-in-field", keys=_KEYS | field_keys({"page_copy": "copy"}))
        self._field.placeholder = "paste the address of the page"
        self._foot = SignInFoot(styles, glyphs)

    def compose(self) -> ComposeResult:
        yield self._rows
        yield self._field
        yield self._foot

    def on_mount(self) -> None:
        self.set_class(self.size.height < _LOW, "-low")
        self.run_worker(self._wait(), name="sign-in")

    def on_resize(self) -> None:
        self.set_class(self.size.height < _LOW, "-low")
        self._rows.changed(layout=True)

    def on_unmount(self) -> None:
        self._sign_in.cancel()

    async def _wait(self) -> None:
        try:
            sentence = await self._sign_in.ended()
        except KeenError as error:
            sentence = str(error)
        self.dismiss(sentence)

    def action_take(self) -> None:
        """Take the address in the field."""
        address = self._field.value.strip()
        self._field.write("")
        if not address:
            self._say("Paste the address of the page first.")
            return
        try:
            self._sign_in.paste(address)
        except KeenError as refused:
            self._say(str(refused))
        else:
            self._say("Signing in...")

    def action_copy(self) -> None:
        """Copy the address of the page to open."""
        self.app.copy_to_clipboard(self._sign_in.url)
        self._say("The address is copied.")

    def action_leave(self) -> None:
        """Give the sign-in up."""
        self.workers.cancel_node(self)
        self.dismiss(f"The sign-in to {self._sign_in.name} was cancelled.")

    def _say(self, sentence: str) -> None:
        self._foot.said = sentence
        self._foot.changed()
