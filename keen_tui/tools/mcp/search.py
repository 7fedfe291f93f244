"""The tool `mcp_search`, which replaces the tools of servers if their descriptions would take too much
room."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from keen_tui.domain.errors import ToolFailure
from keen_tui.domain.messages import ToolResult, ToolSpec
from keen_tui.text.labels import SERVER_TOOLS
from keen_tui.text.units import counted
from keen_tui.tools.access.access import NOTHING_TOUCHED
from keen_tui.tools.calls.arguments import checked, mentioned
from keen_tui.tools.calls.tool import PreparedCall
from keen_tui.tools.calls.word_search import MOST_FOUND, best
from keen_tui.tools.mcp.server_tool import ServerTool
from keen_tui.tools.process.bounded_output import OutputSink

NAME: Final = "mcp_search"

MOST_SHARE: Final = 0.10
"""The share of the context window that the descriptions of all servers' tools may take."""

_MOST_LISTED: Final = 100
_NAMES = re.compile(rf"\b{SERVER_TOOLS}[a-zA-Z0-9_-]+")


class ToolSearch:
    """Finds tools by words. The tools that it finds are offered from then on.

    Args:
        tools: all tools of servers, by name.
        found: called with the names of the tools that a search found.
    """

    only_reads = False

    def __init__(self, tools: Mapping[str, ServerTool], found: Callable[[Sequence[str]], None]) -> None:
        self._tools = tools
        self._found = found
        counts: dict[str, int] = {}
        for tool in tools.values():
            counts[tool.server] = counts.get(tool.server, 0) + 1
        servers = ", ".join(f"{server} ({counted(count, 'tool')})" for server, count in counts.items())
        self.spec = ToolSpec(
            name=NAME,
            description=(
                f"Find tools of the MCP servers: {servers}. There are too many to list here. Returns the "
                f"best {MOST_FOUND} with their parameters; from the next step on you can call them by name. "
                "Search once for each thing that you need, with words for what the tool should do."
            ),
            parameters={
                "type": "object",
                "properties": {
                    "query": {
                        "type": "string",
                        "description": "Words about the tool, such as: create issue github. Or full names.",
                    }
                },
                "required": ["query"],
            },
        )

    def target(self, arguments: Mapping[str, Any]) -> str:
        return mentioned(arguments, "query")

    async def prepare(self, arguments: Mapping[str, Any]) -> PreparedCall:
        query = checked(self.spec, arguments)["query"]
        if not query.strip():
            raise ToolFailure(f"{NAME}: the query is empty.")

        async def run(_: OutputSink) -> ToolResult:
            return self._result(query)

        return PreparedCall(access=NOTHING_TOUCHED, display=None, run=run)

    def _result(self, query: str) -> ToolResult:
        tools = best(query, self._tools.values(), described)
        if not tools:
            names = sorted(self._tools)
            more = f"\n[and {len(names) - _MOST_LISTED} more]" if len(names) > _MOST_LISTED else ""
            listed = "\n".join(names[:_MOST_LISTED])
            return ToolResult(text=f"No tool fits. All tools:\n{listed}{more}", summary="nothing found")
        self._found([tool.spec.name for tool in tools])
        texts = (
            f"{tool.spec.name}: {tool.spec.description}\nparameters: {json.dumps(tool.spec.parameters)}"
            for tool in tools
        )
        return ToolResult(text="\n\n".join(texts), summary=counted(len(tools), "tool"))


def described(tool: ServerTool) -> tuple[str, str]:
    """Returns the texts that a search compares with: the name and the description."""
    return tool.spec.name, tool.spec.description


def names_in(text: str) -> list[str]:
    """The full names of tools in the text."""
    return _NAMES.findall(text)
