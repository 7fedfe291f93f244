"""The MCP servers of a session, for front ends."""

from __future__ import annotations

import asyncio
import importlib
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING, Final

from keen_tui.domain.errors import ConfigError, ServerFailed, SessionRefused
from keen_tui.domain.servers import ServerPrompt, ServerReport, ServerResource
from keen_tui.system.browser import open_in_browser
from keen_tui.text.sanitize import clean
from keen_tui.tools.mcp.server import NOT_INSTALLED
from keen_tui.tools.mcp.sign_ins import SignIns

if TYPE_CHECKING:
    from keen_tui.settings.added.mcp_servers import McpServer
    from keen_tui.tools.mcp.login import LoginPage
    from keen_tui.tools.mcp.servers import SessionServers

_LOGIN: Final = "keen_tui.tools.mcp.login"


class PendingSignIn:
    """A sign-in that waits for the user. It begins at once.

    Args:
        restart: starts the server of that name again.
    """

    def __init__(
        self, server: McpServer, sign_ins: SignIns, restart: Callable[[str], Awaitable[None]]
    ) -> None:
        self.name = server.name
        self.url = ""
        self.is_in_browser = False
        self._server = server
        self._sign_ins = sign_ins
        self._restart = restart
        self._take: Callable[[str], None] | None = None
        self._has_page = asyncio.Event()
        self._work = asyncio.create_task(self._sign_in(), name=f"sign-in to {server.name}")
        self._work.add_done_callback(self._note_end)

    async def page_known(self) -> None:
        """Wait until the server has named its page. Raises SessionRefused: it has none, or can't be asked."""
        try:
            await self._has_page.wait()
        except asyncio.CancelledError:
            self.cancel()
            raise
        if not self.url:
            await self.ended()

    def paste(self, address: str) -> None:
        """Take the address that the browser was sent to afterwards. Raises SessionRefused if it belongs to
        something else; another one can be pasted then."""
        if self._take:
            self._take(address)

    async def ended(self) -> str:
        """Wait until the user has signed in; returns a sentence, and the server starts again. Raises
        SessionRefused: the sign-in failed."""
        await asyncio.wait({self._work})
        if self._work.cancelled():
            raise SessionRefused(f"The sign-in to {self.name} was cancelled.")
        return self._work.result()

    def cancel(self) -> None:
        """Give the sign-in up; `ended` raises SessionRefused then."""
        self._work.cancel()

    async def _sign_in(self) -> str:
        try:
            module = await asyncio.to_thread(importlib.import_module, _LOGIN)
            await module.sign_in(self._server, self._sign_ins, self._show)
        except (ServerFailed, ConfigError) as error:
            reason = clean(str(error)).rstrip(".")
            raise SessionRefused(f"You aren't signed in to {self.name}: {reason}.") from error
        except ModuleNotFoundError as error:
            raise SessionRefused(f"You can't sign in: {NOT_INSTALLED}.") from error
        await self._restart(self.name)
        return f"Signed in to {self.name}. The server starts again."

    def _show(self, page: LoginPage) -> None:
        self.url, self._take = page.url, page.take
        self.is_in_browser = open_in_browser(page.url)
        self._has_page.set()

    def _note_end(self, work: asyncio.Task[str]) -> None:
        self._has_page.set()
        if not work.cancelled():
            work.exception()  # nobody may be waiting for it any more


class ServerService:
    """Shows the servers, restarts and stops them, and signs in to them. A turn that runs keeps the tools that
    it began with.

    Args:
        settings_folder: where sign-ins are kept.
    """

    def __init__(self, servers: SessionServers, settings_folder: Path) -> None:
        self._servers = servers
        self._settings_folder = settings_folder
        self._sign_in: PendingSignIn | None = None

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

    async def login(self, name: str) -> PendingSignIn:
        """Begin a sign-in to that server. Returns it once the server has named its page for that, and gives
        up another one that is still open.

        Raises:
            SessionRefused: there is none of that name, it is a program, or it offers no sign-in.
        """
        connection = self._servers.connection(self._known(name))
        if connection is None or not connection.server.url:
            raise SessionRefused(f"{name} is a program: only servers with an address have a sign-in.")
        if self._sign_in:
            self._sign_in.cancel()
        begun = self._sign_in = PendingSignIn(
            connection.server, SignIns(self._settings_folder), self._servers.restart
        )
        await begun.page_known()
        return begun

    def prompts(self) -> tuple[ServerPrompt, ...]:
        """The prompts of the servers that are ready."""
        return self._servers.prompts()

    async def prompt(self, command: str, words: str) -> str:
        """The text that is sent for a prompt's command. Raises SessionRefused with a sentence."""
        return await self._servers.prompt(command, words)

    def with_resources(self) -> tuple[str, ...]:
        """The names of the servers that have resources, and of those that are starting."""
        return self._servers.with_resources

    async def resources(self, name: str) -> tuple[ServerResource, ...]:
        """The resources that a server lists; waits while it is starting. None if it isn't running."""
        return await self._servers.resources(name)

    def _known(self, name: str) -> str:
        names = [report.name for report in self._servers.reports()]
        if name not in names:
            raise SessionRefused(f"There is no MCP server {clean(name)}. There are: {', '.join(names)}.")
        return name
