"""The workspace on a terminal that gets nothing but the written bytes. Its clock stands still and nothing is
animated."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import pyte
from textual.app import App
from textual.drivers.headless_driver import HeadlessDriver
from textual.pilot import Pilot

from keen_tui.domain.events import Event
from keen_tui.frontends.shared.port import FrontEndSetup
from keen_tui.frontends.tui import app as keen_app
from keen_tui.frontends.tui.app import KeenApp
from keen_tui.frontends.tui.look.glyphs import UNICODE
from keen_tui.frontends.tui.look.themes import Styles
from keen_tui.frontends.tui.screen.mounting import mount_panes
from keen_tui.frontends.tui.screen.workspace import WorkspaceScreen
from keen_tui.frontends.tui.state.reducer import apply
from tests.support.fake_session import FakeSession
from tests.support.screen import THEMES

_PRIVATE = re.compile(r"\x1b\[[<>=?][0-9;]*[a-zA-Z$]+")


class Terminal:
    """A terminal that interprets what is written to it."""

    def __init__(self, columns: int, rows: int) -> None:
        self._screen = pyte.Screen(columns, rows)
        self._stream = pyte.Stream(self._screen)

    def write(self, data: str) -> None:
        """Take output of a driver."""
        self._stream.feed(_PRIVATE.sub("", data))

    def cells(self) -> list[list[pyte.screens.Char]]:
        """The characters of each row, with their styles."""
        screen = self._screen
        return [[screen.buffer[y][x] for x in range(screen.columns)] for y in range(screen.lines)]

    def wipe(self) -> None:
        self._screen.reset()


class _StillApp(App[None]):
    CSS_PATH = Path(keen_app.__file__).parent / KeenApp.CSS_PATH

    def __init__(self, folder: Path, theme: str) -> None:
        super().__init__()
        self.register_theme(THEMES[theme].textual())
        styles = Styles(THEMES[theme])
        session = FakeSession(folder)
        setup = FrontEndSetup(session=session, controls=session)
        self.workspace = WorkspaceScreen(setup, styles, UNICODE, reduced_motion=True, clock=lambda: 0.0)
        self.theme = theme

    async def on_mount(self) -> None:
        await self.push_screen(self.workspace)
        await mount_panes(self.workspace)


@dataclass
class Painted:
    """One workspace and its terminal."""

    screen: WorkspaceScreen
    pilot: Pilot[None]
    terminal: Terminal

    async def play(self, *events: Event) -> None:
        """Show each event, and wait until it is painted."""
        for event in events:
            self.screen.show(apply(self.screen.state, event, 0.0))
            await self.painted()

    async def press(self, *keys: str) -> None:
        await self.pilot.press(*keys)
        await self.painted()

    async def painted(self) -> None:
        """Wait until everything is painted."""
        done = asyncio.Event()
        await self.pilot.pause()
        self.screen.call_after_refresh(done.set)
        await done.wait()

    async def paint_anew(self) -> None:
        """Let every widget paint everything on an empty terminal."""
        self.terminal.wipe()
        for widget in self.screen.walk_children():
            widget.refresh()
        self.screen.refresh()
        await self.painted()


@asynccontextmanager
async def painted_workspace(
    folder: Path, size: tuple[int, int], theme: str = "keen-dark"
) -> AsyncIterator[Painted]:
    """Open the workspace on a terminal of that size."""
    terminal = Terminal(*size)
    app = _StillApp(folder, theme)
    app.driver_class = driver_for(terminal)
    async with app.run_test(headless=False, size=size) as pilot:
        painted = Painted(app.workspace, pilot, terminal)
        await painted.painted()
        yield painted


class Writable(Protocol):
    """The file that a driver writes to."""

    def write(self, data: str) -> None: ...


def driver_for(terminal: Writable) -> type[HeadlessDriver]:
    """A Textual driver that writes to the terminal."""

    class Writing(HeadlessDriver):
        @property
        def is_headless(self) -> bool:
            return False

        def write(self, data: str) -> None:
            terminal.write(data)

    return Writing
