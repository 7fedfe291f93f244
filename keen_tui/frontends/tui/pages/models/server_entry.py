"""Entering the address of a model server and, if it wants one, its key. The server is asked at once."""

from __future__ import annotations

from typing import Final

from textual import on
from textual.app import ComposeResult
from textual.widgets import Input

from keen_tui.domain.errors import AuthFailed, KeenError
from keen_tui.domain.models import FoundServer
from keen_tui.frontends.shared.port import ModelsPort
from keen_tui.frontends.tui.look.glyphs import Glyphs
from keen_tui.frontends.tui.look.themes import Styles
from keen_tui.frontends.tui.pages.models.checking import told
from keen_tui.frontends.tui.pages.models.entry import EntryPage, kept_in
from keen_tui.frontends.tui.pages.models.values import ServerFound
from keen_tui.frontends.tui.widgets.field import Field
from keen_tui.settings.config import is_loopback

_KEYS: Final = {"enter": "connect", "tab": "switch", "escape": "leave"}
_EXAMPLE: Final = "http://gpu-box:8000/v1"
_ABOUT: Final = (
    "The base URL of any server that speaks Chat Completions, as most do.",
    "OPENAI_API_KEY is sent along if it is set and you enter no key.",
)
_UNLISTED: Final = "Change the address, or press enter to type the name of a model."


class ServerEntry(EntryPage[ServerFound | None]):
    """Dismissed with the server that answered, or with None. An `address` that is given is asked at once. A
    server without a list of models is taken if enter is pressed once more.

    There is one field for the address and the key, so that no letter of a key can be drawn: see `Field`.
    """

    AUTO_FOCUS = "#server-field"

    def __init__(self, styles: Styles, glyphs: Glyphs, models: ModelsPort, address: str = "") -> None:
        super().__init__(styles, glyphs)
        self._models = models
        self._address = address
        self._key = ""
        self._destination = ""
        self._asked = ""
        self._unlisted: FoundServer | None = None
        self._field = Field(id="server-field", keys=_KEYS, value=address)

    def compose(self) -> ComposeResult:
        yield self.head
        yield self._field
        yield self.below
        yield self.foot

    def on_mount(self) -> None:
        self._show(of_key=False)
        self.run_worker(self._find_destination(), name="key-destination")
        if self._address:
            self.action_connect()

    def action_connect(self) -> None:
        """Ask the server at the address for its models, or take the one that has no list of them."""
        self._read()
        self._asked = self._field.value
        self.run_worker(self._connect(), name="find-server", exclusive=True, group="find-server")

    def action_switch(self) -> None:
        """Go on to the key, or back to the address."""
        self._read()
        self._forget()
        self._show(of_key=not self._field.password)

    def action_leave(self) -> None:
        """Go back to the address, or leave."""
        if self._field.password:
            self.action_switch()
        else:
            self.dismiss(None)

    @on(Input.Changed)
    def _changed(self) -> None:
        """Forget the server's answer once the address was edited."""
        if self._field.value != self._asked:
            self.workers.cancel_group(self, "find-server")
            self._forget()

    async def _connect(self) -> None:
        key = self._key.strip()
        try:
            found = self._unlisted
            if found is None:
                found = await told(self._models.find_server(self._address, key), self._address, self.say)
            if found.unlisted and found != self._unlisted:
                self._unlisted = found
                self.say(f"{found.unlisted} {_UNLISTED}")
                self._name_keys()
                return
            kept = await self._models.keep_key(found.provider, key) if key else ""
        except AuthFailed as error:
            self._show(of_key=True)
            self.say(str(error))
        except KeenError as error:
            self.say(str(error))
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

    def _forget(self) -> None:
        """Forget what the server answered."""
        self._unlisted = None
        self.say("")
        self._name_keys()

    def _show(self, *, of_key: bool) -> None:
        """Let the field hold the key, or the address."""
        if of_key != self._field.password:
            self._field.password = of_key
            self._asked = self._key if of_key else self._address
            self._field.write(self._asked)
        self._field.placeholder = "paste or type the key" if of_key else _EXAMPLE
        address = self._address.strip() or "this server"
        self.head.title = f"The key for {address}" if of_key else "Another model server"
        self.below.about = self._about_key() if of_key else _ABOUT
        self._name_keys()
        self.draw()

    def _name_keys(self) -> None:
        enter = "name a model" if self._unlisted else "connect"
        other = "address" if self._field.password else "key"
        self.foot.keys = (("enter", enter), ("tab", other), ("esc", "back"))
        self.foot.changed()

    def _about_key(self) -> tuple[str, ...]:
        words = (
            kept_in(self._destination),
            "It is sent to this address only, and is never shown or logged.",
        )
        address = self._address.strip().lower()
        is_open = address.startswith("http://") and not is_loopback(address)
        return (*words, "With http:// it is sent unencrypted.") if is_open else words
