"""The MCP servers: a list with their states, and one with its tools and its log."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import ClassVar, Final

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.screen import Screen

from keen_tui.domain.errors import KeenError
from keen_tui.domain.servers import ServerReport
from keen_tui.frontends.shared.server_words import asking, facts, state_words
from keen_tui.frontends.shared.servers_port import ServersPort
from keen_tui.frontends.tui.keys.keymap import same_key, shown
from keen_tui.frontends.tui.look.glyphs import Glyphs
from keen_tui.frontends.tui.look.themes import Styles
from keen_tui.frontends.tui.pages.sign_in import SignInScreen
from keen_tui.frontends.tui.widgets.row_widget import RowWidget, cut_row, indented, spread
from keen_tui.text.sanitize import clean
from keen_tui.text.units import counted

_EDGE: Final = 2
_LOW: Final = 16
"""Rows of the terminal below which no blank ones stand between the parts of the page."""
_LOOK_SECONDS: Final = 0.5
"""How often the page looks at the servers again."""


class McpRows(RowWidget):
    """The list of servers, or with `opened` one of them whole."""

    def __init__(self, styles: Styles, glyphs: Glyphs, port: ServersPort, name: str) -> None:
        super().__init__(styles, glyphs, id="mcp-rows")
        self._port = port
        self._names = [server.name for server in port.servers()]
        self._at = self._names.index(name) if name in self._names else 0
        self.opened = name in self._names
        self._first = 0
        self._room = 1
        self.said = ""

    @property
    def chosen(self) -> str:
        """The name of the chosen server."""
        return self._names[self._at]

    def move(self, rows: int) -> None:
        """Choose another server, or scroll the open one."""
        if self.opened:
            self._first += rows
        else:
            self._at = max(min(self._at + rows, len(self._names) - 1), 0)
        self.said = ""
        self.changed()

    def move_page(self, pages: int) -> None:
        """Move by pages."""
        self.move(pages * max(self._room - 1, 1))

    def open(self, *, opened: bool) -> None:
        """Show one server whole, or the list."""
        self.opened, self._first, self.said = opened, 0, ""
        self.changed()

    def say(self, text: str) -> None:
        """Say a sentence above the keys."""
        self.said = text
        self.changed()

    def rows(self, width: int, height: int) -> list[Text]:
        gap = [Text()] if height >= _LOW else []
        inner = max(width - 2 * _EDGE, 1)
        servers = self._port.servers()
        body = self._whole(servers[self._at], inner) if self.opened else self._list(servers, inner)
        self._room = max(height - 3 - 3 * len(gap), 1)
        if self.opened:
            self._first = max(min(self._first, len(body) - self._room), 0)
        else:
            self._first = max(min(self._first, self._at), self._at - self._room + 1)
        seen = body[self._first : self._first + self._room]
        seen += [Text()] * (self._room - len(seen))
        needs_sign_in = servers[self._at].state == "sign-in"
        said = cut_row(Text(clean(self.said), self.look("soft")), inner, self.glyphs.more)
        page = [
            *gap,
            self._title(servers, inner),
            *gap,
            *seen,
            *gap,
            said,
            self._keys(inner, needs_sign_in=needs_sign_in),
        ]
        return [indented(row, _EDGE) for row in page]

    def _title(self, servers: tuple[ServerReport, ...], width: int) -> Text:
        title = "MCP servers" if not self.opened else f"MCP server {self.chosen}"
        right = "" if self.opened else counted(len(servers), "server")
        bold = Text(title, self.look("text", bold=True))
        return spread(bold, Text(right, self.look("dim")), width, self.glyphs.more)

    def _list(self, servers: tuple[ServerReport, ...], width: int) -> list[Text]:
        return [self._server(server, width, chosen=at == self._at) for at, server in enumerate(servers)]

    def _server(self, server: ServerReport, width: int, *, chosen: bool) -> Text:
        look = self.look
        bar = Text(self.glyphs.bar if chosen else " ", look("accent"))
        name = Text(server.name, look("text", bold=chosen))
        left = Text.assemble(bar, " ", self._mark(server), " ", name)
        role = {"failed": "fail", "sign-in": "wait"}.get(server.state, "dim")
        room = max(width - left.cell_len - 3, 1)
        right = cut_row(Text(state_words(server), look(role)), room, self.glyphs.more)
        row = spread(left, right, width, self.glyphs.more)
        return Text.assemble(row, style=look("text", on="raised")) if chosen else row

    def _mark(self, server: ServerReport) -> Text:
        look, glyphs = self.look, self.glyphs
        marks = {
            "starting": (glyphs.running, "accent"),
            "ready": (glyphs.done, "ok"),
            "failed": (glyphs.failed, "fail"),
            "stopped": (glyphs.stopped, "dim"),
            "sign-in": (glyphs.look, "wait"),
        }
        sign, role = marks[server.state]
        return Text(sign, look(role))

    def _whole(self, server: ServerReport, width: int) -> list[Text]:
        look = self.look
        rows = [Text.assemble(self._mark(server), " ", (state_words(server), look("text")))]
        rows += [Text(f"  {fact}", look("dim")) for fact in facts(server)]
        if server.tools:
            rows += [Text(), Text("tools", look("soft", bold=True))]
        for tool in server.tools:
            role = "text" if tool.is_used else "dim"
            unused = "" if tool.is_used else " (not used)"
            rows.append(
                Text.assemble(
                    "  ", (f"{tool.name}{unused}", look(role)), "  ", (tool.description, look("dim"))
                )
            )
        rows += [Text(), Text("log", look("soft", bold=True))]
        rows += [Text(f"  {line}", look("dim")) for line in server.log or ("nothing yet",)]
        return [cut_row(row, width, self.glyphs.more) for row in rows]

    def _keys(self, width: int, *, needs_sign_in: bool) -> Text:
        arrows = f"{self.glyphs.up}{self.glyphs.down}"
        verbs = ("scroll", "") if self.opened else ("choose", "tools and log")
        keys = (
            self.key_hint(arrows, verbs[0]),
            self.key_hint("enter", verbs[1]) if verbs[1] else Text(),
            self.key_hint(shown("page_sign_in"), "sign in") if needs_sign_in else Text(),
            self.key_hint(shown("page_restart"), "restart"),
            self.key_hint(shown("page_stop"), "stop"),
            self.key_hint("esc", "back"),
        )
        rows = (self.fact(*keys[first:]) for first in range(len(keys)))
        return next((row for row in rows if row.cell_len <= width), Text())


class McpScreen(Screen[None]):
    """Covers the workspace until esc."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q", "back", show=False),
        Binding("up", "move(-1)", show=False),
        Binding("down", "move(1)", show=False),
        Binding("pageup", "page(-1)", show=False),
        Binding("pagedown,space", "page(1)", show=False),
        Binding("home", "move(-1000000)", show=False),
        Binding("end", "move(1000000)", show=False),
        Binding("enter", "open", show=False),
        same_key("page_sign_in", "sign_in"),
        same_key("page_restart", "restart"),
        same_key("page_stop", "stop"),
    ]

    def __init__(self, styles: Styles, glyphs: Glyphs, port: ServersPort, name: str = "") -> None:
        super().__init__()
        self._port = port
        self._began_open = bool(name)
        self.table = McpRows(styles, glyphs, port, name)

    def compose(self) -> ComposeResult:
        yield self.table

    def on_mount(self) -> None:
        self.set_interval(_LOOK_SECONDS, self.table.changed)

    def action_move(self, rows: int) -> None:
        """Choose another server, or scroll."""
        self.table.move(rows)

    def action_page(self, pages: int) -> None:
        """Move by pages."""
        self.table.move_page(pages)

    def action_open(self) -> None:
        """Show the chosen server whole."""
        if not self.table.opened:
            self.table.open(opened=True)

    def action_back(self) -> None:
        """Go back to the list, or to the workspace."""
        if self.table.opened and not self._began_open:
            self.table.open(opened=False)
        else:
            self.dismiss(None)

    def action_sign_in(self) -> None:
        """Begin a sign-in to the chosen server."""
        self.run_worker(self._sign_in(self.table.chosen), group="sign-in", exclusive=True)

    async def _sign_in(self, name: str) -> None:
        self.table.say(asking(name))
        try:
            sign_in = await self._port.login(name)
        except KeenError as error:
            self.table.say(str(error))
        else:
            self.table.say("")
            page = SignInScreen(self.table.look, self.table.glyphs, sign_in)
            self.app.push_screen(page, lambda said: self.table.say(said or ""))

    def action_restart(self) -> None:
        """Start the chosen server again."""
        self.run_worker(self._told(self._port.restart), group="servers")

    def action_stop(self) -> None:
        """Stop the chosen server."""
        self.run_worker(self._told(self._port.stop), group="servers")

    async def _told(self, action: Callable[[str], Awaitable[str]]) -> None:
        try:
            self.table.say(await action(self.table.chosen))
        except KeenError as error:
            self.table.say(str(error))
