"""A change of sizes costs one layout, which is painted once: when the widgets know their sizes."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from itertools import cycle
from typing import Any

import pytest
from rich.console import RenderableType
from rich.segment import Segment
from textual._compositor import Compositor, ReflowResult
from textual.app import App, ComposeResult
from textual.containers import Horizontal, Vertical
from textual.events import Resize
from textual.geometry import Region, Size
from textual.screen import Screen
from textual.strip import Strip
from textual.widget import Widget
from textual.widgets import Static

from keen_tui.frontends.tui.terminal import compositor
from keen_tui.frontends.tui.terminal.compositor import paint_frugally
from keen_tui.frontends.tui.terminal.laid_out_once import KeenScreen, LaidOutOnce, PaneRow
from keen_tui.frontends.tui.terminal.strip_widget import StripWidget
from tests.support.waiting import LIMIT, until


class SlowToSize(StripWidget):
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
    CSS = "SlowToSize { width: 100%; height: 100%; }"

    def __init__(self) -> None:
        super().__init__()
        self.pictures: list[RenderableType] = []

    def get_default_screen(self) -> Screen[None]:
        screen = Screen[None](id="_default")
        paint_frugally(screen)
        return screen

    def compose(self) -> ComposeResult:
        with Vertical():
            yield SlowToSize()

    def _display(self, screen: Screen[Any], renderable: RenderableType | None) -> None:
        if renderable is not None:
            self.pictures.append(renderable)
        super()._display(screen, renderable)


async def test_a_new_size_is_painted_once_and_not_before_it_is_known() -> None:
    app = OneWidget()
    async with app.run_test(size=(5, 2)) as pilot:
        rows = app.query_one(SlowToSize)
        await until(lambda: rows.known == 5 and rows.painted)
        assert rows.painted[0] == (5, 5)
        await pilot.pause()
        rows.painted.clear()
        rows.styles.width = 3
        await until(lambda: rows.painted)
        await pilot.pause()
        assert rows.painted == [(3, 3)]


async def test_a_widget_that_is_not_told_holds_nothing_up_for_long() -> None:
    """However often the layout changes meanwhile."""
    app = OneWidget()
    async with app.run_test(size=(5, 2)):
        rows = app.query_one(SlowToSize)
        await until(lambda: rows.known == 5 and rows.painted)
        rows.painted.clear()
        rows.gate.clear()
        widths = cycle((3, 4))

        def painted() -> bool:
            rows.styles.width = next(widths)
            return bool(rows.painted)

        await until(painted)
        rows.gate.set()
        await until(lambda: rows.known < 5)


async def test_a_widget_that_is_hidden_before_it_is_told_leaves_the_screen(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(compositor, "PATIENCE", 10 * LIMIT)
    app = OneWidget()
    async with app.run_test(size=(5, 2)):
        rows = app.query_one(SlowToSize)
        await until(lambda: rows.known == 5 and rows.painted)
        rows.gate.clear()
        rows.styles.width = 3
        await until(lambda: rows.size.width == 3)
        app.pictures.clear()
        app.query_one(Vertical).display = False  # it can't hide itself before it has handled the message
        await until(lambda: app.pictures)
        rows.gate.set()


@pytest.mark.parametrize("row", [PaneRow, Horizontal])
async def test_a_row_of_panes_is_laid_out_once_and_a_row_of_textual_twice(
    row: type[Widget], monkeypatch: pytest.MonkeyPatch
) -> None:
    layouts: list[Size] = []

    class OnePane(Static, LaidOutOnce):
        pass

    class OneRow(App[None]):
        CSS = "#outer { height: 3; } #outer > * { height: auto; } OnePane { width: 1fr; height: auto; }"

        def compose(self) -> ComposeResult:
            with Vertical(id="outer"), row():
                yield OnePane("a")
                yield OnePane("b")

    def counted(self: Compositor, parent: Widget, size: Size) -> ReflowResult:
        layouts.append(size)
        return reflow(self, parent, size)

    reflow = Compositor.reflow
    app = OneRow()
    async with app.run_test(size=(10, 4)) as pilot:
        left, right = app.query(OnePane)
        assert (left.region, right.region) == (Region(0, 0, 5, 1), Region(5, 0, 5, 1))
        await pilot.pause()
        monkeypatch.setattr(Compositor, "reflow", counted)
        left.update("a\nb")
        await until(lambda: left.size.height == 2)
        await pilot.pause()
        assert len(layouts) == (1 if row is PaneRow else 2)


@pytest.mark.parametrize(("kind", "times"), [(KeenScreen, 1), (Screen, 3)])
async def test_a_new_size_lays_out_a_screen_once_and_one_of_textual_three_times(
    kind: type[Screen[None]], times: int
) -> None:
    layouts: list[Size] = []
    app = App[None]()
    async with app.run_test(size=(10, 4)) as pilot:
        screen = kind()
        await app.push_screen(screen)
        await pilot.pause()
        screen.screen_layout_refresh_signal.subscribe(app, lambda _: layouts.append(screen.size))
        await pilot.resize_terminal(20, 6)
        await until(lambda: screen.size == Size(20, 6))
        await pilot.pause()
        assert layouts == [Size(20, 6)] * times


async def test_a_screen_is_laid_out_again_for_a_style_sheet_of_the_same_size() -> None:
    app = App[None]()
    async with app.run_test(size=(10, 4)) as pilot:
        box = Static("box")
        screen = KeenScreen[None]()
        await app.push_screen(screen)
        await screen.mount(box)
        await pilot.pause()
        app.stylesheet.add_source("Static { width: 4; }", read_from=("more", ""))
        app.refresh_css(animate=False)
        await until(lambda: box.size.width == 4)


async def test_a_screen_that_overflows_still_scrolls() -> None:
    app = App[None]()
    async with app.run_test(size=(10, 8)) as pilot:
        screen = KeenScreen[None]()
        await app.push_screen(screen)
        await screen.mount(Static("\n".join("abcdef")))
        await pilot.pause()
        assert not screen.show_vertical_scrollbar
        await pilot.resize_terminal(10, 4)
        await until(lambda: screen.show_vertical_scrollbar and screen.max_scroll_y == 2)
        await pilot.resize_terminal(10, 8)
        await until(lambda: not screen.show_vertical_scrollbar and screen.max_scroll_y == 0)
