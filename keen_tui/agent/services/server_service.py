"""The MCP servers of a session, for front ends."""

from __future__ import annotations

import asyncio
import importlib
from pathlib import Path
from typing import TYPE_CHECKING, Final

from keen_tui.domain.errors import ConfigError, ServerFailed, SessionRefused
from keen_tui.domain.servers import ServerPrompt, ServerReport
from keen_tui.system.browser import browser_opener, open_in_browser
from keen_tui.text.sanitize import clean
from keen_tui.tools.mcp.server import NOT_INSTALLED
from keen_tui.tools.mcp.sign_ins import SignIns

if TYPE_CHECKING:
    from keen_tui.settings.added.mcp_servers import McpServer
    from keen_tui.tools.mcp.servers import SessionServers

_LOGIN: Final = "keen_tui.tools.mcp.login"


class ServerService:
    """Shows the servers, restarts and stops them, and signs in to them. A turn that runs keeps the tools that
    it began with.

    Args:
        settings_folder: where sign-ins are kept.
    """

    def __init__(self, servers: SessionServers, settings_folder: Path) -> None:
        self._servers = servers
        self._settings_folder = settings_folder
        self._login: asyncio.Task[None] | None = None

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

    async def login(self, name: str) -> str:
        """Have the user sign in to that server in the browser; returns a sentence at once. The server starts
        again afterwards, or a notice says what went wrong. Another sign-in that still waits is given up.

        Raises:
            SessionRefused: there is none of that name, it is a program, or there is no browser here.
        """
        connection = self._servers.connection(self._known(name))
        if connection is None or not connection.server.url:
            raise SessionRefused(f"{name} is a program: only servers with an address have a sign-in.")
        if browser_opener() is None:
            raise SessionRefused(
                f"There is no browser here. Run keen-tui mcp login {name} in another terminal, then /mcp "
                f"restart {name}."
            )
        if self._login:
            self._login.cancel()
        self._login = asyncio.create_task(self._sign_in(connection.server), name=f"sign-in to {name}")
        return f"Sign in to {name} in your browser. The server starts again afterwards."

    async def _sign_in(self, server: McpServer) -> None:
        try:
            module = await asyncio.to_thread(importlib.import_module, _LOGIN)
            await module.sign_in(server, SignIns(self._settings_folder), open_in_browser)
            await self._servers.restart(server.name)
        except (ServerFailed, ConfigError) as error:
            reason = clean(str(error)).rstrip(".")
            self._servers.tell(f"You aren't signed in to the MCP server {server.name}: {reason}.")
        except ModuleNotFoundError:
            self._servers.tell(f"You can't sign in: {NOT_INSTALLED}.")

    def prompts(self) -> tuple[ServerPrompt, ...]:
        """The prompts of the servers that are ready."""
        return self._servers.prompts()

    async def prompt(self, command: str, words: str) -> str:
        """The text that is sent for a prompt's command. Raises SessionRefused with a sentence."""
        return await self._servers.prompt(command, words)

    def _known(self, name: str) -> str:
        names = [report.name for report in self._servers.reports()]
        if name not in names:
            raise SessionRefused(f"There is no MCP server {clean(name)}. There are: {', '.join(names)}.")
        return name
