"""The workspace with a scripted session, driven by keys and read as rows of text."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from textual.pilot import Pilot

from keen_tui.domain.events import Event
from keen_tui.frontends.shared.port import FrontEndSetup, SettingsPort
from keen_tui.frontends.tui.app import KeenApp, UiSettings
from keen_tui.frontends.tui.screen.workspace import WorkspaceScreen
from tests.support.fake_session import FakeSession
from tests.support.painted import Writable, driver_for
from tests.support.screen import strips_of
from tests.support.waiting import until


@dataclass
class Driver:
    """One open workspace."""

    app: KeenApp
    session: FakeSession
    pilot: Pilot[str | None]

    @property
    def screen(self) -> WorkspaceScreen:
        return self.app.workspace

    @property
    def written(self) -> str:
        """The text in the composer."""
        return self.screen.prompt.text

    async def press(self, *keys: str) -> None:
        """Press keys, and wait until they have taken effect, if the workspace exists already."""
        await self.pilot.press(*keys)
        if self.app.live:
            await self.until(lambda: not self.app.has_typeahead)

    async def type(self, text: str) -> None:
        await self.press(*("space" if key == " " else key for key in text))

    async def play(self, *events: Event) -> None:
        """Publish events and wait until they are drawn."""
        shown = self.screen.state
        self.session.publish(*events)
        await self.until(lambda: self.screen.state is not shown)
        await self.pilot.pause()

    async def until(self, holds: Callable[[], bool]) -> None:
        """Wait until it holds; fails after a generous limit."""

        def holds_or_failed() -> bool:
            if self.app.failure:
                raise self.app.failure
            return holds()

        await until(
            holds_or_failed,
            moment=lambda: self.pilot.pause(0.01),
            says=lambda: "; the screen:\n" + "\n".join(self.rows()),
        )

    async def until_shown(self, text: str) -> None:
        await self.until(lambda: self.shows(text))

    def rows(self) -> list[str]:
        """The screen as rows of text."""
        return [strip.text for strip in strips_of(self.app)]

    def row_with(self, text: str) -> int:
        """The number of the first row that shows the text."""
        return next(number for number, row in enumerate(self.rows()) if text in row)

    def shows(self, text: str) -> bool:
        return any(text in row for row in self.rows())


@asynccontextmanager
async def workspace(
    folder: Path,
    *,
    size: tuple[int, int] = (120, 40),
    settings: UiSettings | None = None,
    terminal: Writable | None = None,
    saved_settings: SettingsPort | None = None,
    clock: Callable[[], float] = time.monotonic,
    **options: object,
) -> AsyncIterator[Driver]:
    """Open the workspace; it reads the bus when this returns. `terminal` gets everything that is written."""
    session = FakeSession(folder)
    setup = FrontEndSetup(session=session, controls=session, settings=saved_settings, **options)  # type: ignore[arg-type]
    app = KeenApp(lambda: setup, settings, clock=clock)
    if terminal:
        app.driver_class = driver_for(terminal)
    async with app.run_test(headless=terminal is None, size=size) as pilot:
        driver = Driver(app, session, pilot)
        await driver.until(lambda: app.live)
        yield driver
