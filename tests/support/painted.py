"""The workspace on a terminal that sees nothing but what is written to it."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pyte
from textual.drivers.headless_driver import HeadlessDriver

from keen_tui.ui.app import KeenApp
from tests.support.fake_session import FakeSession
from tests.support.workspace import Driver

_PRIVATE = re.compile(r"\x1b\[[<>=?][0-9;]*[a-zA-Z$]+")


class Terminal:
    """What its cells show."""

    def __init__(self, columns: int, rows: int) -> None:
        self._screen = pyte.Screen(columns, rows)
        self._stream = pyte.Stream(self._screen)

    def write(self, data: str) -> None:
        self._stream.feed(_PRIVATE.sub("", data))

    def rows(self) -> list[list[pyte.screens.Char]]:
        """Characters with their styles."""
        screen = self._screen
        return [[screen.buffer[y][x] for x in range(screen.columns)] for y in range(screen.lines)]

    def wipe(self) -> None:
        self._screen.reset()


def driver_for(terminal: Terminal) -> type[HeadlessDriver]:
    """A driver of Textual that writes there."""

    class Writing(HeadlessDriver):
        @property
        def is_headless(self) -> bool:
            return False

        def write(self, data: str) -> None:
            terminal.write(data)

    return Writing


@asynccontextmanager
async def painted_workspace(folder: Path, size: tuple[int, int]) -> AsyncIterator[tuple[Driver, Terminal]]:
    """Open the workspace on a terminal of that size; it reads the bus when this returns."""
    terminal = Terminal(*size)
    session = FakeSession(folder)
    app = KeenApp(session)
    app.driver_class = driver_for(terminal)
    async with app.run_test(headless=False, size=size) as pilot:
        driver = Driver(app, session, pilot)
        await driver.until(lambda: ("warm_up",) in session.calls)
        yield driver, terminal


async def all_painted(driver: Driver) -> None:
    """Wait until everything that was to be painted is."""
    painted = asyncio.Event()
    await driver.pilot.pause()
    driver.app.screen.call_after_refresh(painted.set)
    await painted.wait()


async def paint_anew(driver: Driver, terminal: Terminal) -> None:
    """Have every widget paint all that it has on an empty terminal."""
    terminal.wipe()
    for widget in driver.app.screen.walk_children():
        widget.refresh()
    driver.app.screen.refresh()
    await all_painted(driver)
