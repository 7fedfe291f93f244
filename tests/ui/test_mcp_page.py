"""The page of the MCP servers."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.fake_servers import PAGE, RIGHT, FakeServers
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
        assert driver.shows("needs a sign-in: the sign-in has ended")
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


async def open_sign_in(driver: Driver) -> None:
    """From the page of the servers, where the third one needs a sign-in."""
    await open_page(driver, "/mcp")
    await driver.press("down", "down")
    await driver.until_shown("l sign in")
    await driver.press("l")
    await driver.until_shown("esc cancel")


async def test_only_a_server_that_needs_a_sign_in_offers_the_key(tmp_path: Path) -> None:
    async with workspace(tmp_path, servers=FakeServers()) as driver:
        await open_page(driver, "/mcp")
        assert not driver.shows("l sign in")
        await driver.press("down", "down")
        await driver.until_shown("l sign in")


@pytest.mark.parametrize("size", [(120, 40), (80, 24), (60, 12)])
async def test_a_sign_in_shows_its_page_and_takes_the_address_after_it(
    tmp_path: Path, size: tuple[int, int]
) -> None:
    servers = FakeServers()
    async with workspace(tmp_path, servers=servers, size=size) as driver:
        await open_sign_in(driver)
        assert driver.shows("Sign in to the MCP server docs")
        assert driver.shows("Open this address in your browser:")
        assert driver.shows(PAGE[:50])
        assert driver.shows("ctrl+y copy the address")
        shown = "".join(row.strip() for row in driver.rows())
        assert (PAGE in shown) is (size[1] > 12)
        await driver.press("enter")
        await driver.until_shown("Paste the address of the page first.")
        await driver.type("https://evil.example/?code=1")
        await driver.press("enter")
        await driver.until_shown("That address belongs to another sign-in.")
        assert not driver.shows("evil")
        await driver.type(RIGHT)
        await driver.press("enter")
        await driver.until_shown("Signed in to docs. The server starts again.")
        assert driver.shows("esc back"), "the list of servers is back"
        assert servers.done == ["login docs"]


async def test_the_browser_ends_a_sign_in_and_so_does_a_refusal_on_the_page(tmp_path: Path) -> None:
    servers = FakeServers()
    async with workspace(tmp_path, servers=servers) as driver:
        await open_sign_in(driver)
        assert servers.sign_in
        servers.sign_in.fail()
        await driver.until_shown("You aren't signed in to docs: refused.")
        await driver.press("l")
        await driver.until_shown("esc cancel")
        servers.sign_in.come_back()
        await driver.until_shown("Signed in to docs.")


async def test_esc_gives_a_sign_in_up(tmp_path: Path) -> None:
    servers = FakeServers()
    async with workspace(tmp_path, servers=servers) as driver:
        await open_sign_in(driver)
        await driver.press("escape")
        await driver.until_shown("The sign-in to docs was cancelled.")
        await driver.until(lambda: servers.done == ["login docs", "cancel docs"])


async def test_the_address_can_be_copied(tmp_path: Path) -> None:
    async with workspace(tmp_path, servers=FakeServers()) as driver:
        await open_sign_in(driver)
        await driver.press("ctrl+y")
        await driver.until_shown("The address is copied.")
        assert driver.app.clipboard == PAGE


async def test_a_server_that_has_no_sign_in_says_why(tmp_path: Path) -> None:
    async with workspace(tmp_path, servers=FakeServers()) as driver:
        await open_page(driver, "/mcp files")
        await driver.press("l")
        await driver.until_shown("files is a program")


async def test_the_command_opens_the_sign_in_over_the_session(tmp_path: Path) -> None:
    servers = FakeServers()
    async with workspace(tmp_path, servers=servers) as driver:
        await driver.type("/mcp login docs")
        await driver.press("enter")
        await driver.until_shown("esc cancel")
        assert servers.sign_in
        servers.sign_in.come_back()
        await driver.until_shown("Signed in to docs.")
        assert driver.app.screen is driver.screen
