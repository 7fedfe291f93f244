"""Entering an API key: for which provider, then the key itself, which is never drawn."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

from rich.text import Text
from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.widgets import Input

from keen_tui.domain.errors import KeenError
from keen_tui.domain.models import ProviderInfo
from keen_tui.frontends.shared.port import ModelsPort
from keen_tui.frontends.tui.look.glyphs import Glyphs
from keen_tui.frontends.tui.look.themes import Styles
from keen_tui.frontends.tui.pages.models.values import KeyKept
from keen_tui.frontends.tui.terminal.laid_out_once import KeenScreen
from keen_tui.frontends.tui.widgets.row_widget import RowWidget, indented, wrapped
from keen_tui.system.paths import home_relative
from keen_tui.text.sanitize import clean

_NAME_CELLS = 22
_ROWS_AROUND = 6
"""The rows of the screen above and below the list."""


class KeyRows(RowWidget):
    """The providers with what is known of their keys, or, once one is chosen, the words above the field."""

    def __init__(
        self, styles: Styles, glyphs: Glyphs, models: ModelsPort, chosen: ProviderInfo | None
    ) -> None:
        super().__init__(styles, glyphs, id="key-rows")
        self.providers = [provider for provider in models.providers if provider.key_variables]
        self.chosen = chosen
        self.place = 0
        self.sentence = ""
        self.destination = ""
        self._models = models
        self._first = 0

    def rows(self, width: int, height: int) -> list[Text]:
        page = self._for_chosen(self.chosen, width) if self.chosen else self._list(width)
        page += (
            [Text(), *wrapped(clean(self.sentence), width - 8, self.look("soft"))] if self.sentence else []
        )
        return [indented(row, 2) for row in page]

    def _list(self, width: int) -> list[Text]:
        rows = [Text("Whose key do you want to enter?", self.look("text", bold=True)), Text()]
        room = max(self.app.size.height - _ROWS_AROUND, 1)
        self._first = max(min(self._first, self.place), self.place - room + 1)
        for place, provider in list(enumerate(self.providers))[self._first : self._first + room]:
            source = self._models.key_source(provider)
            known = f"found in {source}" if source else f"not found in {' or '.join(provider.key_variables)}"
            chosen = place == self.place
            rows.append(
                Text.assemble(
                    (f"{self.glyphs.prompt} " if chosen else "  ", self.look("accent")),
                    (clean(provider.name).ljust(_NAME_CELLS), self.look("text", bold=chosen)),
                    (clean(known), self.look("soft" if source else "dim")),
                )
            )
        return rows

    def _for_chosen(self, provider: ProviderInfo, width: int) -> list[Text]:
        words = (
            f"{kept_in(self.destination)} It is sent to {provider.base_url} and nowhere else, and is never "
            "shown or logged."
        )
        return [
            Text(f"The key for {clean(provider.name)}", self.look("text", bold=True)),
            Text(),
            *wrapped(words, width - 8, self.look("soft")),
        ]


def kept_in(destination: str) -> str:
    """Where a key will be kept, as a sentence; "" while that is being found out."""
    if not destination.startswith("/"):
        return f"It is saved in {destination}." if destination else "It is saved on this machine."
    return f"It is saved in {home_relative(Path(destination))}, which only you can read."


class KeyFoot(RowWidget):
    """The keys that work now."""

    def __init__(self, styles: Styles, glyphs: Glyphs) -> None:
        super().__init__(styles, glyphs, id="key-foot")
        self.typing = False

    def rows(self, width: int, height: int) -> list[Text]:
        keys = [("enter", "save it" if self.typing else "choose"), ("esc", "back")]
        if not self.typing:
            keys.insert(0, (f"{self.glyphs.up}{self.glyphs.down}", "move"))
        return [indented(self.fact(*(self.key_hint(key, verb) for key, verb in keys)), 2)]


class KeyEntry(KeenScreen[KeyKept | None]):
    """Dismissed when a key was kept, or with None. `provider` leaves the first question out."""

    AUTO_FOCUS = ""
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "dismiss", show=False),
        Binding("up", "move(-1)", show=False),
        Binding("down", "move(1)", show=False),
        Binding("enter", "choose", show=False),
    ]

    def __init__(
        self, styles: Styles, glyphs: Glyphs, models: ModelsPort, provider: ProviderInfo | None = None
    ) -> None:
        super().__init__()
        self._models = models
        self._rows = KeyRows(styles, glyphs, models, provider)
        self._field = Input(password=True, id="key-field", compact=True, placeholder="paste or type the key")
        self._field.cursor_blink = False
        self._foot = KeyFoot(styles, glyphs)

    def compose(self) -> ComposeResult:
        yield self._rows
        yield self._field
        yield self._foot

    def on_mount(self) -> None:
        self._show_field()
        self.run_worker(self._find_destination(), name="key-destination")

    async def _find_destination(self) -> None:
        self._rows.destination = await self._models.key_destination()
        self._rows.changed(layout=True)

    def action_move(self, step: int) -> None:
        """Choose another provider."""
        if self._rows.chosen is None:
            self._rows.place = min(max(self._rows.place + step, 0), len(self._rows.providers) - 1)
            self._rows.changed()

    def action_choose(self) -> None:
        """Go on to the key of the chosen provider."""
        if self._rows.chosen is None and self._rows.providers:
            self._rows.chosen = self._rows.providers[self._rows.place]
            self._show_field()

    @on(Input.Submitted)
    def _entered(self, event: Input.Submitted) -> None:
        provider = self._rows.chosen
        if provider is not None:
            self.run_worker(self._keep(provider, event.value), name="keep-key", exclusive=True)

    async def _keep(self, provider: ProviderInfo, key: str) -> None:
        try:
            kept = await self._models.keep_key(provider, key)
        except KeenError as error:
            self._say(str(error))
            return
        finally:
            self._field.value = ""
        self.dismiss(KeyKept(provider, kept))

    def _say(self, sentence: str) -> None:
        self._rows.sentence = sentence
        self._rows.changed(layout=True)

    def _show_field(self) -> None:
        self._field.display = self._rows.chosen is not None
        self._foot.typing = self._field.display
        self._foot.changed()
        self._rows.changed(layout=True)
        if self._field.display:
            self._field.focus()
