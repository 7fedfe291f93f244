"""Reads and checks entries for MCP servers: tables of the user's settings, objects of a `.mcp.json`.

`${VAR}` and `${VAR:-default}` stand for environment variables. They are expanded when a server is used, so a
question about the server shows what is written.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

from msgspec import Struct
from msgspec.structs import replace

from keen_tui.domain.errors import ConfigError
from keen_tui.settings.added.mcp_servers import McpServer, Transport
from keen_tui.text.redaction import holds_secret, keep_secret, keep_secrets_of

TABLE: Final = "mcp_servers"
"""The table of servers in the user's settings."""

_LONGEST_NAME: Final = 40
_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9-]*(?:_[A-Za-z0-9-]+)*")
"""Tools are called `mcp__NAME__TOOL`, so with two underscores nobody could tell where the name ends."""
_VARIABLE: Final = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}")
_HEADER: Final = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_UNWRITABLE: Final = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]")
"""Characters that can't be in a header."""

_TRANSPORTS: Final[Mapping[str, Transport]] = {
    "stdio": "stdio",
    "http": "http",
    "streamable-http": "http",
    "streamableHttp": "http",
    "sse": "sse",
}
"""The values of `type`; programs use several for streamable HTTP."""

_OF_PROGRAM: Final = ("command", "args", "env", "cwd")
_OF_ADDRESS: Final = ("url", "headers")
_OAUTH: Final = ("oauth_client_id", "oauth_client_secret", "oauth_callback_port")
SHARED_FIELDS: Final = ("type", *_OF_PROGRAM, *_OF_ADDRESS)
"""The fields of an entry in a `.mcp.json`."""

_FIELD_NAMES: Final[Mapping[str, str]] = {
    "type": "transport",
    "startup_timeout_sec": "startup_timeout",
    "tool_timeout_sec": "tool_timeout",
}
"""Fields that have another name in `McpServer`."""

_ALL_FIELDS: Final = (
    *SHARED_FIELDS,
    "enabled_tools",
    "disabled_tools",
    "startup_timeout_sec",
    "tool_timeout_sec",
    "sandbox",
    *_OAUTH,
)


class WrongEntry(Exception):
    """A mistake in an entry: `field` is the dotted name of the field, "" for the entry itself; the text
    begins with it and says what is wrong."""

    def __init__(self, field: str, problem: str) -> None:
        super().__init__(f"{field} {problem}".strip())
        self.field = field
        self.sentence = str(self) if field else f"it {problem}"


class Servers(Struct, frozen=True, kw_only=True):
    """The servers that can be used, and sentences about those that can't."""

    found: tuple[McpServer, ...] = ()
    problems: tuple[str, ...] = ()


def servers_of_settings(
    written: Mapping[str, Any], place: Callable[[str], str] = lambda name: name
) -> tuple[McpServer, ...]:
    """The servers of the table `mcp_servers` in the user's settings.

    Args:
        place: says for messages where the file sets a dotted name.

    Raises:
        ConfigError: an entry is wrong.
    """
    servers = []
    for name, entry in written.items():
        try:
            _require_name(name)
            servers.append(server_of(name, entry, _ALL_FIELDS))
        except WrongEntry as wrong:
            whole = ".".join(filter(None, (TABLE, name, wrong.field)))
            if wrong.field:
                raise ConfigError(f"{place(whole)}: {TABLE}.{name}.{wrong}.") from wrong
            raise ConfigError(f"{place(whole)}: the MCP server {name!r} {wrong}.") from wrong
    return tuple(servers)


def joined_servers(
    own: Mapping[str, Any],
    brought: Sequence[McpServer],
    environ: Mapping[str, str],
    api_keys: Callable[[], Iterable[str]],
) -> Servers:
    """The user's servers and those of a trusted project, with their variables expanded. If both have the same
    name, the user's is used.

    Args:
        own: the table `mcp_servers` of the user's settings.
        api_keys: the variables that hold API keys of model providers, which no project gets.

    Raises:
        ConfigError: an entry of the user's is wrong.
    """
    found: list[McpServer] = []
    problems: list[str] = []

    def use(server: McpServer, withheld: Collection[str]) -> None:
        try:
            found.append(with_variables(server, environ, withheld))
        except WrongEntry as wrong:
            problems.append(f"The MCP server {server.name} isn't used: {wrong.sentence}.")

    for server in servers_of_settings(own):
        use(server, ())
    withheld = _withheld(environ, api_keys()) if brought else ()
    for server in brought:
        if server.name in own:
            problems.append(f"The project's MCP server {server.name} isn't used: you have one of that name.")
        else:
            use(replace(server, origin="project"), withheld)
    return Servers(found=tuple(found), problems=tuple(problems))


def _withheld(environ: Mapping[str, str], api_keys: Iterable[str]) -> Collection[str]:
    """These variables, and others with the same values."""
    names = frozenset(api_keys)
    values = {environ[name] for name in names if environ.get(name)}
    return names | {name for name, value in environ.items() if value in values}


def usable_name(name: str) -> str:
    """The name with characters replaced that a server's name can't have; "" if nothing usable is left."""
    name = re.sub(r"[^A-Za-z0-9-]+", "_", name).strip("_-")[:_LONGEST_NAME].rstrip("_")
    return name if _NAME.fullmatch(name) else ""


def _require_name(name: str) -> None:
    """Raises WrongEntry for a name that no server can have."""
    if len(name) > _LONGEST_NAME or not _NAME.fullmatch(name):
        raise WrongEntry(
            "",
            f"needs another name: up to {_LONGEST_NAME} letters, digits and -, with single _ between them",
        )


def server_of(name: str, entry: object, known: Collection[str]) -> McpServer:
    """The server that an entry describes, with its variables not expanded. Raises WrongEntry.

    Args:
        known: the fields that the entry may have.
    """
    if not isinstance(entry, Mapping):
        raise WrongEntry("", "must be a table with command or url")
    for field, value in entry.items():
        if field not in known:
            raise WrongEntry(str(field), f"is unknown. Known are: {', '.join(known)}")
        _require_type(field, value)
    command, url = entry.get("command", ""), entry.get("url", "")
    if bool(command) == bool(url):
        raise WrongEntry("", "needs either a command or a url" if command else "needs a command or a url")
    written = entry.get("type", "stdio" if command else "http")
    if written not in _TRANSPORTS:
        raise WrongEntry("type", f"must be stdio, http or sse, not {written!r}")
    transport = _TRANSPORTS[written]
    if (transport == "stdio") != bool(command):
        raise WrongEntry("type", f"is {written!r}, but the entry has a {'command' if command else 'url'}")
    for field in (*_OF_ADDRESS, *_OAUTH) if command else _OF_PROGRAM:
        if field in entry:
            raise WrongEntry(field, f"is only for servers with a {'url' if command else 'command'}")
    fields = {_FIELD_NAMES.get(field, field): value for field, value in entry.items()}
    lists = {field: tuple(value) for field, value in fields.items() if isinstance(value, list)}
    server = McpServer(**{**fields, **lists, "name": name, "transport": transport})
    if url and not _VARIABLE.search(url):
        _require_url(url)
    return server


def _require_type(field: str, value: object) -> None:
    """Raises WrongEntry for a value of the wrong type. Its text doesn't quote values that may be secret."""
    match field:
        case "args" | "enabled_tools" | "disabled_tools":
            if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
                raise WrongEntry(field, f"must be a list of quoted strings, not {value!r}")
            texts = value
        case "env" | "headers":
            if not isinstance(value, Mapping):
                raise WrongEntry(field, "must be a table of quoted strings")
            for name, each in value.items():
                if not isinstance(each, str):
                    raise WrongEntry(f"{field}.{name}", "must be a quoted string")
                if field == "headers" and not _HEADER.fullmatch(name):
                    raise WrongEntry(f"{field}.{name}", "isn't the name of a header")
                if field == "env" and (not name or "=" in name):
                    raise WrongEntry(f"{field}.{name}", "isn't the name of a variable")
            texts = [*value, *value.values()]
        case "startup_timeout_sec" | "tool_timeout_sec":
            if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value <= 1e6:
                raise WrongEntry(field, f"must be a number of seconds above 0, not {value!r}")
            texts = []
        case "oauth_callback_port":
            if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= 65_535:
                raise WrongEntry(field, f"must be a port from 1 to 65535, not {value!r}")
            texts = []
        case "sandbox":
            if not isinstance(value, bool):
                raise WrongEntry(field, f"must be true or false, not {value!r}")
            texts = []
        case _:
            if not isinstance(value, str):
                raise WrongEntry(field, "must be a quoted string")
            texts = [value]
    if any("\0" in text for text in texts):
        raise WrongEntry(field, "contains a zero byte")


def _require_url(url: str) -> None:
    """Raises WrongEntry if a server can't have this address."""
    try:
        parts = urlsplit(url)
        is_address = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
    except ValueError:
        is_address = False
    if not is_address or _UNWRITABLE.search(url) or " " in url:
        raise WrongEntry("url", "must begin with http:// or https:// and name a host")


def with_variables(
    server: McpServer, environ: Mapping[str, str], withheld: Collection[str] = ()
) -> McpServer:
    """The server with its variables expanded. From then on, values that may be secret are masked in logs and
    shown texts.

    Args:
        withheld: variables that this server doesn't get.

    Raises:
        WrongEntry: a variable is withheld, or isn't set and has no default; or the result isn't an address.
    """

    def expanded(field: str, text: str) -> str:
        return expand(text, environ, withheld, field)

    def table(field: str, written: Mapping[str, str]) -> dict[str, str]:
        return {name: expanded(f"{field}.{name}", value) for name, value in written.items()}

    server = replace(
        server,
        written=server.place if _VARIABLE.search(server.place) else "",
        command=_at_home(expanded("command", server.command)),
        args=tuple(expanded("args", each) for each in server.args),
        env=table("env", server.env),
        cwd=_at_home(server.cwd),
        url=expanded("url", server.url),
        headers=table("headers", server.headers),
        oauth_client_id=expanded("oauth_client_id", server.oauth_client_id),
        oauth_client_secret=expanded("oauth_client_secret", server.oauth_client_secret),
    )
    if server.url:
        _require_url(server.url)
    elif not server.command:
        raise WrongEntry("command", "is empty once its variables are expanded")
    for name, value in server.headers.items():
        if _UNWRITABLE.search(value):
            raise WrongEntry(f"headers.{name}", "contains a character that no header can have")
        keep_secret(value.partition(" ")[2])
    keep_secret(server.oauth_client_secret)
    keep_secrets_of(server.env)
    keep_secrets_of(server.headers)
    return server


def expand(text: str, environ: Mapping[str, str], withheld: Collection[str], field: str) -> str:
    """The text with its variables expanded; the default replaces an empty one. Raises WrongEntry: a variable
    is withheld, or isn't set and has no default."""

    def value_of(found: re.Match[str]) -> str:
        name, default = found.groups()
        if name in withheld:
            raise WrongEntry(
                field, f"names ${{{name}}}, which holds an API key of a model provider: projects don't get it"
            )
        if default is not None and not environ.get(name):
            return str(default)
        if name not in environ:
            raise WrongEntry(field, f"names ${{{name}}}, but this environment variable isn't set")
        if holds_secret(name):
            keep_secret(environ[name])
        return environ[name]

    return _VARIABLE.sub(value_of, text)


def _at_home(path: str) -> str:
    """The path with a leading `~/` expanded to the home folder."""
    try:
        return str(Path(path).expanduser()) if path.startswith("~/") else path
    except RuntimeError:
        return path
