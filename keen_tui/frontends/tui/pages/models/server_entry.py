"""Entering the address of a model server and, if it wants one, its key. The server is asked at once."""

from __future__ import annotations

from itertools import chain
from typing import Final

from rich.text import Text
from textual import on
from textual.app import ComposeResult
from textual.widgets import Input

from keen_tui.domain.errors import AuthFailed, KeenError
from keen_tui.frontends.shared.port import ModelsPort
from keen_tui.frontends.tui.look.cells import cut
from keen_tui.frontends.tui.look.glyphs import Glyphs
from keen_tui.frontends.tui.look.themes import Styles
from keen_tui.frontends.tui.pages.models.checking import told
from keen_tui.frontends.tui.pages.models.key_entry import kept_in
from keen_tui.frontends.tui.pages.models.values import ServerFound
from keen_tui.frontends.tui.terminal.laid_out_once import KeenScreen
from keen_tui.frontends.tui.widgets.field import Field
from keen_tui.frontends.tui.widgets.row_widget import RowWidget, indented, wrapped
from keen_tui.settings.config import is_loopback
from keen_tui.text.sanitize import clean

_KEYS: Final = {"enter": "connect", "tab": "switch", "escape": "leave"}
_EXAMPLE: Final = "http://gpu-box:8000/v1"
_ABOUT: Final = (
    "The base URL of any server that speaks Chat Completions, as most do.",
    "OPENAI_API_KEY is sent along if it is set and you enter no key.",
)


class ServerHead(RowWidget):
    """What the field below is for."""

    def __init__(self, styles: Styles, glyphs: Glyphs) -> None:
        super().__init__(styles, glyphs, id="server-head")
        self.key_for = ""

    def rows(self, width: int, height: int) -> list[Text]:
        title = f"The key for {clean(self.key_for)}" if self.key_for else "Another model server"
        title = cut(title, width - 4, self.glyphs.more)
        return [indented(Text(title, self.look("text", bold=True)), 2)]


class ServerRows(RowWidget):
    """What the server answered, if it was asked, and what happens to the address or the key."""

    def __init__(self, styles: Styles, glyphs: Glyphs) -> None:
        super().__init__(styles, glyphs, id="server-rows")
        self.sentence = ""
        self.about: tuple[str, ...] = _ABOUT

    def rows(self, width: int, height: int) -> list[Text]:
        room = min(width - 8, 100)
        answer = [*wrapped(clean(self.sentence), room, self.look("text")), Text()] if self.sentence else []
        about = (wrapped(clean(sentence), room, self.look("soft")) for sentence in self.about)
        return [indented(row, 4) for row in (*answer, *chain.from_iterable(about))]


class ServerFoot(RowWidget):
    """The keys that work now."""

    def __init__(self, styles: Styles, glyphs: Glyphs) -> None:
        super().__init__(styles, glyphs, id="server-foot")
        self.other = ""

    def rows(self, width: int, height: int) -> list[Text]:
        keys = (("enter", "connect"), ("tab", self.other), ("esc", "back"))
        return [indented(self.fact(*(self.key_hint(key, verb) for key, verb in keys)), 2)]


class ServerEntry(KeenScreen[ServerFound | None]):
    """Dismissed with the server that answered, or with None. An `address` that is given is asked at once.

    There is one field for the address and the key, so that no letter of a key can be drawn: see `Field`.
    """

    AUTO_FOCUS = "#server-field"

    def __init__(self, styles: Styles, glyphs: Glyphs, models: ModelsPort, address: str = "") -> None:
        super().__init__()
        self._models = models
        self._address = address
        self._key = ""
        self._destination = ""
        self._asked = ""
        self._head = ServerHead(styles, glyphs)
        self._field = Field(id="server-field", keys=_KEYS, value=address)
        self._rows = ServerRows(styles, glyphs)
        self._foot = ServerFoot(styles, glyphs)

    def compose(self) -> ComposeResult:
        yield self._head
        yield self._field
        yield self._rows
        yield self._foot

    def on_mount(self) -> None:
        self._show(of_key=False)
        self.run_worker(self._find_destination(), name="key-destination")
        if self._address:
            self.action_connect()

    def action_connect(self) -> None:
        """Ask the server at the address for its models."""
        self._read()
        self._asked = self._field.value
        self.run_worker(self._connect(), name="find-server", exclusive=True, group="find-server")

    def action_switch(self) -> None:
        """Go on to the key, or back to the address."""
        self._read()
        self._say("")
        self._show(of_key=not self._field.password)

    def action_leave(self) -> None:
        """Go back to the address, or leave."""
        if self._field.password:
            self.action_switch()
        else:
            self.dismiss(None)

    @on(Input.Changed)
    def _changed(self) -> None:
        """What is asked is no longer what is written: forget it."""
        if self._field.value != self._asked:
            self.workers.cancel_group(self, "find-server")
            self._say("")

    async def _connect(self) -> None:
        key = self._key.strip()
        try:
            found = await told(self._models.find_server(self._address, key), self._address, self._say)
            kept = await self._models.keep_key(found.provider, key) if key else ""
        except AuthFailed as error:
            self._show(of_key=True)
            self._say(str(error))
        except KeenError as error:
            self._say(str(error))
        else:
            self.dismiss(ServerFound(found.provider, kept))

    async def _find_destination(self) -> None:
        self._destination = await self._models.key_destination()
        self._show(of_key=self._field.password)

    def _read(self) -> None:
        """Note what is written in the field."""
        if self._field.password:
            self._key = self._field.value
        else:
            self._address = self._field.value

    def _show(self, *, of_key: bool) -> None:
        """Let the field hold the key, or the address."""
        if of_key != self._field.password:
            self._field.password = of_key
            self._asked = self._key if of_key else self._address
            self._field.write(self._asked)
        self._field.placeholder = "paste or type the key" if of_key else _EXAMPLE
        self._head.key_for = (self._address.strip() or "this server") if of_key else ""
        self._rows.about = self._about_key() if of_key else _ABOUT
        self._foot.other = "address" if of_key else "key"
        for part in (self._head, self._rows, self._foot):
            part.changed()

    def _about_key(self) -> tuple[str, ...]:
        words = f"{kept_in(self._destination)} It is sent to this address only, and is never shown or logged."
        address = self._address.strip().lower()
        is_open = address.startswith("http://") and not is_loopback(address)
        return (words, "With http:// it is sent unencrypted.") if is_open else (words,)

    def _say(self, sentence: str) -> None:
        self._rows.sentence = sentence
        self._rows.changed()
