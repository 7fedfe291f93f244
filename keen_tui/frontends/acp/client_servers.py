"""The MCP servers that an editor passes, with the fields of the settings."""

from __future__ import annotations

from collections.abc import Sequence

from acp.exceptions import RequestError
from acp.schema import AcpMcpServer, HttpMcpServer, McpServerStdio, SseMcpServer

from keen_tui.frontends.shared.editor_port import NamedServer

ClientServer = HttpMcpServer | SseMcpServer | AcpMcpServer | McpServerStdio


def servers_of(servers: Sequence[ClientServer] | None) -> tuple[NamedServer, ...]:
    """The servers. Raises RequestError if one uses a transport that Keen doesn't offer."""
    return tuple(map(_server, servers or ()))


def _server(server: ClientServer) -> NamedServer:
    match server:
        case McpServerStdio():
            entry = {
                "type": "stdio",
                "command": server.command,
                "args": list(server.args),
                "env": {each.name: each.value for each in server.env},
            }
        case HttpMcpServer() | SseMcpServer():
            headers = {each.name: each.value for each in server.headers}
            entry = {"type": server.type, "url": server.url, "headers": headers}
        case AcpMcpServer():
            sentence = f"Keen can't reach the MCP server {server.name} through the editor's connection."
            raise RequestError(-32602, sentence)
    return NamedServer(name=server.name, entry=entry)
