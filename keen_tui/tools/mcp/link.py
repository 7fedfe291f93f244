"""What a connection to a server is for the rest of Keen: plain values, and nothing of the SDK."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Any, Protocol

from msgspec import Struct

from keen_tui.settings.added.mcp_servers import McpServer

if TYPE_CHECKING:
    import httpx2

OnProgress = Callable[[float, float | None, str], None]
"""Takes what a server says of a call: how much is done, of how much, and a message."""

AuthFactory = Callable[[McpServer], "Awaitable[httpx2.Auth | None]"]
"""What signs requests to a server; None: nothing. It MUST NOT ask a person."""


class ServerIdentity(Struct, frozen=True, kw_only=True):
    """What a server says of itself, and the version of the protocol. `instructions` are its words for the
    model."""

    name: str
    version: str
    protocol: str
    has_tools: bool = False
    has_prompts: bool = False
    has_resources: bool = False
    instructions: str = ""


class Ears(Protocol):
    """Hears what a server says between its answers."""

    def log(self, text: str, *, is_message: bool = False) -> None:
        """Keep a line for its log. `is_message`: the server sent it as a log message."""

    def lists_changed(self) -> None:
        """Its list of tools, prompts or resources has changed."""

    def ended(self, reason: str) -> None:
        """Its program ended, for that reason."""

    async def ask(self, asked: Mapping[str, Any]) -> Mapping[str, Any]:
        """Its question to the person, and the answer, both as the protocol has them."""
        ...


class ServerLink(Protocol):
    """An open connection. Methods raise ServerFailed with the end of a sentence, and ServerGone if the
    connection has ended."""

    @property
    def identity(self) -> ServerIdentity:
        """What the server says of itself."""
        ...

    async def tools(self) -> list[dict[str, Any]]:
        """All tools that it offers now."""
        ...

    async def prompts(self) -> list[dict[str, Any]]:
        """All prompts that it offers now."""
        ...

    async def resources(self) -> list[dict[str, Any]]:
        """All resources that it lists now."""
        ...

    async def call(self, tool: str, arguments: Mapping[str, Any], on_progress: OnProgress) -> dict[str, Any]:
        """The result of a tool. Cancelling tells the server."""
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
