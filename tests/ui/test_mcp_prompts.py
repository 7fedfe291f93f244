"""Prompts of MCP servers on the screen: completed, filled in, and never lost."""

from __future__ import annotations

from pathlib import Path

from tests.support.fake_servers import FakeServers
from tests.support.workspace import workspace


async def test_a_prompt_is_completed_and_its_text_is_sent(tmp_path: Path) -> None:
    servers = FakeServers()
    servers.answers.set()
    async with workspace(tmp_path, servers=servers) as driver:
        await driver.type("/mcp:")
        await driver.until_shown("/mcp:github:review code")
        await driver.until_shown("Asks for a review.")
        await driver.press("tab", *"this", "enter")
        await driver.until(lambda: ("submit", "Review this") in driver.session.calls)


async def test_what_was_typed_comes_back_when_it_is_refused_or_stopped(tmp_path: Path) -> None:
    servers = FakeServers()
    async with workspace(tmp_path, servers=servers) as driver:
        await driver.type("/mcp:github:review this")
        await driver.press("enter")
        await driver.until(lambda: driver.written == "")
        await driver.press("x", "escape")
        await driver.until(lambda: "review this" in driver.written)
        assert driver.written == " /mcp:github:review this\nx"  # the space: not a command any more
        servers.answers.set()
        driver.screen.prompt.write("")
        driver.screen.parts.outbox.send("/mcp:github:review")
        await driver.until_shown("/mcp:github:review needs code.")
        assert driver.written == "/mcp:github:review"
        assert not any(call[0] == "submit" for call in driver.session.calls)
