"""The width of the panels: changed by keys, remembered in a file."""

from __future__ import annotations

from pathlib import Path

import pytest

from keen_tui.frontends.tui.app import UiSettings
from keen_tui.frontends.tui.state.sidebar_widths import keep_columns, kept_columns
from tests.support.workspace import Driver, workspace


def columns(driver: Driver) -> int:
    return driver.screen.sidebar.size.width


async def test_keys_change_the_width_and_the_next_start_has_it(tmp_path: Path) -> None:
    settings = UiSettings(sidebar_file=tmp_path / "data" / "screen.json")
    async with workspace(tmp_path, settings=settings) as driver:
        assert columns(driver) == 40
        await driver.press("f8", "f8", "f7", "f8")
        await driver.until(lambda: columns(driver) == 48)
        await driver.until(lambda: kept_columns(settings.sidebar_file) == 48)
        for _ in range(4):
            await driver.press("f8")
        await driver.until_shown("The panels can't get wider in this window.")
        assert columns(driver) == 60
        await driver.until(lambda: kept_columns(settings.sidebar_file) == 60)
    async with workspace(tmp_path, size=(100, 40), settings=settings) as driver:
        await driver.until(lambda: columns(driver) == 50)
        await driver.press(*["f7"] * 8)
        await driver.until_shown("The panels can't get narrower in this window.")
        assert columns(driver) == 28


async def test_back_at_the_usual_width_the_terminal_says_it_again(tmp_path: Path) -> None:
    settings = UiSettings(sidebar_file=tmp_path / "screen.json")
    async with workspace(tmp_path, settings=settings) as driver:
        await driver.press("f8", "f7")
        await driver.until(lambda: (tmp_path / "screen.json").exists())
        await driver.until(lambda: kept_columns(settings.sidebar_file) == 0)
        await driver.pilot.resize_terminal(200, 40)
        await driver.until(lambda: columns(driver) == 52)


async def test_hidden_panels_are_not_resized(tmp_path: Path) -> None:
    async with workspace(tmp_path, size=(80, 24)) as driver:
        await driver.press("f8")
        await driver.until_shown("The panels are hidden: ctrl+b shows them.")
        await driver.press("ctrl+b", "f8")
        await driver.until(lambda: columns(driver) == 44)


@pytest.mark.parametrize(
    "content", ["", "[]", '{"sidebar_columns":"x"}', '{"sidebar_columns":-3}', "\0" * 99]
)
async def test_a_file_that_says_nothing_changes_nothing(tmp_path: Path, content: str) -> None:
    file = tmp_path / "screen.json"
    file.write_text(content)
    assert kept_columns(file) == 0
    keep_columns(file, 44)
    assert kept_columns(file) == 44


async def test_what_can_not_be_written_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    settings = UiSettings(sidebar_file=tmp_path / "file" / "screen.json")
    async with workspace(tmp_path, settings=settings) as driver:
        await driver.press("f8")
        await driver.until_shown("The width can't be remembered")
        assert columns(driver) == 44
