"""The model picker: a search field, the list, the effort, a check of the connection."""

from __future__ import annotations

from typing import ClassVar

from rich.text import Text
from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.widgets import Input

from keen_tui.domain.errors import KeenError
from keen_tui.domain.models import ModelInfo, ProviderInfo
from keen_tui.frontends.shared.port import ModelsPort
from keen_tui.frontends.tui.keys.keymap import same_key, shown
from keen_tui.frontends.tui.look.glyphs import Glyphs
from keen_tui.frontends.tui.look.themes import Styles
from keen_tui.frontends.tui.pages.models.checking import tell_check
from keen_tui.frontends.tui.pages.models.offer_list import OfferList, effort_words
from keen_tui.frontends.tui.pages.models.offers import (
    KeyWanted,
    Offer,
    ServerWanted,
    Source,
    lines_of,
    next_effort,
    sources_of,
)
from keen_tui.frontends.tui.pages.models.values import Picked, WantsKey, WantsServer
from keen_tui.frontends.tui.terminal.laid_out_once import KeenScreen
from keen_tui.frontends.tui.widgets.row_widget import RowWidget, cut_row, indented, key_hints, spread, wrapped
from keen_tui.text.sanitize import clean
from keen_tui.text.units import counted

_LOW = 16
"""Rows below which nothing is left blank."""
_LOOKING = "looking for servers on this machine"


class PickerHead(RowWidget):
    """Title, the provider whose models alone are listed, and the model in use."""

    def __init__(self, styles: Styles, glyphs: Glyphs, models: ModelsPort, only: str) -> None:
        super().__init__(styles, glyphs, id="picker-head")
        self._models = models
        self._only = next((each.name for each in models.providers if each.id == only), "")

    def rows(self, width: int, height: int) -> list[Text]:
        current, effort = self._models.current, self._models.effort
        now = (
            f"now {clean(current.title)}{'  ' + effort if effort else ''}"
            if current
            else "none is chosen yet"
        )
        title = Text("Choose a model", self.look("text", bold=True))
        title.append(f"   {clean(self._only)}" if self._only else "", self.look("soft"))
        return [indented(spread(title, Text(now, self.look("dim")), width - 6, self.glyphs.more), 2)]


class PickerFoot(RowWidget):
    """One sentence or, dim, what is being asked; the effort of the chosen model; the keys."""

    def __init__(self, styles: Styles, glyphs: Glyphs) -> None:
        super().__init__(styles, glyphs, id="picker-foot")
        self.sentence = ""
        self.asking = ""
        self.offer: Offer | None = None
        self.effort = ""

    def rows(self, width: int, height: int) -> list[Text]:
        look = self.look
        effort = effort_words(self.offer.model, self.effort, look, self.glyphs) if self.offer else Text()
        keys = [("enter", "choose")]
        keys += [(f"{self.glyphs.left}{self.glyphs.right}", "effort")] if effort else []
        keys += [(shown("page_check"), "test connection"), (shown("page_fork"), "key"), ("esc", "back")]
        said = wrapped(clean(self.sentence), width - 4, look("soft"))
        if not self.sentence:
            said = [Text(self.asking, look("dim"))]
        page = (*said, cut_row(effort, width - 4, self.glyphs.more), key_hints(self, keys, width - 4))
        return [indented(row, 2) for row in page]


class ModelPicker(KeenScreen[Picked | WantsKey | WantsServer | None]):
    """Dismissed with what was picked. `only` is the id of a provider whose models alone are listed,
    `sentence` what is said at first, `words` what is looked for at first."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "dismiss", show=False),
        same_key("models", "dismiss"),
        Binding("up", "move(-1)", show=False),
        Binding("down", "move(1)", show=False),
        Binding("pageup", "move(-10)", show=False),
        Binding("pagedown", "move(10)", show=False),
        Binding("left", "effort(-1)", show=False, priority=True),
        Binding("right", "effort(1)", show=False, priority=True),
        same_key("page_check", "check"),
        same_key("page_fork", "enter_key", priority=True),
    ]

    def __init__(
        self,
        styles: Styles,
        glyphs: Glyphs,
        models: ModelsPort,
        *,
        only: str = "",
        sentence: str = "",
        words: str = "",
    ) -> None:
        super().__init__()
        self._models = models
        self._only = only
        self._sentence = sentence
        self._effort = models.effort
        self._live: dict[str, tuple[ModelInfo, ...]] = {}
        self._notes: dict[str, str] = {}
        self._head = PickerHead(styles, glyphs, models, only)
        self._search = Input(
            words,
            id="picker-search",
            compact=True,
            select_on_focus=False,
            placeholder="type to find a model, or its name",
        )
        self._search.cursor_blink = False
        self._list = OfferList(styles, glyphs)
        self._foot = PickerFoot(styles, glyphs)
        self._foot.sentence = sentence
        self._foot.asking = _LOOKING

    def compose(self) -> ComposeResult:
        yield self._head
        yield self._search
        yield self._list
        yield self._foot

    def on_resize(self, event: events.Resize) -> None:
        self.set_class(event.size.height < _LOW, "-low")

    def on_mount(self) -> None:
        self._search.focus()
        self.run_worker(self._find_servers(), name="find-servers")
        for provider in self._asked():
            self._notes[provider.id] = "asking for its list"
            self.run_worker(self._ask(provider), name=f"list-{provider.id}")
        self._show()

    @on(Input.Changed)
    def _narrow(self) -> None:
        self._show(to_top=bool(self._search.value.strip()))

    @on(OfferList.Clicked)
    @on(Input.Submitted)
    def _take(self) -> None:
        """Take the chosen line."""
        match self._list.chosen:
            case Offer(model=model):
                effort = self._effort if self._effort in model.efforts else ""
                self.dismiss(Picked(model, effort))
            case KeyWanted(source=source):
                self.dismiss(WantsKey(source.provider))
            case ServerWanted(address=address):
                self.dismiss(WantsServer(address))

    def action_move(self, step: int) -> None:
        """Choose another line."""
        self._list.move(step)
        self._tell()

    def action_effort(self, step: int) -> None:
        """Let the chosen model reason harder, or less."""
        if isinstance(chosen := self._list.chosen, Offer):
            self._effort = next_effort(chosen.model, self._effort, step)
            self._tell()

    def action_enter_key(self) -> None:
        """Enter a key for any provider."""
        self.dismiss(WantsKey(None))

    def action_check(self) -> None:
        """Test the connection for the chosen model."""
        model = chosen.model if isinstance(chosen := self._list.chosen, Offer) else None
        test = tell_check(self._models, self._say, model)
        self.run_worker(test, name="check", exclusive=True, group="check")

    async def _find_servers(self) -> None:
        for server in await self._models.find_servers():
            self._live[server.provider.id] = server.models
            if not server.models:
                self._notes[server.provider.id] = "it is running, but has no model yet"
        self._foot.asking = ""
        self._show()

    async def _ask(self, provider: ProviderInfo) -> None:
        try:
            found = await self._models.live_models(provider)
        except KeenError as error:
            answer = str(error)
            self._notes[provider.id] = "" if provider.id == self._only else answer
        else:
            self._live[provider.id] = found
            self._notes.pop(provider.id, None)
            answer = _answer(provider, len(found))
        if provider.id == self._only:
            self._say(f"{self._sentence} {answer}".strip())
        self._show()

    def _asked(self) -> list[ProviderInfo]:
        """The providers whose servers are asked for their lists: those with a key, those named by an address,
        the one in use, and the one whose models alone are listed."""
        current = self._models.current
        wanted = {self._only, current.provider if current else ""}
        return [
            provider
            for provider in self._models.providers
            if not provider.local
            and (provider.id in wanted or provider.by_address or self._models.key_source(provider))
        ]

    def _sources(self) -> list[Source]:
        providers = [each for each in self._models.providers if self._only in ("", each.id)]
        keys = {provider.id: self._models.key_source(provider) for provider in providers}
        return sources_of(providers, keys, self._live, self._notes)

    def _show(self, *, to_top: bool = False) -> None:
        query = self._search.value
        empty = (
            "No model has that name." if query.strip() else self._foot.asking or "Type the name of a model."
        )
        lines = lines_of(self._sources(), query, others=not self._only)
        self._list.show(lines, self._models.current, to_top=to_top, empty=empty)
        self._tell()

    def _say(self, sentence: str) -> None:
        self._foot.sentence = sentence
        self._foot.changed(layout=True)

    def _tell(self) -> None:
        chosen = self._list.chosen
        self._foot.offer = chosen if isinstance(chosen, Offer) else None
        efforts = chosen.model.efforts if isinstance(chosen, Offer) else ()
        self._foot.effort = self._effort if self._effort in efforts else ""
        self._foot.changed()


def _answer(provider: ProviderInfo, models: int) -> str:
    if not models:
        return f"{provider.name} answers, but lists no models. Type the name of one."
    return f"{provider.name} answers and lists {counted(models, 'model')}."
