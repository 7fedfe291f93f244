"""The first start: what there is to begin with, on this machine and in the environment."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import ClassVar

from msgspec import Struct
from rich.text import Text
from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType

from keen_tui import __version__
from keen_tui.domain.models import FoundServer
from keen_tui.frontends.shared.port import ModelsPort
from keen_tui.frontends.tui.keys.keymap import same_key, shown
from keen_tui.frontends.tui.look.cells import cut
from keen_tui.frontends.tui.look.glyphs import Glyphs
from keen_tui.frontends.tui.look.themes import Styles
from keen_tui.frontends.tui.pages.help import HelpScreen
from keen_tui.frontends.tui.pages.models.values import Beginning, FromProvider
from keen_tui.frontends.tui.terminal.laid_out_once import KeenScreen
from keen_tui.frontends.tui.widgets.row_widget import GAP, RowWidget, indented, key_hints, spread, wrapped
from keen_tui.frontends.tui.widgets.welcome import brand_rows, different_rows
from keen_tui.system.paths import home_relative
from keen_tui.text.sanitize import clean
from keen_tui.text.units import counted

_WIDTH = 72
_FACT_AT = 26
_BAR = 2
"""Cells that the bar of the chosen entry stands left of the text."""


class _StartLine(Struct, frozen=True):
    """A line of the page: the title of a group, an entry that leads somewhere, or one that is not there."""

    name: str
    fact: str = ""
    leads_to: Beginning | None = None
    is_title: bool = False


_BLANK = _StartLine("", is_title=True)


class StartRows(RowWidget):
    """The page, from what has been found so far: `servers` is None while they are looked for."""

    def __init__(self, styles: Styles, glyphs: Glyphs, models: ModelsPort, reason: str) -> None:
        super().__init__(styles, glyphs, id="start-rows")
        self.servers: tuple[FoundServer, ...] | None = None
        self.place = 0
        self.key_destination = ""
        self._models = models
        self._reason = reason
        self._entry_at: dict[int, int] = {}

    @property
    def entries(self) -> list[Beginning]:
        """The ways to begin that can be chosen, from the top."""
        return [line.leads_to for line in self._lines() if line.leads_to is not None]

    def entry_at(self, row: int) -> int | None:
        """The number of the entry that is drawn in a row."""
        return self._entry_at.get(row)

    def rows(self, width: int, height: int) -> list[Text]:
        room = min(_WIDTH, width - 6)
        margin = max((width - room) // 2, _BAR + 1)
        lines = list(self._lines())
        brand, title = brand_rows(self.look, self.glyphs, room), self._title(room)
        head = [*brand, Text(), *title, Text()]
        if len(head) + len(lines) > height:
            lines = [line for line in lines if line != _BLANK]
        if len(head) + len(lines) > height:
            head = title
        if len(head) + len(lines) > height:
            lines = [line for line in lines if line.leads_to is not None]
        keys = [Text(), Text(), *different_rows(self.look, room, self.glyphs.more)]
        if len(head) + len(lines) + len(keys) + 3 <= height:
            head = [*brand, Text(), Text(), *title, Text()]
        keys = keys if len(head) + len(lines) + len(keys) < height else []
        above = max((height - len(head) - len(lines) - len(keys)) // 2, 0)
        rows = [Text()] * above + [indented(row, margin) for row in head]
        self._entry_at = {}
        entry = 0
        for line in lines:
            chosen = line.leads_to is not None and entry == self.place
            if line.leads_to is not None:
                self._entry_at[len(rows)] = entry
                entry += 1
            rows.append(indented(self._drawn_line(line, entry, room, chosen), margin - _BAR))
        return rows + [indented(row, margin) for row in keys]

    def _title(self, room: int) -> list[Text]:
        title = Text("Choose a model to begin", self.look("text", bold=True))
        return [title, *wrapped(clean(self._reason), room, self.look("soft"))] if self._reason else [title]

    def _drawn_line(self, line: _StartLine, number: int, room: int, chosen: bool) -> Text:
        look, on = self.look, "raised" if chosen else None
        if line.is_title:
            return indented(Text(line.name, look("dim")), _BAR)
        there = line.leads_to is not None
        mark = str(number) if there else self.glyphs.none
        name = clean(line.name)
        if there:
            name = cut(name, _FACT_AT - 5, self.glyphs.more)
        name = name.ljust(_FACT_AT - 5) + "  "
        left = Text.assemble(
            (self.glyphs.bar if chosen else " ", look("accent", on=on)),
            (" ", look("text", on=on)),
            (mark.ljust(3), look("text" if there else "dim", on=on, bold=there)),
            (name, look("text" if there else "dim", on=on, bold=chosen)),
            (clean(line.fact), look("soft" if there else "dim", on=on)),
        )
        if not chosen:
            return left
        hint = Text("enter ", look("text", on=on, bold=True))
        fits = left.cell_len + hint.cell_len < room + _BAR + 2
        row = spread(left, hint if fits else Text(" "), room + _BAR + 2, self.glyphs.more)
        return Text.assemble(row, style=look("text", on=on))

    def _lines(self) -> Iterator[_StartLine]:
        yield _StartLine("on this machine", is_title=True)
        yield from self._local_lines()
        found = [each for each in self._models.providers if self._models.key_source(each)]
        if found:
            yield _BLANK
            yield _StartLine("keys found", is_title=True)
        for provider in found:
            yield _StartLine(provider.name, self._models.key_source(provider) or "", FromProvider(provider))
        yield _BLANK
        yield _StartLine("or", is_title=True)
        yield _StartLine("Enter a key", self._kept_in(), "key")
        yield _StartLine("Another server", "OpenAI-compatible, by address", "server")
        yield _StartLine("Guided demo", "3 minutes, no key, no network", "demo")

    def _kept_in(self) -> str:
        where = self.key_destination
        return f"saved in {home_relative(Path(where)) if where.startswith('/') else where}" if where else ""

    def _local_lines(self) -> Iterator[_StartLine]:
        local = [provider for provider in self._models.providers if provider.local]
        if self.servers is None:
            names = ", ".join(provider.name for provider in local)
            yield _StartLine("looking for servers", names)
            return
        for server in self.servers:
            models = counted(len(server.models), "model").ljust(11)
            one = server.models[0] if len(server.models) == 1 else FromProvider(server.provider)
            yield _StartLine(server.provider.name, f"{models}{server.address}", one)
        running = {server.provider.id for server in self.servers}
        absent = [provider.name for provider in local if provider.id not in running]
        if absent:
            yield _StartLine(", ".join(absent), "not running")


class StartFoot(RowWidget):
    """The keys that work here, and the version."""

    def rows(self, width: int, height: int) -> list[Text]:
        keys = (
            (f"{self.glyphs.up}{self.glyphs.down}", "move"),
            ("enter", "choose"),
            (shown("help"), "help"),
            ("esc", "skip"),
            ("ctrl+d", "quit"),
        )
        left = key_hints(self, (hint for hint in keys if hint[0]), width - 3)
        version = Text(f"keen {__version__}", self.look("dim"))
        room = width - 4 - left.cell_len - len(GAP)
        row = spread(left, version, width - 4) if version.cell_len <= room else left
        return [indented(row, 2)]


class StartScreen(KeenScreen[Beginning | None]):
    """Dismissed with what to begin with; None: the user wants to look around first."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "dismiss", show=False),
        Binding("up", "move(-1)", show=False),
        Binding("down", "move(1)", show=False),
        Binding("enter", "choose", show=False),
        same_key("help", "help"),
        Binding("ctrl+d,ctrl+q", "app.quit", show=False),
        *(Binding(str(number), f"number({number})", show=False) for number in range(1, 10)),
    ]

    def __init__(self, styles: Styles, glyphs: Glyphs, models: ModelsPort, *, reason: str = "") -> None:
        super().__init__()
        self._models = models
        self._rows = StartRows(styles, glyphs, models, reason)
        self._foot = StartFoot(styles, glyphs, id="start-foot")

    def compose(self) -> ComposeResult:
        yield self._rows
        yield self._foot

    def on_mount(self) -> None:
        self.run_worker(self._look_around(), name="find-servers")
        self.run_worker(self._find_destination(), name="key-destination")

    def action_move(self, step: int) -> None:
        """Choose another entry."""
        self._rows.place = min(max(self._rows.place + step, 0), len(self._rows.entries) - 1)
        self._rows.changed()

    def action_choose(self) -> None:
        """Begin with the chosen entry."""
        self.action_number(self._rows.place + 1)

    def action_number(self, number: int) -> None:
        """Begin with the entry of that number."""
        if number <= len(self._rows.entries):
            self.dismiss(self._rows.entries[number - 1])

    def action_help(self) -> None:
        """Open the help page."""
        self.app.push_screen(HelpScreen(self._rows.look, self._rows.glyphs, "anywhere"))

    def on_click(self, event: events.Click) -> None:
        entry = self._rows.entry_at(event.y)
        if entry is not None:
            self.action_number(entry + 1)

    async def _find_destination(self) -> None:
        self._rows.key_destination = await self._models.key_destination()
        self._rows.changed()

    async def _look_around(self) -> None:
        """Look for servers on this machine. The choice stays when they appear above it, unless the first
        entry is chosen."""
        servers = await self._models.find_servers()
        chosen = self._rows.entries[self._rows.place]
        self._rows.servers = servers
        if self._rows.place:
            self._rows.place = self._rows.entries.index(chosen)
        self._rows.changed()
