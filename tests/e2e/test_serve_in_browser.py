"""`keen-tui serve` in a real browser: the tour, keys, copying, leaving and coming back."""

from __future__ import annotations

import io
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from PIL import Image

from keen_tui.demo.model_server import ModelServer
from keen_tui.demo.script import Call, Reply, Say
from tests.e2e.test_serve import Served, gone, serving
from tests.support.browser import BrowserPage, browser_page
from tests.support.program import Program
from tests.support.waiting import a_moment, until

ENTER = ("Enter", 13)
_DARK, _BRAND = (17, 23, 26), (94, 205, 180)
"""The ground of the usual theme, and the colour of the program's name."""


@pytest.fixture
def program(tmp_path: Path) -> Program:
    return Program(tmp_path)


@pytest.fixture
async def page(tmp_path: Path) -> AsyncIterator[BrowserPage]:
    async with browser_page(tmp_path / "profile") as page:
        yield page


async def open_page(page: BrowserPage, served: Served) -> None:
    permissions = ["clipboardReadWrite", "clipboardSanitizedWrite"]
    await page.call("Browser.grantPermissions", permissions=permissions, origin=served.origin)
    await page.call("Page.bringToFront")
    await page.call("Emulation.setFocusEmulationEnabled", enabled=True)
    await page.go(served.entrance)


async def write(page: BrowserPage, text: str) -> None:
    """Type a line into the composer."""
    await page.type(text)
    await page.wait_for(text)
    await page.press(*ENTER)


async def approve(page: BrowserPage) -> None:
    """Say yes to the question on the screen. It takes no key in its first moment."""
    await page.wait_for("› 1  yes, this once")

    async def press() -> None:
        await page.press(*ENTER)
        await a_moment()

    await until(lambda: "yes, this once" not in page.screen(), moment=press, says=page.screen)


async def test_the_tour_runs_through(page: BrowserPage, program: Program, tmp_path: Path) -> None:
    async with serving(program, "--demo", "--pace", "8") as served:
        await open_page(page, served)
        await page.wait_for("fix the failing discount test", "alt+h help")
        assert await page.evaluate("location.search + document.cookie") == ""
        await page.press(*ENTER)
        await approve(page)
        await page.wait_for("alt+r")
        await page.press("r", 82, alt=True)
        await page.wait_for("3 passed", "TurnMemory shows everything later turns will know.")
        await page.press(*ENTER)
        await page.wait_for("turn 2 done")
        picture = Image.open(io.BytesIO(await page.picture(tmp_path / "tour.png"))).convert("RGB")
        colours = picture.getcolors(picture.width * picture.height) or []
        assert max(colours)[1] == _DARK
        assert _BRAND in {colour for _, colour in colours}
        assert {each.split("/")[2] for each in page.requested} == {served.origin.partition("//")[2]}
        assert not [each for each in page.problems if "WebGL" not in each]


async def test_approving_copying_and_coming_back(page: BrowserPage, program: Program, tmp_path: Path) -> None:
    script = [
        Reply([Call("write_file", {"path": "new.txt", "content": "hello\n"})]),
        Reply([Say("The file is written.")]),
        Reply([Say("Once more.")]),
    ]
    async with ModelServer(script) as server:
        flags = ("--base-url", server.base_url, "--model", "scripted", "--no-sandbox")
        async with serving(program, *flags) as served:
            await open_page(page, served)
            await page.wait_for("alt+h help")
            await write(page, "write it")
            await page.wait_for("Create new.txt?")
            assert not (program.workspace / "new.txt").exists()
            await approve(page)
            await page.wait_for("The file is written.")
            assert (program.workspace / "new.txt").read_text() == "hello\n"

            await write(page, "/copy")
            await until(lambda: "opied" in page.screen(), says=page.screen)
            assert await page.evaluate("navigator.clipboard.readText()") == "The file is written."

            (before,) = served.clients()
            await page.call("Page.reload")
            await until(lambda: gone(before) and served.clients())
            await page.wait_for("The file is written.", "alt+h help")
            await write(page, "again")
            await page.wait_for("Once more.")
            await page.go("about:blank")
            await until(lambda: not served.clients())
            await page.go(served.origin + "/" + page.requested[1].split("/")[3] + "/")
            await until(served.clients)
            await page.wait_for("Once more.")


async def test_a_phone_shows_the_composer_and_the_short_address_leads_back(
    page: BrowserPage, program: Program, tmp_path: Path
) -> None:
    phone = {"width": 390, "height": 844, "deviceScaleFactor": 1, "mobile": True}
    await page.call("Emulation.setDeviceMetricsOverride", **phone)
    async with (
        ModelServer([Reply([Say("Read on a phone.")])]) as server,
        serving(program, "--base-url", server.base_url, "--model", "scripted") as served,
    ):
        await page.go(f"{served.origin}/")
        says = "Open the whole address that keen-tui serve printed, with its token."
        await evaluated(page, "document.body.innerText.trim()", says)
        await open_page(page, served)
        await page.wait_for("alt+h help")
        assert page.columns == 65
        await write(page, "hi")
        await page.wait_for("Read on a phone.")
        row = "document.querySelector('.xterm-screen').getBoundingClientRect()"
        assert await page.evaluate(f"{row}.right <= 390 && {row}.bottom <= 844")
        await page.picture(tmp_path / "phone.png")
        place = await page.evaluate("location.pathname")
        assert place != "/"
        await page.go(f"{served.origin}/")
        await evaluated(page, "location.pathname", place)
        await page.wait_for("Read on a phone.", "alt+h help")


async def evaluated(page: BrowserPage, script: str, wanted: str) -> None:
    """Wait until the script gives that."""
    found: list[object] = []

    async def look() -> None:
        found.append(await page.evaluate(script))

    await until(lambda: wanted in found, moment=look, says=lambda: str(found[-1:]))


async def test_a_program_that_was_left_by_its_key_is_not_resumed(page: BrowserPage, program: Program) -> None:
    async with (
        ModelServer([Reply([Say("The first answer.")])]) as server,
        serving(program, "--base-url", server.base_url, "--model", "scripted") as served,
    ):
        await open_page(page, served)
        await page.wait_for("alt+h help")
        await write(page, "hi")
        await page.wait_for("The first answer.")
        await write(page, "/quit")
        ended = "document.getElementById('reason').textContent"
        await evaluated(page, ended, "The program has ended.")
        await page.evaluate("document.getElementById('again').click()")
        await page.wait_for("Say what you want done", "alt+h help")
        assert "The first answer." not in page.screen()
