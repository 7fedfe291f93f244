"""MCP servers for tests: programs in `mcp_programs`, run by this Python."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import Any

from keen_tui.settings.added.mcp_servers import McpServer
from keen_tui.tools.mcp.servers import SessionServers
from tests.support.agent import Bench

PROGRAMS = Path(__file__).with_name("mcp_programs")


def talkative(calls: Path | None = None, **fields: Any) -> McpServer:
    """The server `talk`, which notes its calls in that file."""
    env: dict[str, str] = {**fields.pop("env", {}), **({"CALLS_FILE": str(calls)} if calls else {})}
    given: dict[str, Any] = {"name": "talk", "startup_timeout": 60.0, "tool_timeout": 60.0} | fields
    program = str(PROGRAMS / "talkative.py")
    return McpServer(command=sys.executable, args=(program,), env=env, **given)


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
