"""Sentences about MCP servers, the same in both front ends."""

from __future__ import annotations

from collections.abc import Iterator

from keen_tui.domain.servers import ServerReport
from keen_tui.frontends.shared.servers_port import OpenSignIn
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


def asking(name: str) -> str:
    """Said while the server is asked for its page."""
    return f"Asking {clean(name)} where to sign in..."


def page_words(sign_in: OpenSignIn) -> str:
    """Returns a sentence about the address of the page."""
    if sign_in.is_in_browser:
        return "Your browser should open now. If it doesn't, open this address:"
    return "Open this address in your browser:"


PASTE_WORDS = (
    "If the browser runs on another machine, the sign-in ends on a page that it can't load. Copy the address "
    "of that page and paste it here."
)
"""The instruction for browsers that can't come back."""


def facts(server: ServerReport) -> Iterator[str]:
    """Yields further facts about the server, a line each."""
    yield clean(server.place)
    if server.origin == "project":
        yield "configured by the project"
    if server.version:
        yield f"{server.version}, protocol {clean(server.protocol)}"
    if server.prompts:
        yield counted(server.prompts, "prompt")
