"""What a sub-agent has done so far, as the content of the call that began it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from keen_tui.domain.events import ToolFinished, ToolStarted
from keen_tui.frontends.acp.tool_calls import title_of
from keen_tui.text.outcomes import not_done_words
from keen_tui.text.sanitize import clean
from keen_tui.text.units import counted

_MOST: Final = 30
"""Steps that are shown, the newest."""
_TICKS: Final = re.compile("`+")


class AgentSteps:
    """The tool calls of one sub-agent, in the order in which they began."""

    def __init__(self, agent: str) -> None:
        self._agent = agent
        self._titles: dict[str, str] = {}
        self._ends: dict[str, str] = {}

    def begin(self, call: ToolStarted) -> None:
        """Note that a call has begun."""
        self._titles[call.id] = title_of(call.name, call.target)

    def end(self, call: ToolFinished) -> None:
        """Note how a call has ended."""
        words = not_done_words(call.result)
        self._ends[call.id] = f": {words}" if words else (": failed" if call.result.is_error else "")

    @property
    def text(self) -> str:
        """The newest steps as a list in Markdown, each with its end if that isn't the usual one."""
        return "\n".join(self._lines())

    def _lines(self) -> Iterator[str]:
        earlier = max(len(self._titles) - _MOST, 0)
        yield f"Sub-agent {clean(self._agent)}, {counted(len(self._titles), 'call')}:\n"
        if earlier:
            yield f"- {earlier} earlier"
        for id, title in [*self._titles.items()][earlier:]:
            yield f"- {_as_code(title)}{self._ends.get(id, ' …')}"


def _as_code(text: str) -> str:
    """The text as code within a line of Markdown, whatever it contains."""
    ticks = "`" * (max(map(len, _TICKS.findall(text)), default=0) + 1)
    space = " " if text.startswith("`") or text.endswith("`") else ""
    return f"{ticks}{space}{text}{space}{ticks}"
