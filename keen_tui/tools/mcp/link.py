"""A connection to a server as the rest of Keen sees it: plain values, nothing of the SDK."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Any, Protocol

from msgspec import Struct

from keen_tui.settings.added.mcp_servers import McpServer

if TYPE_CHECKING:
    import httpx2

OnProgress = Callable[[float, float | None, str], None]
"""Takes the progress of a call: how much is done, of how much (None: unknown), and a message."""

AuthFactory = Callable[[McpServer], "Awaitable[httpx2.Auth | None]"]
"""Makes what signs requests to a server; None: they aren't signed. It MUST NOT ask the user."""


class ServerIdentity(Struct, frozen=True, kw_only=True):
    """A server's description of itself. `protocol` is the version in use; `instructions` are the server's
    words for the model."""

    name: str
    version: str
    protocol: str
    has_tools: bool = False
    has_prompts: bool = False
    has_resources: bool = False
    instructions: str = ""


class Ears(Protocol):
    """Receives what a server sends besides its answers."""

    def log(self, text: str, *, is_message: bool = False) -> None:
        """Add a line to the server's log. `is_message`: the server sent it as a log message."""

    def lists_changed(self) -> None:
        """The server's list of tools, prompts or resources has changed."""

    def ended(self, reason: str) -> None:
        """The server's program ended, for that reason."""

    async def ask(self, asked: Mapping[str, Any]) -> Mapping[str, Any]:
        """Answer the server's question to the user. Both are JSON objects of the protocol."""
        ...


class ServerLink(Protocol):
    """An open connection. Methods raise ServerFailed with the end of a sentence, and ServerGone if the
    connection has ended."""

    @property
    def identity(self) -> ServerIdentity:
        """The server's description of itself."""
        ...

    async def tools(self) -> list[dict[str, Any]]:
        """All tools that the server offers now."""
        ...

    async def prompts(self) -> list[dict[str, Any]]:
        """All prompts that the server offers now."""
        ...

    async def resources(self) -> list[dict[str, Any]]:
        """All resources that the server lists now."""
        ...

    async def call(self, tool: str, arguments: Mapping[str, Any], on_progress: OnProgress) -> dict[str, Any]:
        """Call a tool; returns its result. If this is cancelled, the server is told."""
        ...

    async def prompt(self, name: str, arguments: Mapping[str, str]) -> dict[str, Any]:
        """A prompt with its arguments filled in."""
        ...

    async def resource(self, uri: str) -> dict[str, Any]:
        """The content of a resource."""
        ...

    async def changes(self, tell: Callable[[], None]) -> None:
        """Call `tell` when a list may have changed, until cancelled. Returns at once if the server sends
        notifications instead, which `Ears` hear."""
        ...
