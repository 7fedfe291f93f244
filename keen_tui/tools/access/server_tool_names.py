"""Names for the tools of servers, `mcp__server__tool`, and for their prompts, `mcp:server:prompt`; and a
server's words in one line. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable
from hashlib import sha256
from typing import Final

from keen_tui.text.disguise import without_hidden
from keen_tui.text.labels import SERVER_TOOLS
from keen_tui.text.sanitize import clean
from keen_tui.text.units import first_line

LONGEST: Final = 64
"""Characters of the longest tool name that all APIs accept."""

PROMPTS: Final = "mcp:"
"""The slash commands of prompts begin like this."""

LONGEST_LINE: Final = 200
"""The most characters of a server's words in one line."""

_LONGEST_SERVER: Final = 24
_REFUSED = re.compile(r"[^a-zA-Z0-9_-]")
_MARK_LENGTH: Final = 6


def server_parts(names: Iterable[str]) -> dict[str, str]:
    """The part that stands for each server in the names of its tools, by the server's own name.

    It has no `__`, so a rule for one server never matches another. If two parts would be equal, the later one
    gets a mark.
    """
    parts: dict[str, str] = {}
    for name in names:
        part = re.sub("_+", "_", _REFUSED.sub("_", name)).strip("_") or "server"
        part = part if len(part) <= _LONGEST_SERVER else _marked(part, name, _LONGEST_SERVER)
        parts[name] = _marked(part, name, _LONGEST_SERVER) if part in parts.values() else part
    return parts


def tool_names(part: str, tools: Iterable[str]) -> dict[str, str]:
    """The full name of each tool of a server, by its own name. `part` stands for the server. The order of
    `tools` doesn't matter."""
    room = LONGEST - len(SERVER_TOOLS) - len(part) - len("__")
    names: dict[str, str] = {}
    for tool in sorted(set(tools)):
        own = _REFUSED.sub("_", tool) or "tool"
        own = own if len(own) <= room else _marked(own, tool, room)
        full = f"{SERVER_TOOLS}{part}__{own}"
        names[tool] = f"{SERVER_TOOLS}{part}__{_marked(own, tool, room)}" if full in names.values() else full
    return names


def prompt_names(part: str, prompts: Iterable[str]) -> dict[str, str]:
    """The slash command of each prompt of a server, `mcp:server:prompt`, by its own name. `part` stands for
    the server. No two commands differ only in case."""
    names: dict[str, str] = {}
    taken: set[str] = set()
    for prompt in sorted(set(prompts)):
        own = _REFUSED.sub("_", prompt) or "prompt"
        own = own if len(own) <= LONGEST else _marked(own, prompt, LONGEST)
        own = _marked(own, prompt, LONGEST) if own.lower() in taken else own
        taken.add(own.lower())
        names[prompt] = f"{PROMPTS}{part}:{own}"
    return names


def told_apart(name: str) -> tuple[str, str]:
    """Split a full name into the server's part and the tool's part."""
    server, _, tool = name.removeprefix(SERVER_TOOLS).partition("__")
    return server, tool


def shown_line(text: object) -> str:
    """The first line of a server's text, short and safe to show."""
    return without_hidden(clean(first_line(str(text).strip())))[0][:LONGEST_LINE]


def _marked(part: str, name: str, room: int) -> str:
    """The part, cut to fit, with a mark computed from the whole name."""
    mark = sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:_MARK_LENGTH]
    return f"{part[: room - _MARK_LENGTH - 1]}_{mark}"
