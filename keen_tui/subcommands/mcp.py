"""`keen-tui mcp`: adding, removing and listing MCP servers, and signing in to them."""

from __future__ import annotations

import asyncio
import importlib
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Final, TextIO

from msgspec.structs import replace

from keen_tui.domain.errors import ConfigError, KeenError, ServerFailed, SessionRefused
from keen_tui.settings.added.mcp_entries import Servers, joined_servers
from keen_tui.settings.added.mcp_json import ProjectServers
from keen_tui.settings.added.mcp_servers import McpServer
from keen_tui.settings.config import read_settings
from keen_tui.settings.file import put_server, remove_server, servers_in
from keen_tui.settings.load import load_all
from keen_tui.settings.project import trusted_project
from keen_tui.settings.schema import Settings
from keen_tui.subcommands.mcp_flags import McpRequest, wanted
from keen_tui.system.browser import open_in_browser
from keen_tui.system.paths import home_folder, settings_file
from keen_tui.text.redaction import holds_secret
from keen_tui.text.sanitize import clean
from keen_tui.tools.mcp.server import NOT_INSTALLED, ServerNeeds
from keen_tui.tools.mcp.sign_ins import SignIns
from keen_tui.tools.permissions.rule_check import check_rules
from keen_tui.tools.sandbox.probe import no_sandbox, sandbox_here
from keen_tui.wiring.parts import key_variables

_LOGIN: Final = "keen_tui.tools.mcp.login"
_LONGEST_LINE: Final = 100_000


def run(words: Sequence[str], environ: Mapping[str, str], out: TextIO, errors: TextIO) -> int:
    """Run the action that the words after `keen-tui mcp` name; returns the exit code.

    Raises:
        KeenError: it can't be done; the text is a sentence for the user.
    """
    asked = wanted(words)
    match asked.action:
        case "add":
            _add(asked, environ, out)
        case "remove":
            _remove(asked.name, environ, out)
        case "login":
            _log_in(_server(asked.name, environ), environ, out)
        case "logout":
            _log_out(_server(asked.name, environ), environ, out)
        case "list":
            _list(environ, out, errors)
    return 0


def _list(environ: Mapping[str, str], out: TextIO, errors: TextIO) -> None:
    """Try each server that is used in this folder and print a line for it. Servers that aren't used go to
    standard error, with the reason."""
    settings, servers, problem = _servers_here(environ)
    for sentence in filter(None, (problem, *servers.problems)):
        print(clean(f"! {sentence}"), file=errors)
    if not servers.found:
        print("No MCP servers. keen-tui mcp --help says how to add one.", file=out)
        return
    from keen_tui.subcommands.mcp_list import server_lines  # noqa: PLC0415 - only if there are servers

    folder = Path.cwd()
    needs = ServerNeeds(
        root=folder,
        sandbox=sandbox_here(folder, environ) if settings.sandbox else no_sandbox(),
        auth=SignIns(home_folder(environ)).auth,
    )

    def tell(sentence: str) -> None:
        print(sentence, file=errors, flush=True)

    for line in asyncio.run(server_lines(servers.found, needs, tell)):
        print(line, file=out)


def _add(asked: McpRequest, environ: Mapping[str, str], out: TextIO) -> None:
    file = put_server(asked.name, asked.entry, environ)
    print(clean(f"Added {asked.name} to {file}."), file=out)
    for name in _written_secrets(asked.entry):
        advice = "To keep it out, put it into an environment variable and write ${VARIABLE} instead."
        print(clean(f"The value of {name} is readable in that file. {advice}"), file=out)


def _written_secrets(entry: Mapping[str, Any]) -> list[str]:
    """The names of secrets whose values are in the entry itself."""
    values = {**entry.get("env", {}), **entry.get("headers", {})}
    return [name for name, value in values.items() if holds_secret(name) and "${" not in value]


def _remove(name: str, environ: Mapping[str, str], out: TextIO) -> None:
    file = settings_file(environ)
    entry = servers_in(read_settings(file), file).get(name)
    file = remove_server(name, environ)
    print(clean(f"Removed {name} from {file}."), file=out)
    url = entry.get("url") if isinstance(entry, Mapping) else None
    if isinstance(url, str) and SignIns(home_folder(environ)).forget(url):
        print("Its sign-in is deleted, too.", file=out)


def _log_in(server: McpServer, environ: Mapping[str, str], out: TextIO) -> None:
    _require_address(server)
    try:
        login = importlib.import_module(_LOGIN)
    except ModuleNotFoundError as error:
        if (error.name or "").startswith("keen_tui"):
            raise
        raise ConfigError(f"You can't sign in: {NOT_INSTALLED}.") from None
    try:
        where = asyncio.run(_signed_in(login, server, environ, out))
    except ServerFailed as error:
        raise KeenError(clean(f"You aren't signed in to {server.name}: {error}.")) from error
    print(clean(f"Signed in to {server.name}. The sign-in is kept in {where}."), file=out)


async def _signed_in(login: Any, server: McpServer, environ: Mapping[str, str], out: TextIO) -> str:
    """Sign in with the browser or a pasted address; returns in words where the sign-in is kept."""
    pasting: list[asyncio.Task[None]] = []

    def show(page: Any) -> None:
        how = (
            "Your browser should open now. If it doesn't, open this address:"
            if open_in_browser(page.url, environ)
            else "Open this address in your browser:"
        )
        print(f"{how}\n\n{page.url}\n\n{_IF_REMOTE}", file=out, flush=True)
        pasting.append(asyncio.create_task(_take_lines(page.take, out)))

    try:
        where: str = await login.sign_in(server, SignIns(home_folder(environ)), show)
        return where
    finally:
        for task in pasting:
            task.cancel()
        await asyncio.gather(*pasting, return_exceptions=True)


_IF_REMOTE: Final = """\
If the browser runs on another machine, the sign-in ends on a page that it can't
load. Copy the address of that page, paste it here and press enter."""


async def _take_lines(take: Callable[[str], None], out: TextIO) -> None:
    """Pass on pasted lines until one is the right address."""
    lines = _TypedLines()
    with suppress(EOFError):
        while True:
            line = await lines.next()
            try:
                take(line)
            except SessionRefused as refused:
                print(refused, file=out, flush=True)
            else:
                return


class _TypedLines:
    """Reads typed lines from the terminal without blocking the event loop."""

    def __init__(self) -> None:
        self._read = b""

    async def next(self) -> str:
        """The next line. Raises EOFError if there is none."""
        while b"\n" not in self._read:
            self._read += await self._piece()
            if len(self._read) > _LONGEST_LINE:
                raise EOFError
        line, _, self._read = self._read.partition(b"\n")
        return line.decode("utf-8", "replace")

    async def _piece(self) -> bytes:
        loop = asyncio.get_running_loop()
        ready = asyncio.Event()
        try:
            descriptor = sys.stdin.fileno()
            loop.add_reader(descriptor, ready.set)
        except (OSError, ValueError):  # standard input is a file, or closed
            raise EOFError from None
        try:
            await ready.wait()
        finally:
            loop.remove_reader(descriptor)
        piece = os.read(descriptor, _LONGEST_LINE)
        if not piece:
            raise EOFError
        return piece


def _log_out(server: McpServer, environ: Mapping[str, str], out: TextIO) -> None:
    _require_address(server)
    was_there = SignIns(home_folder(environ)).forget(server.url)
    said = f"Signed out of {server.name}." if was_there else f"You weren't signed in to {server.name}."
    print(clean(said), file=out)


def _require_address(server: McpServer) -> None:
    """Raises ConfigError for a server that is a program."""
    if not server.url:
        raise ConfigError(f"{server.name} is a program: only servers with an address have a sign-in.")


def _server(name: str, environ: Mapping[str, str]) -> McpServer:
    """The server of that name, with its variables expanded. Raises ConfigError if no such server is used."""
    _, servers, _ = _servers_here(environ)
    for server in servers.found:
        if server.name == name:
            return server
    why = next((problem for problem in servers.problems if f" {name} " in problem), "")
    raise ConfigError(why or f"There is no MCP server {name} here. keen-tui mcp list shows them.")


def _servers_here(environ: Mapping[str, str]) -> tuple[Settings, Servers, str]:
    """The settings, the servers that are used in the current folder, and a sentence that says why nothing of
    the project is used; "" if there is nothing to say."""
    folder = Path.cwd()
    settings, problem = load_all({"words": []}, environ, folder, check_rules)
    project = trusted_project(folder, environ, check_rules)
    brought = project.servers if project else ProjectServers()
    servers = joined_servers(
        settings.mcp_servers, brought.found, environ, lambda: key_variables(settings, environ)
    )
    return settings, replace(servers, problems=(*brought.problems, *servers.problems)), problem
