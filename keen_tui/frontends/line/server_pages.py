"""The MCP servers, in lines."""

from __future__ import annotations

from collections.abc import Iterator

from keen_tui.domain.servers import ServerReport
from keen_tui.frontends.shared.pages import McpPage
from keen_tui.frontends.shared.server_words import facts, state_words

_LONGEST = 200


def servers_in_lines(page: McpPage) -> Iterator[str]:
    """All servers, a line each; or one with its tools and its log."""
    servers = page.port.servers()
    chosen = next((server for server in servers if server.name == page.name), None)
    if chosen:
        yield from _whole(chosen)
        return
    yield "MCP servers. /mcp NAME shows the tools and the log of one; /mcp restart NAME restarts it."
    for server in servers:
        yield f"{server.name}: {state_words(server)}."


def _whole(server: ServerReport) -> Iterator[str]:
    yield f"{server.name}: {state_words(server)}."
    yield from (f"{fact}." for fact in facts(server))
    for tool in server.tools:
        unused = "" if tool.is_used else ", not used"
        yield f"Tool {tool.name}{unused}: {tool.description[:_LONGEST]}"
    yield "Its log:" if server.log else "It has logged nothing."
    yield from server.log
