"""The page of the MCP servers."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.fake_servers import FakeServers
from tests.support.workspace import Driver, workspace


async def open_page(driver: Driver, command: str) -> None:
    await driver.type(command)
    await driver.press("enter")
    await driver.until_shown("esc back")


async def test_servers_are_listed_with_their_states_and_enter_shows_one_whole(tmp_path: Path) -> None:
    async with workspace(tmp_path, servers=FakeServers()) as driver:
        await open_page(driver, "/mcp")
        assert driver.rows()[driver.row_with("github")].rstrip().endswith("ready, 1 of 2 tools")
        assert driver.shows("failed: the program npx isn't there")
        assert driver.shows("needs a sign-in: the server wants you to sign in")
        await driver.press("enter")
        await driver.until_shown("mcp__github__create_issue  Creates an issue.")
        for words in ("npx github-server", "configured by the project", "github 1.0, protocol 2025-11-25"):
            assert driver.shows(words)
        assert driver.shows("mcp__github__delete_repo (not used)")
        assert driver.shows("info: logged in")
        await driver.press("escape")
        await driver.until_shown("3 servers")
        await driver.press("escape")
        await driver.until(lambda: driver.app.screen is driver.screen)


async def test_keys_restart_and_stop_the_chosen_server(tmp_path: Path) -> None:
    servers = FakeServers()
    async with workspace(tmp_path, servers=servers, size=(60, 12)) as driver:
        await open_page(driver, "/mcp")
        await driver.press("down", "r")
        await driver.until_shown("The server files: restart.")
        await driver.press("up", "k")
        await driver.until_shown("The server github: stop.")
        assert servers.done == ["restart files", "stop github"]
        assert driver.rows()[driver.row_with("github  ")].rstrip().endswith("stopped")


@pytest.mark.parametrize("size", [(120, 40), (80, 24), (60, 12)])
async def test_one_can_be_opened_by_its_name(tmp_path: Path, size: tuple[int, int]) -> None:
    async with workspace(tmp_path, servers=FakeServers(), size=size) as driver:
        await open_page(driver, "/mcp github")
        assert driver.shows("MCP server github")
        await driver.press("end")
        await driver.until_shown("info: logged in")
        await driver.press("escape")
        await driver.until(lambda: driver.app.screen is driver.screen)


async def test_without_servers_the_command_says_what_to_do(tmp_path: Path) -> None:
    async with workspace(tmp_path) as driver:
        await driver.type("/mcp")
        await driver.press("enter")
        await driver.until_shown("No MCP servers are configured")
