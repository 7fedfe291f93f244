"""The MCP servers: a list with their states, and one with its tools and its log."""

from __future__ import annotations

from collections.abc import Sequence

from rich.text import Text

from keen_tui.domain.errors import KeenError
from keen_tui.domain.servers import ServerReport
from keen_tui.frontends.shared.server_words import asking, facts, state_words
from keen_tui.frontends.shared.servers_port import ServersPort
from keen_tui.frontends.tui.look.glyphs import Glyphs
from keen_tui.frontends.tui.look.themes import Styles
from keen_tui.frontends.tui.pages.key import Key
from keen_tui.frontends.tui.pages.live_list import LiveList
from keen_tui.frontends.tui.pages.page_screen import PageScreen
from keen_tui.frontends.tui.pages.sign_in import SignInScreen
from keen_tui.frontends.tui.widgets.row_widget import cut_row
from keen_tui.text.units import counted


class McpScreen(PageScreen[None]):
    """The servers, with the keys that restart, stop and sign in. The one called `name` is open at first."""

    drops = 0

    def __init__(self, styles: Styles, glyphs: Glyphs, port: ServersPort, name: str = "") -> None:
        super().__init__(styles, glyphs)
        self._port = port
        self._list = LiveList(styles, glyphs, self, lambda server: server.name, opened=name)
        self.body = self._list
        self.parts = (self.head, self._list, self.foot)

    def lines(self) -> Sequence[ServerReport]:
        return self._port.servers()

    def heading(self) -> tuple[str, str]:
        if self._list.opened:
            return f"MCP server {self._list.chosen.name}", ""
        return "MCP servers", counted(len(self.lines()), "server")

    def entry(self, server: ServerReport, width: int, chosen: bool) -> tuple[Text, Text]:
        look = self.look
        left = Text.assemble(self._mark(server), " ", (server.name, look("text", bold=chosen)))
        role = {"failed": "fail", "sign-in": "wait"}.get(server.state, "dim")
        room = max(width - left.cell_len - 3, 1)
        return left, cut_row(Text(state_words(server), look(role)), room, self.glyphs.more)

    def details(self, server: ServerReport, width: int) -> Sequence[Text]:
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
        return [*rows, *(Text(f"  {line}", look("dim")) for line in server.log or ("nothing yet",))]

    def keys(self) -> Sequence[Key]:
        server, port = self._list.chosen, self._port
        return (
            *self._list.keys("tools and log"),
            Key("page_sign_in", "sign in" if server.state == "sign-in" else "", self._begin_sign_in),
            Key("page_restart", "restart", lambda: self.tell(port.restart(server.name))),
            Key("page_stop", "stop", lambda: self.tell(port.stop(server.name))),
            Key("escape", "back", self.leave, "q"),
        )

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

    def _begin_sign_in(self) -> None:
        self.run_worker(self._sign_in(self._list.chosen.name), group="sign-in", exclusive=True)

    async def _sign_in(self, name: str) -> None:
        self.say(asking(name))
        try:
            sign_in = await self._port.login(name)
        except KeenError as error:
            self.say(str(error))
        else:
            self.say("")
            page = SignInScreen(self.look, self.glyphs, sign_in)
            self.app.push_screen(page, lambda said: self.say(said or ""))
