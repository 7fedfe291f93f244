"""What is said of MCP servers, the same in both front ends."""

from __future__ import annotations

from collections.abc import Iterator

from keen_tui.domain.servers import ServerReport
from keen_tui.text.sanitize import clean
from keen_tui.text.units import counted

STATES = {
    "starting": "starting",
    "ready": "ready",
    "failed": "failed",
    "stopped": "stopped",
    "sign-in": "needs a sign-in",
}
"""The states of a server in words."""


def state_words(server: ServerReport) -> str:
    """`ready, 16 tools`, `failed: the program npx isn't on your PATH`."""
    if server.state == "ready":
        used = sum(tool.is_used for tool in server.tools)
        offered = len(server.tools)
        tools = counted(used, "tool") if used == offered else f"{used} of {counted(offered, 'tool')}"
        return f"ready, {tools}"
    reason = f": {clean(server.reason)}" if server.reason else ""
    return f"{STATES[server.state]}{reason}"


def facts(server: ServerReport) -> Iterator[str]:
    """What else is known of it, a line each."""
    yield clean(server.place)
    if server.origin == "project":
        yield "configured by the project"
    if server.version:
        yield f"{server.version}, protocol {clean(server.protocol)}"
    if server.prompts:
        yield counted(server.prompts, "prompt")
