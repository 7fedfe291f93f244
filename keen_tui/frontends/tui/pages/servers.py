"""The MCP servers: a list with their states, and one with its tools and its log."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from rich.text import Text
from textual.binding import BindingType

from keen_tui.domain.errors import KeenError
from keen_tui.domain.servers import ServerReport
from keen_tui.frontends.shared.server_words import asking, facts, state_words
from keen_tui.frontends.shared.servers_port import ServersPort
from keen_tui.frontends.tui.keys.keymap import same_key, shown
from keen_tui.frontends.tui.look.glyphs import Glyphs
from keen_tui.frontends.tui.look.themes import Styles
from keen_tui.frontends.tui.pages.live_list import LiveListScreen, LiveRows
from keen_tui.frontends.tui.pages.sign_in import SignInScreen
from keen_tui.frontends.tui.widgets.row_widget import cut_row
from keen_tui.text.units import counted


class McpRows(LiveRows):
    """The servers."""

    def __init__(self, styles: Styles, glyphs: Glyphs, port: ServersPort, name: str) -> None:
        self._port = port
        super().__init__(styles, glyphs, name)

    def names(self) -> Sequence[str]:
        return [server.name for server in self._port.servers()]

    def title(self) -> tuple[str, str]:
        if self.opened:
            return f"MCP server {self.chosen}", ""
        return "MCP servers", counted(len(self._port.servers()), "server")

    def entry(self, name: str, width: int, *, chosen: bool) -> tuple[Text, Text]:
        look, server = self.look, self._server(name)
        left = Text.assemble(self._mark(server), " ", (name, look("text", bold=chosen)))
        role = {"failed": "fail", "sign-in": "wait"}.get(server.state, "dim")
        room = max(width - left.cell_len - 3, 1)
        return left, cut_row(Text(state_words(server), look(role)), room, self.glyphs.more)

    def whole(self, name: str, width: int) -> list[Text]:
        look, server = self.look, self._server(name)
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
        return [*rows, *(Text(f"  {line}", look("dim")) for line in server.log or ("nothing yet",))]

    def keys(self) -> Sequence[Text]:
        opens = () if self.opened else (self.key_hint("enter", "tools and log"),)
        needs_sign_in = self._server(self.chosen).state == "sign-in"
        signs_in = (self.key_hint(shown("page_sign_in"), "sign in"),) if needs_sign_in else ()
        restart, stop = shown("page_restart"), shown("page_stop")
        return (*opens, *signs_in, self.key_hint(restart, "restart"), self.key_hint(stop, "stop"))

    def _server(self, name: str) -> ServerReport:
        return next(server for server in self._port.servers() if server.name == name)

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


class McpScreen(LiveListScreen[None]):
    """The servers, with the keys that restart, stop and sign in."""

    BINDINGS: ClassVar[list[BindingType]] = [
        same_key("page_sign_in", "sign_in"),
        same_key("page_restart", "restart"),
        same_key("page_stop", "stop"),
    ]

    def __init__(self, styles: Styles, glyphs: Glyphs, port: ServersPort, name: str = "") -> None:
        super().__init__(McpRows(styles, glyphs, port, name))
        self._port = port

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
        self.act(self._port.restart)

    def action_stop(self) -> None:
        """Stop the chosen server."""
        self.act(self._port.stop)
