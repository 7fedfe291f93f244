"""The MCP servers of a project, from the file `.mcp.json`, which several programs read.

A server runs a program with the user's rights. So the question shows each server in full, and the answer
holds only for the bytes of this file and of the project's scripts that its commands name.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
import shlex
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from msgspec import Struct
from msgspec.structs import replace

from keen_tui.settings.added.brought import Brought, in_question
from keen_tui.settings.added.mcp_entries import SHARED_FIELDS, WrongEntry, expand, server_of, usable_name
from keen_tui.settings.added.mcp_servers import McpServer, ServerScript
from keen_tui.system.named_files import is_inside, named_paths
from keen_tui.system.safe_read import content_of
from keen_tui.text.units import size

FILE: Final = ".mcp.json"
_TOP: Final = "mcpServers"
_QUOTED: Final = f'"{_TOP}"'

_MOST_BYTES: Final = 100_000
_MOST_SERVERS: Final = 20
_LONGEST: Final = 1_000
"""Characters of a row in the question. The question cuts no row: a server with a longer one isn't used."""
_LARGEST_SCRIPT: Final = 50_000_000
"""Bytes. A script is read at every start, so it can't be larger."""


class ProjectServers(Struct, frozen=True, kw_only=True):
    """The servers of a project, with their variables not expanded; sentences about entries that can't be
    used; the rows of the question; and the content that the digest covers."""

    found: tuple[McpServer, ...] = ()
    problems: tuple[str, ...] = ()
    rows: tuple[str, ...] = ()
    content: tuple[bytes, ...] = ()


def read_servers(folder: Path) -> ProjectServers:
    """The servers of the project in `folder`. Blocks, but doesn't wait for a pipe; never raises."""
    file = folder / FILE
    try:
        content = content_of(Path(os.path.realpath(folder)) / FILE, most=_MOST_BYTES)
        if content is None:
            return ProjectServers()
        entries, is_at_top = _entries(content)
    except (OSError, ValueError, RecursionError) as error:
        return ProjectServers(problems=(f"{file} isn't used: {_reason(error)}.",))
    found: dict[str, McpServer] = {}
    problems = [f"{file} has no {_QUOTED}; the entries at its top count as its servers."] * is_at_top
    rows: list[str] = []
    parts = [b".mcp.json:" + content]
    for written, entry in entries.items():
        name = usable_name(written)
        try:
            if len(found) == _MOST_SERVERS:
                raise WrongEntry("", f"is one too many: Keen uses at most {_MOST_SERVERS}")
            if not name or name in found:
                raise WrongEntry(
                    "", "has the same name as another one" if name else "has a name without letters"
                )
            server = server_of(name, _known(entry), SHARED_FIELDS)
            shown, scripts = list(_rows(server)), tuple(_scripts(server, folder))
            found[name] = replace(server, scripts=scripts)
            rows += shown
            parts += [f"script:{script.path}:{script.digest}".encode() for script in scripts]
        except WrongEntry as wrong:
            problems.append(f"{file}: the server {in_question(written)} isn't used: {wrong.sentence}.")
    return ProjectServers(
        found=tuple(found.values()), problems=tuple(problems), rows=tuple(rows), content=tuple(parts)
    )


def servers_brought(servers: ProjectServers) -> Brought:
    """The servers, for the question."""
    title = f"MCP servers of its own, in {FILE}"
    return Brought(name="MCP servers", title=title, rows=servers.rows, content=servers.content)


def _entries(content: bytes) -> tuple[Mapping[str, Any], bool]:
    """The entries in the file, and whether they are at its top, as some people write them. Raises ValueError
    if it isn't valid JSON with an object of servers."""
    whole = json.loads(content.decode("utf-8-sig"))
    json.dumps(whole, ensure_ascii=False).encode()  # raises for half of a surrogate pair, which isn't text
    if isinstance(whole, dict) and _TOP not in whole:
        objects = {name: entry for name, entry in whole.items() if isinstance(entry, dict)}
        if any("command" in entry or "url" in entry for entry in objects.values()):
            return objects, True
    entries = whole.get(_TOP) if isinstance(whole, dict) else None
    if not isinstance(entries, dict):
        raise ValueError(f"it needs an object {_QUOTED} that has a name for each server")
    return entries, False


def _reason(error: Exception) -> str:
    match error:
        case json.JSONDecodeError():
            return f"line {error.lineno} isn't valid JSON ({error.msg})"
        case UnicodeDecodeError():
            return "it isn't UTF-8 text"
        case RecursionError():
            return "it nests too deep"
        case OSError() if error.errno == errno.EFBIG:
            return f"it is larger than {size(_MOST_BYTES)}"
        case OSError():
            return error.strerror or "it can't be read"
    return str(error)


def _known(entry: object) -> object:
    """The entry with only the fields that Keen knows: other programs add their own to the file."""
    if not isinstance(entry, dict):
        return entry
    if entry.get("disabled") is True:
        raise WrongEntry("", "is disabled there")
    return {field: value for field, value in entry.items() if field in SHARED_FIELDS}


def _rows(server: McpServer) -> Iterator[str]:
    """The rows of the question about a server: each value in one row, and quotes show where an argument ends.
    Raises WrongEntry: a row would be too long, or there would be too many."""
    if server.command:
        yield f"  {server.name}   {_shown('command', shlex.join((server.command, *server.args)))}"
    else:
        yield f"  {server.name}   {_shown('url', server.url)}"
    if server.cwd:
        yield f"    in the folder {_shown('cwd', server.cwd)}"
    for name, value in server.env.items():
        yield f"    with the variable {_shown('env', f'{name}={shlex.quote(value)}')}"
    for name, value in server.headers.items():
        yield f"    with the header {_shown('headers', f'{name}: {value}')}"
    if len(server.env) + len(server.headers) > _MOST_SERVERS:
        raise WrongEntry("", f"has more than {_MOST_SERVERS} variables or headers")


def _shown(field: str, text: str) -> str:
    shown = in_question(text, longest=None)
    if len(shown) > _LONGEST:
        raise WrongEntry(field, f"is longer than {_LONGEST:,} characters, too long for the question")
    return shown


def changed_script(server: McpServer, folder: Path) -> str:
    """The first script of a project's server that has changed since the user agreed; "" for none. Blocks."""
    for script in server.scripts:
        try:
            if _digest(Path(script.path), folder) != script.digest:
                return script.path
        except OSError:
            return script.path
    return ""


def _scripts(server: McpServer, folder: Path) -> Iterator[ServerScript]:
    """The paths in the project that the command names. Keen can't know what these files load themselves.

    Raises:
        WrongEntry: a file is too large, or can't be read.
    """
    if not server.command:
        return
    base = os.path.join(folder, server.cwd)  # noqa: PTH118 - a Path would lose "."
    path = folder
    try:
        for path in named_paths(map(_with_defaults, _texts(server)), base, folder):
            yield ServerScript(path=str(path), digest=_digest(path, folder))
    except OSError as error:
        why = error.strerror or "it can't be read"
        if error.errno == errno.EFBIG:
            why = f"it is larger than {size(_LARGEST_SCRIPT)}"
        raise WrongEntry(
            "command", f"names {in_question(path)}, but Keen can't see whether that changes: {why}"
        ) from error


def _digest(path: Path, folder: Path) -> str:
    """A digest of the path's real target, and of the file there if it is in the project. Raises OSError."""
    real = Path(os.path.realpath(path))
    is_script = is_inside(real, folder) and os.path.isfile(real)  # noqa: PTH113 - never raises
    content = content_of(real, most=_LARGEST_SCRIPT) if is_script else None
    kind = b"folder" if os.path.isdir(real) else b"nothing"  # noqa: PTH112 - never raises
    digest = hashlib.sha256(os.fsencode(real))
    digest.update(b"\0" + (kind if content is None else hashlib.sha256(content).digest()))
    return digest.hexdigest()


def _texts(server: McpServer) -> Iterator[str]:
    """The texts that may name a file. The whole command comes last, for words that belong together, like `-m`
    and a module."""
    yield from (server.command, *server.args, *server.env.values())
    yield shlex.join((server.command, *server.args))


def _with_defaults(text: str) -> str:
    """The text with the defaults of its variables; unchanged if one has no default."""
    try:
        return expand(text, {}, (), "")
    except WrongEntry:
        return text
