"""The definitions of sub-agents: a list, and one with its instructions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from rich.text import Text

from keen_tui.frontends.shared.commands.agents import rights_of
from keen_tui.frontends.shared.pages import AgentsPage
from keen_tui.frontends.tui.look.cells import cut
from keen_tui.frontends.tui.look.glyphs import Glyphs
from keen_tui.frontends.tui.look.themes import Styles
from keen_tui.frontends.tui.pages.key import Key
from keen_tui.frontends.tui.pages.live_list import LiveList
from keen_tui.frontends.tui.pages.page_screen import PageScreen
from keen_tui.frontends.tui.widgets.row_widget import cut_row, wrapped
from keen_tui.settings.added.agents import AgentDefinition
from keen_tui.text.sanitize import clean
from keen_tui.text.units import counted

_NAME_CELLS: Final = 22


class AgentsScreen(PageScreen[None]):
    """The definitions by name, and below them the sentences about those that can't be used."""

    drops = 0

    def __init__(self, styles: Styles, glyphs: Glyphs, page: AgentsPage) -> None:
        super().__init__(styles, glyphs)
        self._agents = page.agents
        self._problems = [clean(text) for text in page.problems]
        self._list = LiveList(styles, glyphs, self)
        self.body = self._list
        self.parts = (self.head, self._list, self.foot)

    def lines(self) -> Sequence[AgentDefinition | str]:
        return [*self._agents, *self._problems]

    def heading(self) -> tuple[str, str]:
        agent = self._list.chosen
        if self._list.opened and not isinstance(agent, str):
            return f"Sub-agent {agent.name}", agent.source
        problems = len(self._problems)
        return "Sub-agents", counted(problems, "problem") if problems else counted(
            len(self._agents), "sub-agent"
        )

    def entry(self, agent: AgentDefinition | str, width: int, chosen: bool) -> tuple[Text, Text]:
        look, glyphs = self.look, self.glyphs
        if isinstance(agent, str):
            return Text.assemble((glyphs.failed, look("fail")), " ", (agent, look("text"))), Text()
        cells = min(_NAME_CELLS, width // 3)
        named = cut(agent.name, cells, glyphs.more).ljust(cells)
        mark = (glyphs.look, look("wait")) if agent.remarks else " "
        rights = ", ".join(rights_of(agent))
        left = Text.assemble(mark, " ", (named, look("text", bold=chosen)), " ", (rights, look("soft")))
        left = cut_row(left, width - min(len(agent.source) + 3, width * 2 // 5), glyphs.more)
        room = max(width - left.cell_len - 3, 1)
        return left, cut_row(Text(agent.source, look("dim")), room, glyphs.more)

    def details(self, agent: AgentDefinition | str, width: int) -> Sequence[Text]:
        look = self.look
        if isinstance(agent, str):
            return wrapped(agent, width, look("text"))
        rows = wrapped(agent.description, width, look("text"))
        rows += wrapped(", ".join(rights_of(agent)), width, look("soft"))
        rows += wrapped(f"tools: {', '.join(agent.tools)}", width, look("dim")) if agent.tools else []
        rows += wrapped("; ".join(agent.remarks), width, look("wait")) if agent.remarks else []
        rows += [Text(), Text("instructions", look("soft", bold=True))]
        return rows + wrapped(clean(agent.instructions, newlines=True), width, look("soft"))

    def keys(self) -> Sequence[Key]:
        return *self._list.keys("instructions"), Key("escape", "back", self.leave, "q")
