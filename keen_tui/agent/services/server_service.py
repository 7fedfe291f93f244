"""The MCP servers of a session, for front ends."""

from __future__ import annotations

from typing import TYPE_CHECKING

from keen_tui.domain.errors import SessionRefused
from keen_tui.domain.servers import ServerReport
from keen_tui.text.sanitize import clean

if TYPE_CHECKING:
    from keen_tui.tools.mcp.servers import SessionServers


class ServerService:
    """Shows the servers, and restarts and stops them. A turn that runs keeps the tools that it began with."""

    def __init__(self, servers: SessionServers) -> None:
        self._servers = servers

    def servers(self) -> tuple[ServerReport, ...]:
        """All servers, in the order of the settings."""
        return self._servers.reports()

    async def restart(self, name: str) -> str:
        """Start that server again; returns a sentence. Raises SessionRefused: there is none of that name."""
        await self._servers.restart(self._known(name))
        return f"The MCP server {name} is starting again."

    async def stop(self, name: str) -> str:
        """Stop that server; returns a sentence. Raises SessionRefused: there is none of that name."""
        await self._servers.stop(self._known(name))
        return f"The MCP server {name} is stopped."

    def _known(self, name: str) -> str:
        names = [report.name for report in self._servers.reports()]
        if name not in names:
            raise SessionRefused(f"There is no MCP server {clean(name)}. There are: {', '.join(names)}.")
        return name
