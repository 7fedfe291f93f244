"""A layout is painted when a widget that draws all its rows anew for it knows its size, and only then."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

from rich.segment import Segment
from textual.app import App, ComposeResult
from textual.events import Resize
from textual.geometry import Region
from textual.screen import Screen
from textual.strip import Strip

from keen_tui.frontends.tui.terminal.compositor import paint_frugally
from keen_tui.frontends.tui.terminal.strip_widget import StripWidget
from tests.support.waiting import until


class LateRows(StripWidget):
    """Knows its size when it is told, which `gate` may hold up."""

    waits_for_size = True

    def __init__(self) -> None:
        super().__init__()
        self.gate = asyncio.Event()
        self.gate.set()
        self.known = 0
        self.painted: list[tuple[int, int]] = []
        """The width that it knew and the width that it had, at each picture."""

    def strips(self) -> Iterator[Strip]:
        yield from [Strip([Segment("x" * self.size.width)])] * self.size.height

    async def on_resize(self, event: Resize) -> None:
        await self.gate.wait()
        self.known = event.size.width

    def render_lines(self, crop: Region) -> list[Strip]:
        self.painted.append((self.known, self.size.width))
        return super().render_lines(crop)


class OneWidget(App[None]):
    CSS = "LateRows { width: 100%; height: 100%; }"

    def get_default_screen(self) -> Screen[None]:
        screen = Screen[None](id="_default")
        paint_frugally(screen)
        return screen

    def compose(self) -> ComposeResult:
        yield LateRows()


async def test_a_new_size_is_painted_once_and_not_before_it_is_known() -> None:
    app = OneWidget()
    async with app.run_test(size=(5, 2)) as pilot:
        rows = app.query_one(LateRows)
        await until(lambda: rows.known == 5 and rows.painted)
        await pilot.pause()
        rows.painted.clear()
        rows.styles.width = 3
        await until(lambda: rows.painted)
        await pilot.pause()
        assert rows.painted == [(3, 3)]


async def test_a_widget_that_is_not_told_holds_nothing_up_for_long() -> None:
    app = OneWidget()
    async with app.run_test(size=(5, 2)):
        rows = app.query_one(LateRows)
        await until(lambda: rows.known == 5 and rows.painted)
        rows.painted.clear()
        rows.gate.clear()
        rows.styles.width = 3

        def painted() -> bool:
            app.screen.refresh()
            return (5, 3) in rows.painted

        await until(painted)
        rows.gate.set()
        await until(lambda: rows.known == 3)
