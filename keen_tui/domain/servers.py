"""MCP servers as front ends show them."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

ServerState = Literal["starting", "ready", "failed", "stopped", "sign-in"]
"""What a server is doing. `sign-in`: it wants the user to sign in first."""


class ServerToolReport(Struct, frozen=True, kw_only=True):
    """A tool of a server, by the name that the model and the rules use. `is_used`: the settings of the server
    let the model have it."""

    name: str
    description: str
    is_used: bool = True


class PromptArgument(Struct, frozen=True, kw_only=True):
    """What a prompt of a server takes."""

    name: str
    is_required: bool = False


class ServerPrompt(Struct, frozen=True, kw_only=True):
    """A prompt of a server: `command` is its slash command without the slash, `name` the server's own name
    for it."""

    command: str
    name: str
    description: str
    arguments: tuple[PromptArgument, ...] = ()


class ServerResource(Struct, frozen=True, kw_only=True):
    """A resource that a server lists. `title` says what it is, "" for nothing."""

    uri: str
    title: str = ""


class ServerReport(Struct, frozen=True, kw_only=True):
    """A server. `reason` says why it isn't ready, as the end of a sentence. `place` is its command or address
    as it is configured, without the values of variables. `log` are the last lines that it wrote, oldest
    first; `version` is what it calls itself."""

    name: str
    state: ServerState
    reason: str
    place: str
    origin: Literal["yours", "project"]
    tools: tuple[ServerToolReport, ...] = ()
    prompts: int = 0
    log: tuple[str, ...] = ()
    version: str = ""
    protocol: str = ""
