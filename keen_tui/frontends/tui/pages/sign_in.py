"""A sign-in to an MCP server: the address to open, and a field for the one that the browser was sent to."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from rich.text import Text
from textual import events

from keen_tui.domain.errors import KeenError
from keen_tui.frontends.shared.server_words import PASTE_WORDS, page_words
from keen_tui.frontends.shared.servers_port import OpenSignIn
from keen_tui.frontends.tui.look.glyphs import Glyphs
from keen_tui.frontends.tui.look.themes import Styles
from keen_tui.frontends.tui.pages.key import Key
from keen_tui.frontends.tui.pages.page_screen import EDGE, LOW, PageScreen
from keen_tui.frontends.tui.widgets.field import Field
from keen_tui.frontends.tui.widgets.row_widget import DrawnRows, cut_row, indented, wrapped
from keen_tui.text.sanitize import clean

_BELOW: Final = 3
"""Rows of the field and what is below it, without blank ones."""
_WIDEST: Final = 100


class SignInScreen(PageScreen[str]):
    """Closes when the sign-in ends, here or in the browser, with a sentence about that. Esc gives it up."""

    forgets = False

    def __init__(self, styles: Styles, glyphs: Glyphs, sign_in: OpenSignIn) -> None:
        super().__init__(styles, glyphs)
        self._sign_in = sign_in
        self._rows = DrawnRows(styles, glyphs, self._page, id="sign-in-rows")
        placeholder = "paste the address of the page"
        self._field = Field(self.press, id="sign-in-field", placeholder=placeholder)
        self.parts = (self._rows, self._field, self.foot)

    def on_mount(self) -> None:
        self.run_worker(self._wait(), name="sign-in")

    def on_resize(self, _: events.Resize) -> None:
        self._rows.changed(layout=True)

    def on_unmount(self) -> None:
        self._sign_in.cancel()

    def said(self, width: int) -> Sequence[Text]:
        return (cut_row(Text(clean(self.sentence), self.look("text")), width, self.glyphs.more),)

    def keys(self) -> Sequence[Key]:
        return (
            Key("enter", "sign in", self._take),
            Key("page_copy", "copy the address", self._copy),
            Key("escape", "cancel", self._give_up),
        )

    def _page(self, width: int, _: int) -> list[Text]:
        """The page to open, and what to paste."""
        look, high = self.look, self.size.height
        inner = max(width - 2 * EDGE, 1)
        wide = min(inner, _WIDEST)
        gap = [Text()] if high >= LOW else []
        words = f"Sign in to the MCP server {clean(self._sign_in.name)}"
        title = cut_row(Text(words, look("text", bold=True)), inner, self.glyphs.more)
        head = [*gap, title, *gap, *wrapped(page_words(self._sign_in), wide, look("soft")), *gap]
        foot = [*gap, *wrapped(PASTE_WORDS, wide, look("soft")), *gap]
        room = high - len(head) - len(foot) - _BELOW - 2 * len(gap)
        return [indented(row, EDGE) for row in (*head, *self._address(inner, max(room, 1)), *foot)]

    def _address(self, width: int, most: int) -> list[Text]:
        url, look = clean(self._sign_in.url), self.look("accent")
        if len(url) > width * most:
            url = url[: width * most - len(self.glyphs.more)] + self.glyphs.more
        return [Text(url[at : at + width], look) for at in range(0, len(url), width)]

    async def _wait(self) -> None:
        try:
            sentence = await self._sign_in.ended()
        except KeenError as error:
            sentence = str(error)
        self.dismiss(sentence)

    def _take(self) -> None:
        """Take the address in the field."""
        address = self._field.value.strip()
        self._field.write("")
        if not address:
            self.say("Paste the address of the page first.")
            return
        try:
            self._sign_in.paste(address)
        except KeenError as refused:
            self.say(str(refused))
        else:
            self.say("Signing in...")

    def _copy(self) -> None:
        self.app.copy_to_clipboard(self._sign_in.url)
        self.say("The address is copied.")

    def _give_up(self) -> None:
        self.workers.cancel_node(self)
        self.dismiss(f"The sign-in to {self._sign_in.name} was cancelled.")
