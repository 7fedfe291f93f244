"""Before the workspace is there, letters show at once, and all keys wait for it."""

from __future__ import annotations

import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from string import ascii_lowercase

import pytest
from textual import events

from keen_tui.domain.errors import ConfigError
from keen_tui.frontends.shared.port import FrontEndSetup
from keen_tui.frontends.tui.app import KeenApp
from keen_tui.frontends.tui.pages.help import HelpScreen
from keen_tui.frontends.tui.startup.entrance import Entrance
from tests.support.fake_session import FakeSession
from tests.support.painted import driver_for
from tests.support.waiting import LIMIT, until
from tests.support.workspace import Driver


class Slow:
    """Takes as long to prepare as the test wants."""

    def __init__(self, folder: Path, error: Exception | None = None) -> None:
        self.session = FakeSession(folder)
        self.go_on = threading.Event()
        self._error = error

    def __call__(self) -> FrontEndSetup:
        assert self.go_on.wait(LIMIT)
        if self._error:
            raise self._error
        return FrontEndSetup(session=self.session, controls=self.session)


@asynccontextmanager
async def at_the_entrance(slow: Slow, *, columns: int = 120) -> AsyncIterator[Driver]:
    app = KeenApp(slow)
    async with app.run_test(size=(columns, 40)) as pilot:
        driver = Driver(app, slow.session, pilot)
        await driver.until_shown("keen")
        try:
            yield driver
        finally:
            slow.go_on.set()


class Pieces:
    """All that is written to a terminal, piece by piece."""

    def __init__(self) -> None:
        self.written: list[str] = []

    def write(self, text: str) -> None:
        self.written.append(text)


async def live(driver: Driver, slow: Slow) -> None:
    slow.go_on.set()
    await driver.until(lambda: driver.app.live)


async def test_letters_show_at_once_and_stand_in_the_composer_later(tmp_path: Path) -> None:
    slow = Slow(tmp_path)
    async with at_the_entrance(slow) as driver:
        await driver.type("fix the cartt")
        await driver.press("backspace")
        await driver.until_shown("fix the cart ")
        assert isinstance(driver.app.screen, Entrance)
        await live(driver, slow)
        assert driver.written == "fix the cart"
        await driver.type(" now")
        await driver.until(lambda: driver.written == "fix the cart now")


async def test_the_first_picture_of_the_workspace_holds_what_was_typed(tmp_path: Path) -> None:
    slow, terminal = Slow(tmp_path), Pieces()
    app = KeenApp(slow)
    app.driver_class = driver_for(terminal)
    async with app.run_test(headless=False, size=(120, 40)) as pilot:
        driver = Driver(app, slow.session, pilot)
        await driver.until_shown("keen")
        await driver.type("well")
        await driver.until_shown("well")
        await live(driver, slow)
        await driver.until(lambda: any("Activity" in piece for piece in terminal.written))
    first = next(piece for piece in terminal.written if "Activity" in piece)
    assert "well" in first


async def test_a_long_text_is_broken_into_rows_as_in_the_composer(tmp_path: Path) -> None:
    slow = Slow(tmp_path)
    async with at_the_entrance(slow, columns=60) as driver:
        await driver.type("words that don't fit into one row of a terminal as narrow as this")
        await driver.until_shown("narrow as this")
        assert isinstance(driver.app.screen, Entrance)
        entrance = driver.app.screen.query_one("#composer").region
        await live(driver, slow)
        await driver.until(lambda: driver.screen.composer.region == entrance)


async def test_enter_sends_as_soon_as_there_is_a_session_and_what_follows_is_the_next_draft(
    tmp_path: Path,
) -> None:
    slow = Slow(tmp_path)
    async with at_the_entrance(slow) as driver:
        await driver.type("hi")
        await driver.press("enter")
        await driver.type("and more")
        assert ("submit", "hi") not in slow.session.calls
        await live(driver, slow)
        await driver.until(lambda: ("submit", "hi") in slow.session.calls)
        await driver.until(lambda: driver.written == "and more")


async def test_what_is_typed_all_the_way_through_is_one_message(tmp_path: Path) -> None:
    """A letter each millisecond, so that some come right before and behind the hand-over."""
    slow = Slow(tmp_path)
    typed: list[str] = []
    async with at_the_entrance(slow) as driver:
        slow.go_on.set()

        async def type_a_letter() -> None:
            typed.append(ascii_lowercase[len(typed) % 26])
            driver.app.post_message(events.Key(typed[-1], typed[-1]))
            await driver.pilot.pause(0.001)

        await until(lambda: driver.app.live, moment=type_a_letter)
        driver.app.post_message(events.Key("enter", None))
        await driver.until(lambda: ("submit", "".join(typed)) in slow.session.calls)


async def test_a_page_gets_the_letters_behind_the_key_that_opens_it(tmp_path: Path) -> None:
    slow = Slow(tmp_path)
    async with at_the_entrance(slow) as driver:
        for key in ("f1", *"retry", "f1", *"hi"):
            driver.app.post_message(events.Key(key, key if len(key) == 1 else None))
        await live(driver, slow)
        await driver.until(lambda: driver.written == "hi")


async def test_other_keys_and_pastes_act_in_the_order_they_came(tmp_path: Path) -> None:
    slow = Slow(tmp_path)
    async with at_the_entrance(slow) as driver:
        await driver.type("see ")
        driver.app.post_message(events.Paste("one\ntwo"))
        await driver.pilot.pause()
        await driver.type(" x")
        await driver.press("f1")
        await live(driver, slow)
        await driver.until(lambda: isinstance(driver.app.screen, HelpScreen))
        assert driver.written == "see one\ntwo x"


@pytest.mark.parametrize("columns", [80, 120, 200])
async def test_the_composer_stays_where_it_is(tmp_path: Path, columns: int) -> None:
    slow = Slow(tmp_path)
    async with at_the_entrance(slow, columns=columns) as driver:
        await driver.type("hi")
        await driver.until_shown("hi")
        entrance = driver.app.screen.query_one("#composer").region
        await live(driver, slow)
        await driver.until(lambda: driver.screen.composer.region == entrance)


async def test_ctrl_c_behind_a_message_leaves_only_when_it_is_pressed_again(tmp_path: Path) -> None:
    slow = Slow(tmp_path)
    async with at_the_entrance(slow) as driver:
        await driver.press("h", "enter", "ctrl+c")
        assert driver.app.return_code is None
        await driver.press("ctrl+c")
        await driver.until(lambda: driver.app.return_code is not None)


async def test_ctrl_c_leaves_while_nothing_else_is_there(tmp_path: Path) -> None:
    slow = Slow(tmp_path)
    async with at_the_entrance(slow) as driver:
        await driver.press("ctrl+c")
        await driver.until(lambda: driver.app.return_code is not None)


async def test_what_goes_wrong_ends_it_and_is_kept_for_the_terminal(tmp_path: Path) -> None:
    slow = Slow(tmp_path, ConfigError("No such thing."))
    async with at_the_entrance(slow) as driver:
        slow.go_on.set()
        await until(lambda: driver.app.return_code is not None)
        assert str(driver.app.failure) == "No such thing."
