"""The command line of `keen-tui mcp`."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from msgspec import Struct

from keen_tui.domain.errors import ConfigError
from keen_tui.settings.flags import add_flag
from keen_tui.settings.help_text import row
from keen_tui.settings.line_flags import LineFlag
from keen_tui.settings.line_parser import LineParser

ACTIONS: Final[Mapping[str, str]] = {
    "add": "add a server",
    "list": "list the servers used in this folder, and try each",
    "remove": "remove a server, and forget its sign-in",
    "login": "sign in to a server, in your browser",
    "logout": "forget the sign-in",
}
"""What `keen-tui mcp` does, and what its help says of it."""

FLAGS_OF_ADD: Final = (
    LineFlag(("--url",), "the address of a server", "URL", {"default": ""}),
    LineFlag(
        ("-e", "--env"),
        "a variable for the program (can be repeated)",
        "NAME=VALUE",
        {"action": "append", "default": []},
    ),
    LineFlag(
        ("--cwd",), "the folder that it runs in (default: the workspace)", "FOLDER", {"default": ""}, "folder"
    ),
    LineFlag(("--sandbox",), "run it in the sandbox", options={"action": "store_true"}),
    LineFlag(
        ("-H", "--header"),
        "a header for the address (can be repeated)",
        "'NAME: VALUE'",
        {"action": "append", "default": []},
    ),
    LineFlag(
        ("-t", "--transport"),
        "stdio, http or sse (for old servers)",
        "TYPE",
        {"default": "", "choices": ("stdio", "http", "sse")},
    ),
)


def mcp_help() -> str:
    """What `keen-tui mcp --help` prints."""
    return "\n".join((*_usages(), "", "With add", *_flags_of_add(), "", _END))


def _usages() -> Iterator[str]:
    yield "MCP servers: programs and addresses that give the model more tools."
    yield ""
    yield from row("keen-tui mcp add NAME -- COMMAND [ARG ...]", "add a server that is a program")
    yield from row("keen-tui mcp add NAME --url URL", "add a server at an address")
    for action, meaning in ACTIONS.items():
        if action != "add":
            yield from row(f"keen-tui mcp {action}{'' if action == 'list' else ' NAME'}", meaning)


def _flags_of_add() -> Iterator[str]:
    for flag in FLAGS_OF_ADD[1:]:  # the address is in the usage
        yield from row(flag.usage, flag.help)


_END: Final = """\
Servers are written to your settings. In values, ${NAME} stands for a variable
of your environment; keep tokens in variables.

  keen-tui mcp add files -- npx -y @modelcontextprotocol/server-filesystem .
  keen-tui mcp add github --url https://api.githubcopilot.com/mcp/ \\
      --header 'Authorization: Bearer ${GITHUB_TOKEN}'
"""


class McpRequest(Struct, frozen=True, kw_only=True):
    """What was asked for: the action, the server's name, and for `add` the entry of the settings."""

    action: str
    name: str = ""
    entry: dict[str, Any] = {}


class _McpParser(LineParser):
    def format_help(self) -> str:
        return mcp_help()

    @property
    def see_help(self) -> str:
        return "See keen-tui mcp --help."


def wanted(words: Sequence[str]) -> McpRequest:
    """What these words after `keen-tui mcp` ask for.

    Raises:
        ConfigError: they ask for nothing that there is. SystemExit: they asked for help, which is printed.
    """
    before, command = list(words), []
    if "--" in before:
        place = before.index("--")
        before, command = before[:place], before[place + 1 :]
    reader = mcp_parser()
    given, unknown = reader.parse_known_args(before)
    if unknown:
        reader.refuse(unknown)
    if given.action != "add" and command:
        raise ConfigError(f"keen-tui mcp {given.action} takes nothing after --. See keen-tui mcp --help.")
    entry = _entry(given, command) if given.action == "add" else {}
    return McpRequest(action=given.action, name=getattr(given, "name", ""), entry=entry)


def mcp_parser() -> LineParser:
    """What reads the words behind `keen-tui mcp`, up to `--`."""
    parser = _McpParser(prog="keen-tui mcp", add_help=False, allow_abbrev=False)
    parser.add_argument("-h", "--help", action="help")
    actions = parser.add_subparsers(dest="action", required=True, metavar="|".join(ACTIONS))
    for action, meaning in ACTIONS.items():
        each = actions.add_parser(action, help=meaning, add_help=False, allow_abbrev=False)
        each.add_argument("-h", "--help", action="help")
        if action != "list":
            each.add_argument("name", metavar="NAME")
        if action == "add":
            each.add_argument("rest", nargs="*", metavar="COMMAND")
            for flag in FLAGS_OF_ADD:
                add_flag(each, flag)
    return parser


def _entry(given: argparse.Namespace, command: Sequence[str]) -> dict[str, Any]:
    """The entry of the settings. A single address counts as one, with and without --url."""
    words = [*given.rest, *command]
    url = given.url
    if not url and len(words) == 1 and words[0].startswith(("http://", "https://")):
        url, words = words[0], []
    if bool(url) == bool(words):
        raise ConfigError(
            "Name a command or an address, one of them: keen-tui mcp add NAME -- COMMAND [ARG ...], or "
            "keen-tui mcp add NAME --url URL."
        )
    fields: dict[str, Any] = {
        "type": given.transport if given.transport not in ("", "http" if url else "stdio") else "",
        "command": words[0] if words else "",
        "args": words[1:],
        "url": url,
        "cwd": given.cwd,
        "env": dict(_pair("--env", each, "=", "NAME=VALUE") for each in given.env),
        "headers": dict(_pair("--header", each, ":", "'NAME: VALUE'") for each in given.header),
        "sandbox": given.sandbox,
    }
    return {name: value for name, value in fields.items() if value}


def _pair(flag: str, written: str, sign: str, form: str) -> tuple[str, str]:
    """The name and the value. The value isn't quoted in the error: it may be a secret."""
    name, found, value = written.partition(sign)
    if not found or not name.strip():
        raise ConfigError(f"{flag} must be {form}. See keen-tui mcp --help.")
    return name.strip(), value.strip() if sign == ":" else value
