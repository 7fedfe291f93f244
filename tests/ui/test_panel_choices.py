"""The width of the panels and how much Activity shows: changed by keys, remembered in a file."""

from __future__ import annotations

from pathlib import Path

import pytest

from keen_tui.frontends.tui.app import UiSettings
from keen_tui.frontends.tui.state.panel_choices import PanelChoices, keep_choices, kept_choices
from tests.support import story
from tests.support.workspace import Driver, workspace


def columns(driver: Driver) -> int:
    return driver.screen.sidebar.size.width


async def test_keys_change_the_width_and_the_next_start_has_it(tmp_path: Path) -> None:
    settings = UiSettings(sidebar_file=tmp_path / "data" / "screen.json")
    async with workspace(tmp_path, settings=settings) as driver:
        assert columns(driver) == 40
        await driver.press("f8", "f8", "f7", "f8")
        await driver.until(lambda: columns(driver) == 48)
        await driver.until(lambda: kept_choices(settings.sidebar_file).sidebar_columns == 48)
        for _ in range(4):
            await driver.press("f8")
        await driver.until_shown("The panels can't get wider in this window.")
        assert columns(driver) == 60
        await driver.until(lambda: kept_choices(settings.sidebar_file).sidebar_columns == 60)
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
        await driver.until(lambda: kept_choices(settings.sidebar_file).sidebar_columns == 0)
        await driver.pilot.resize_terminal(200, 40)
        await driver.until(lambda: columns(driver) == 52)


async def test_a_key_opens_activity_and_the_next_start_has_it_open(tmp_path: Path) -> None:
    settings = UiSettings(sidebar_file=tmp_path / "screen.json")
    async with workspace(tmp_path, settings=settings) as driver:
        await driver.play(*story.three_turns())
        assert driver.screen.sidebar.activity.is_short
        await driver.press("f4")
        await driver.until(lambda: not driver.screen.sidebar.activity.is_short)
        await driver.until(lambda: kept_choices(settings.sidebar_file).activity_open)
    async with workspace(tmp_path, settings=settings) as driver:
        assert not driver.screen.sidebar.activity.is_short
        await driver.press("f4")
        await driver.until(lambda: driver.screen.sidebar.activity.is_short)
        await driver.until(lambda: not kept_choices(settings.sidebar_file).activity_open)


async def test_the_key_only_shows_hidden_panels(tmp_path: Path) -> None:
    file = tmp_path / "screen.json"
    keep_choices(file, PanelChoices(activity_open=True))
    async with workspace(tmp_path, size=(80, 24), settings=UiSettings(sidebar_file=file)) as driver:
        await driver.press("f4")
        await driver.until(lambda: driver.screen.sidebar.display)
        assert not driver.screen.sidebar.activity.folds
        assert kept_choices(file).activity_open


async def test_the_key_keeps_activity_open_while_it_has_the_focus(tmp_path: Path) -> None:
    async with workspace(tmp_path) as driver:
        await driver.play(*story.three_turns())
        activity = driver.screen.sidebar.activity
        activity.focus()
        await driver.until(lambda: activity.has_focus)
        await driver.press("f4")
        await driver.until(lambda: not activity.folds)


async def test_activity_is_open_while_it_has_the_focus(tmp_path: Path) -> None:
    async with workspace(tmp_path) as driver:
        await driver.play(*story.three_turns())
        activity = driver.screen.sidebar.activity
        short = activity.size.height
        activity.focus()
        await driver.until(lambda: activity.size.height > short)
        driver.screen.focus_input()
        await driver.until(lambda: activity.size.height == short)


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
    assert kept_choices(file) == PanelChoices()
    keep_choices(file, PanelChoices(44, activity_open=True))
    assert kept_choices(file) == PanelChoices(44, activity_open=True)


async def test_what_can_not_be_written_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    settings = UiSettings(sidebar_file=tmp_path / "file" / "screen.json")
    async with workspace(tmp_path, settings=settings) as driver:
        await driver.press("f8")
        await driver.until_shown("Keen can't save the layout of the panels")
        assert columns(driver) == 44
