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
from keen_tui.frontends.tui.pages.live_list import LiveRows
from keen_tui.frontends.tui.widgets.row_widget import cut_row, wrapped
from keen_tui.settings.added.agents import AgentDefinition
from keen_tui.text.sanitize import clean
from keen_tui.text.units import counted

_NAME_CELLS: Final = 22


class AgentRows(LiveRows):
    """The definitions by name, and below them the sentences about those that can't be used."""

    def __init__(self, styles: Styles, glyphs: Glyphs, page: AgentsPage) -> None:
        self._agents = {agent.name: agent for agent in page.agents}
        self._problems = {f"problem {number}": clean(text) for number, text in enumerate(page.problems)}
        super().__init__(styles, glyphs, "")

    def names(self) -> Sequence[str]:
        return [*self._agents, *self._problems]

    def title(self) -> tuple[str, str]:
        agent = self._agents.get(self.chosen) if self.opened else None
        if agent:
            return f"Sub-agent {agent.name}", agent.source
        problems = len(self._problems)
        return "Sub-agents", counted(problems, "problem") if problems else counted(
            len(self._agents), "sub-agent"
        )

    def entry(self, name: str, width: int, *, chosen: bool) -> tuple[Text, Text]:
        look, glyphs, agent = self.look, self.glyphs, self._agents.get(name)
        if agent is None:
            left = Text.assemble((glyphs.failed, look("fail")), " ", (self._problems[name], look("text")))
            return left, Text()
        cells = min(_NAME_CELLS, width // 3)
        named = cut(agent.name, cells, glyphs.more).ljust(cells)
        mark = (glyphs.look, look("wait")) if agent.remarks else " "
        rights = ", ".join(rights_of(agent))
        left = Text.assemble(mark, " ", (named, look("text", bold=chosen)), " ", (rights, look("soft")))
        left = cut_row(left, width - min(len(agent.source) + 3, width * 2 // 5), glyphs.more)
        room = max(width - left.cell_len - 3, 1)
        return left, cut_row(Text(agent.source, look("dim")), room, glyphs.more)

    def whole(self, name: str, width: int) -> list[Text]:
        look, agent = self.look, self._agents.get(name)
        if agent is None:
            return wrapped(self._problems[name], width, look("text"))
        rows = wrapped(agent.description, width, look("text"))
        rows += wrapped(", ".join(rights_of(agent)), width, look("soft"))
        rows += wrapped(self._tools(agent), width, look("dim")) if agent.tools else []
        rows += wrapped("; ".join(agent.remarks), width, look("wait")) if agent.remarks else []
        rows += [Text(), Text("instructions", look("soft", bold=True))]
        return rows + wrapped(clean(agent.instructions, newlines=True), width, look("soft"))

    def keys(self) -> Sequence[Text]:
        return () if self.opened else (self.key_hint("enter", "instructions"),)

    def _tools(self, agent: AgentDefinition) -> str:
        return f"tools: {', '.join(agent.tools or ())}"
