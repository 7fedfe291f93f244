"""MCP servers for tests: programs in `mcp_programs`, run by this Python."""

from __future__ import annotations

import asyncio
import os
import socket
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

from keen_tui.settings.added.mcp_servers import McpServer, Transport
from keen_tui.tools.mcp.servers import SessionServers
from tests.support.agent import Bench
from tests.support.waiting import until

PROGRAMS = Path(__file__).with_name("mcp_programs")


def talkative(calls: Path | None = None, **fields: Any) -> McpServer:
    """The server `talk`, which notes its calls in that file."""
    env: dict[str, str] = {**fields.pop("env", {}), **({"CALLS_FILE": str(calls)} if calls else {})}
    given: dict[str, Any] = {"name": "talk", "startup_timeout": 60.0, "tool_timeout": 60.0} | fields
    program = str(PROGRAMS / "talkative.py")
    return McpServer(command=sys.executable, args=(program,), env=env, **given)


class HttpProgram:
    """The server `talk` at an address. It begins with `start`, on the same port each time."""

    def __init__(self, calls: Path, transport: Transport = "http") -> None:
        self._calls = calls
        self._transport = transport
        self._process: asyncio.subprocess.Process | None = None
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.port: int = free.getsockname()[1]

    def server(self, **fields: Any) -> McpServer:
        """The server as it is configured."""
        path = "sse" if self._transport == "sse" else "mcp"
        given: dict[str, Any] = {"name": "talk", "startup_timeout": 60.0, "tool_timeout": 60.0} | fields
        url = f"http://127.0.0.1:{self.port}/{path}{given.pop('more', '')}"
        return McpServer(transport=self._transport, url=url, **given)

    async def start(self) -> None:
        """Start it, and wait until it answers."""
        words = (sys.executable, str(PROGRAMS / "talkative.py"), self._transport, str(self.port))
        environ = os.environ | {"CALLS_FILE": str(self._calls)}
        nowhere = asyncio.subprocess.DEVNULL
        self._process = await asyncio.create_subprocess_exec(
            *words, env=environ, stdin=nowhere, stdout=nowhere, stderr=nowhere
        )
        await until(self._answers)

    async def end(self) -> None:
        """Kill it, if it runs."""
        if self._process:
            with suppress(ProcessLookupError):
                self._process.kill()
            await self._process.wait()
            self._process = None

    def _answers(self) -> bool:
        with suppress(OSError), socket.create_connection(("127.0.0.1", self.port), 1):
            return True
        return False


@asynccontextmanager
async def http_program(calls: Path, transport: Transport = "http") -> AsyncIterator[HttpProgram]:
    """The server `talk`, running at an address."""
    program = HttpProgram(calls, transport)
    try:
        await program.start()
        yield program
    finally:
        await program.end()


def servers_of(bench: Bench) -> SessionServers:
    """The servers of the session."""
    servers = bench.session.state.open.setup.toolbox.servers
    assert servers
    return servers


async def all_settled(bench: Bench) -> SessionServers:
    """The servers of the session, once none of them is starting any more."""
    servers = servers_of(bench)
    servers.start()
    connections = (servers.connection(report.name) for report in servers.reports())
    await asyncio.gather(*(each.settled() for each in connections if each))
    return servers


def noted(calls: Path) -> list[str]:
    """The calls that the server noted."""
    return calls.read_text().splitlines() if calls.exists() else []
