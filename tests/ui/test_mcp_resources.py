"""Resources of MCP servers on the screen: completed behind an @, and shown with the message."""

from __future__ import annotations

from pathlib import Path

from keen_tui.domain.events import ResourcesAttached, TurnStarted
from keen_tui.domain.messages import AttachedResource
from tests.support.fake_servers import FakeServers
from tests.support.fake_writing import FakeFiles
from tests.support.workspace import workspace


async def test_a_resource_is_completed_behind_the_name_of_its_server(tmp_path: Path) -> None:
    servers, files = FakeServers(), FakeFiles(["github/", "github/flow.yml"])
    async with workspace(tmp_path, servers=servers, files=files) as driver:
        await driver.type("read @gi")
        await driver.until_shown("› github/")
        assert driver.shows("github:           resources of the MCP server")
        await driver.press("down", "tab")
        assert driver.written == "read @github:"
        await driver.until_shown("› The cart rounds wrongly   issues://1")
        await driver.type("read")
        await driver.until_shown("› README   readme://main")
        await driver.press("enter")
        assert driver.written == "read @github:readme://main "
        await driver.press("backspace")
        await driver.until_shown("› README   readme://main")
        await driver.press("enter")
        await driver.until(lambda: ("submit", "read @github:readme://main") in driver.session.calls)


async def test_resources_are_found_by_their_titles_and_odd_ones_are_quoted(tmp_path: Path) -> None:
    async with workspace(tmp_path, servers=FakeServers()) as driver:
        await driver.type("@GitHub:round")
        await driver.until_shown("› The cart rounds wrongly   issues://1")
        await driver.press("tab")
        assert driver.written == "@github:issues://1 "
        await driver.type("and @github:wiki")
        await driver.until_shown("› A page   wiki://A page.")
        await driver.press("tab")
        assert driver.written == '@github:issues://1 and @"github:wiki://A page." '


async def test_enter_does_not_wait_long_for_a_server_that_is_slow(tmp_path: Path) -> None:
    servers = FakeServers()
    servers.lists.clear()
    async with workspace(tmp_path, servers=servers) as driver:
        await driver.type("@github:issues://1")
        await driver.press("enter")
        await driver.until(lambda: ("submit", "@github:issues://1") in driver.session.calls)
        await driver.type("@github:iss")
        servers.lists.set()
        await driver.until_shown("› The cart rounds wrongly   issues://1")


async def test_a_server_that_is_not_ready_offers_nothing(tmp_path: Path) -> None:
    servers, files = FakeServers(), FakeFiles()
    await servers.stop("github")
    async with workspace(tmp_path, servers=servers, files=files) as driver:
        await driver.type("@github:i")
        await driver.until(lambda: files.asked[-1:] == ["github:i"])
        assert not driver.screen.completions.is_open


async def test_the_message_says_which_resources_go_with_it(tmp_path: Path) -> None:
    read = AttachedResource(server="github", uri="issues://1\x1b[31m", text="long", bytes=4_200)
    async with workspace(tmp_path) as driver:
        driver.session.publish(
            TurnStarted(turn=1, attempt=1, text="fix @github:issues://1"),
            ResourcesAttached(turn=1, resources=(read,)),
        )
        await driver.until_shown("resource github:issues://1, 4.2 kB")
