"""`keen-tui mcp list`: each server is tried, and said to be ready or not."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence

from msgspec.structs import replace

from keen_tui.settings.added.mcp_servers import McpServer
from keen_tui.text.redaction import masked
from keen_tui.text.sanitize import clean
from keen_tui.text.units import counted
from keen_tui.tools.mcp.server import ServerConnection, ServerNeeds

_SECONDS = 15.0
"""The longest that the start of a server is waited for."""


async def server_lines(
    servers: Sequence[McpServer], needs: ServerNeeds, tell: Callable[[str], None]
) -> list[str]:
    """Lines for at least one server, once all have been tried at the same time: name, state and place of
    each, and below that why it can't be used. `tell` is called with a sentence about a start that takes
    long."""
    tried = [_connection(server, needs, tell) for server in servers]
    try:
        for each in tried:
            each.start()
        await asyncio.gather(*(each.settled() for each in tried))
        states = [_state(each) for each in tried]
    finally:
        await asyncio.gather(*(each.stop() for each in tried))
    names = [_name(server) for server in servers]
    wide, wider = max(map(len, names)), max(len(state) for state, _ in states)
    lines: list[str] = []
    for name, (state, more), server in zip(names, states, servers, strict=True):
        lines.append(f"{name:{wide}}   {state:{wider}}   {masked(server.place)}")
        lines += [f"{'':{wide}}   {masked(more)}"] if more else []
    return [clean(line) for line in lines]


def _connection(server: McpServer, needs: ServerNeeds, tell: Callable[[str], None]) -> ServerConnection:
    def tell_of_start(sentence: str) -> None:
        if connection.state == "starting":
            tell(sentence)

    limited = replace(server, startup_timeout=min(server.startup_timeout, _SECONDS))
    connection = ServerConnection(limited, needs, lambda: None, tell_of_start)
    return connection


def _name(server: McpServer) -> str:
    return server.name if server.origin == "yours" else f"{server.name} (project)"


def _state(connection: ServerConnection) -> tuple[str, str]:
    """How it is, in a few words, and a sentence where there is more to say."""
    match connection.state:
        case "ready":
            return f"ready, {counted(len(connection.tools), 'tool')}", ""
        case "sign-in":
            advice = f"sign in with keen-tui mcp login {connection.server.name}"
            return "needs a sign-in", "; ".join(filter(None, (connection.reason, advice)))
    return "failed", connection.reason
