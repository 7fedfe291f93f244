"""Entering an API key: for which provider, then the key itself, which is never drawn."""

from __future__ import annotations

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
from keen_tui.frontends.tui.pages.models.entry import EntryPage, kept_in
from keen_tui.frontends.tui.pages.models.values import KeyKept
from keen_tui.frontends.tui.widgets.row_widget import RowWidget, cut_row, indented
from keen_tui.text.sanitize import clean

_NAME_CELLS = 22


class KeyList(RowWidget):
    """The providers with what is known of their keys."""

    def __init__(self, styles: Styles, glyphs: Glyphs, models: ModelsPort) -> None:
        super().__init__(styles, glyphs, id="key-list")
        self.providers = [provider for provider in models.providers if provider.key_variables]
        self.place = 0
        self._models = models
        self._first = 0

    def rows(self, width: int, height: int) -> list[Text]:
        self._first = max(min(self._first, self.place), self.place - max(height, 1) + 1)
        places = range(self._first, min(self._first + height, len(self.providers)))
        return [indented(self._row(place, width - 4), 2) for place in places]

    def _row(self, place: int, width: int) -> Text:
        provider, chosen = self.providers[place], place == self.place
        source = self._models.key_source(provider)
        known = f"found in {source}" if source else f"not found in {' or '.join(provider.key_variables)}"
        if not source and len(known) > width - _NAME_CELLS - 2:
            known = f"not found in {provider.key_variables[0]}"
        row = Text.assemble(
            (f"{self.glyphs.prompt} " if chosen else "  ", self.look("accent")),
            (clean(provider.name).ljust(_NAME_CELLS), self.look("text", bold=chosen)),
            (clean(known), self.look("soft" if source else "dim")),
        )
        return cut_row(row, width, self.glyphs.more)


class KeyEntry(EntryPage[KeyKept | None]):
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
        super().__init__(styles, glyphs)
        self._models = models
        self._provider = provider
        self._destination = ""
        self._list = KeyList(styles, glyphs, models)
        self._field = Input(password=True, id="key-field", compact=True, placeholder="paste or type the key")
        self._field.cursor_blink = False

    def compose(self) -> ComposeResult:
        yield self.head
        yield self._list
        yield self._field
        yield self.below
        yield self.foot

    def on_mount(self) -> None:
        self._show()
        self.run_worker(self._find_destination(), name="key-destination")

    async def _find_destination(self) -> None:
        self._destination = await self._models.key_destination()
        self._show()

    def action_move(self, step: int) -> None:
        """Choose another provider."""
        self._list.place = min(max(self._list.place + step, 0), len(self._list.providers) - 1)
        self._list.changed()

    def action_choose(self) -> None:
        """Go on to the key of the chosen provider."""
        if self._provider is None and self._list.providers:
            self._provider = self._list.providers[self._list.place]
            self._show()

    @on(Input.Submitted)
    def _entered(self, event: Input.Submitted) -> None:
        if self._provider is not None:
            self.run_worker(self._keep(self._provider, event.value), name="keep-key", exclusive=True)

    async def _keep(self, provider: ProviderInfo, key: str) -> None:
        try:
            kept = await self._models.keep_key(provider, key)
        except KeenError as error:
            self.say(str(error))
            return
        finally:
            self._field.value = ""
        self.dismiss(KeyKept(provider, kept))

    def _show(self) -> None:
        """Show the providers or, once one is chosen, the field for its key."""
        provider = self._provider
        self._list.display = provider is None
        self._field.display = self.below.display = provider is not None
        if provider is None:
            arrows = self.foot.glyphs.up + self.foot.glyphs.down
            self.head.title = "Whose key do you want to enter?"
            self.foot.keys = ((arrows, "move"), ("enter", "choose"), ("esc", "back"))
        else:
            self.head.title = f"The key for {provider.name}"
            sent = f"It is sent to {provider.base_url} and nowhere else, and is never shown or logged."
            self.below.about = (kept_in(self._destination), sent)
            self.foot.keys = (("enter", "save it"), ("esc", "back"))
            self._field.focus()
        self.draw()
