"""MCP servers: programs and addresses that offer tools by the Model Context Protocol."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from msgspec import Struct, field

Transport = Literal["stdio", "http", "sse"]
"""How Keen reaches a server: a program through its standard streams, an address by streamable HTTP or, if the
server is old, by server-sent events."""


class ServerScript(Struct, frozen=True, kw_only=True):
    """A path in the project that a server's command may mean, and a digest of the file there."""

    path: str
    digest: str


class McpServer(Struct, frozen=True, kw_only=True):
    """A server as it is configured.

    A program has `command`, `args`, `env` (added to the environment that it gets) and `cwd`; an address has
    `url` and `headers`. `enabled_tools` are the only tools to use, () for all, and `disabled_tools` are never
    used. The timeouts are seconds. `sandbox`: run the program in the sandbox. `origin` says who configured
    it. `oauth_client_id`, its secret and the callback port on this machine are for an authorization server
    where the user has registered a program; "" and 0: the sign-in registers one. `scripts` are those of a
    project's server, as they were when the user agreed. `written` is the command or address as it is
    configured, "" if that names no variables.
    """

    name: str
    transport: Transport = "stdio"
    command: str = ""
    args: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict)
    cwd: str = ""
    url: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)
    enabled_tools: tuple[str, ...] = ()
    disabled_tools: tuple[str, ...] = ()
    startup_timeout: float = 30.0
    tool_timeout: float = 120.0
    sandbox: bool = False
    oauth_client_id: str = ""
    oauth_client_secret: str = ""
    oauth_callback_port: int = 0
    origin: Literal["yours", "project"] = "yours"
    scripts: tuple[ServerScript, ...] = ()
    written: str = ""

    @property
    def place(self) -> str:
        """Its command or address to show, with `${VAR}` instead of the values of variables."""
        return self.written or self.url or " ".join((self.command, *self.args))

    def __repr__(self) -> str:
        """Without anything that may be secret."""
        return f"McpServer({self.name!r}, {self.transport}, {self.origin})"
