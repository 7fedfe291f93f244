"""What stands in an empty field can be read: as it is painted, in every theme."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from keen_tui.frontends.tui.app import UiSettings
from tests.support import story
from tests.support.fake_history import FakeHistory
from tests.support.screen import THEMES, strips_of
from tests.support.workspace import Driver, workspace

Open = Callable[[Driver], Awaitable[None]]


def channel(value: int) -> float:
    share = value / 255
    return share / 12.92 if share <= 0.04045 else ((share + 0.055) / 1.055) ** 2.4


def luminance(colour: tuple[int, int, int]) -> float:
    red, green, blue = map(channel, colour)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: tuple[int, int, int], other: tuple[int, int, int]) -> float:
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def contrast_of(driver: Driver, words: str) -> float:
    """The lowest contrast among the characters of the words, as they are on the screen."""
    row = next(strip for strip in strips_of(driver.app) if words in strip.text)
    at, lowest = row.text.index(words), 21.0
    for segment in row.crop(at, at + len(words)):
        style = segment.style
        assert style is not None and style.color is not None and style.bgcolor is not None
        assert not style.dim
        front, ground = (each.get_truecolor() for each in (style.color, style.bgcolor))
        lowest = min(lowest, contrast(tuple(front), tuple(ground)))  # type: ignore[arg-type]
    return lowest


async def nothing(driver: Driver) -> None:
    await driver.pilot.pause()


def page(*keys: str) -> Open:
    async def open_page(driver: Driver) -> None:
        await driver.press(*keys)

    return open_page


async def find(driver: Driver) -> None:
    await driver.play(*story.three_turns())
    await driver.press("ctrl+f")


async def why(driver: Driver) -> None:
    driver.session.running = True
    call = story.tool_started(1, "c", "edit_file", "src/cart.py")
    await driver.play(story.started(1, "go"), call, story.approval(1, "c"))
    await driver.until(lambda: not driver.screen.question_pane.guarded)
    await driver.press("3", "enter")


FIELDS: dict[str, tuple[Open, str]] = {
    "composer": (nothing, "hat should I do?"),
    "palette": (page("ctrl+p"), "ype letters of an action"),
    "help": (page("f1"), "ype to find a key"),
    "sessions": (page("f3"), "ype to find a session"),
    "find": (find, "ords in this session"),
    "why": (why, "hat should it do instead"),
}


@pytest.mark.parametrize("theme", [name for name, theme in THEMES.items() if not theme.ansi])
@pytest.mark.parametrize("field", FIELDS)
async def test_a_placeholder_has_the_contrast_of_its_theme(tmp_path: Path, theme: str, field: str) -> None:
    open_field, words = FIELDS[field]
    settings = UiSettings(theme=theme)
    async with workspace(tmp_path, settings=settings, history=FakeHistory()) as driver:
        await open_field(driver)
        await driver.until_shown(words)
        floor = 7.0 if theme == "keen-contrast" else 4.5
        assert contrast_of(driver, words) >= floor
