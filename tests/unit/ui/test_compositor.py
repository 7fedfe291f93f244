"""The rows of a screen, put together from what its widgets draw."""

from __future__ import annotations

from typing import Any

from rich.segment import Segment
from textual.app import App, ComposeResult
from textual.geometry import Region
from textual.screen import Screen
from textual.strip import Strip
from textual.widget import Widget

from keen_tui.frontends.tui.terminal.compositor import paint_frugally

WIDTH, HEIGHT = 10, 3


class Drawn(Widget):
    """Draws these rows, whatever its size."""

    def __init__(self, *rows: str, id: str) -> None:
        super().__init__(id=id)
        self._rows = rows

    def render_lines(self, crop: Region) -> list[Strip]:
        return [Strip([Segment(row)]) for row in self._rows]


class TwoLayers(Screen[None]):
    """A widget as big as the screen, and one that covers three columns at the left."""

    CSS = """
    TwoLayers { layers: back front; }
    #back { layer: back; width: 10; height: 3; }
    #front { layer: front; width: 3; height: 3; }
    """

    def __init__(self, *back: str, front: tuple[str, ...]) -> None:
        super().__init__()
        self._rows = back, front
        self.painter = paint_frugally(self)

    def compose(self) -> ComposeResult:
        back, front = self._rows
        yield Drawn(*back, id="back")
        if front:
            yield Drawn(*front, id="front")


async def painted(*back: str, front: tuple[str, ...] = ()) -> list[str]:
    """The rows of the screen."""
    screen = TwoLayers(*back, front=front)
    app: App[Any] = App()
    async with app.run_test(size=(WIDTH, HEIGHT)) as pilot:
        await app.push_screen(screen)
        await pilot.pause()
        return [row.text for row in screen.painter.render_strips()]


async def test_what_a_widget_lacks_amid_a_resize_is_blank() -> None:
    assert await painted("0123456789", "01234") == ["0123456789", "01234     ", " " * WIDTH]


async def test_what_is_too_long_is_cut() -> None:
    assert await painted("0123456789abc", *["0123456789"] * 4) == ["0123456789"] * HEIGHT


async def test_a_widget_is_cut_where_another_one_covers_it() -> None:
    rows = await painted("0123456789", "0123456789abc", "0", front=("abc", "ab", "abcd"))
    assert rows == ["abc3456789", "ab 3456789", "abc       "]
