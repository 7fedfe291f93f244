"""Themes, chosen while one looks at them."""

from __future__ import annotations

from pathlib import Path

import pytest
from rich.color import Color

from keen_tui.frontends.tui.app import UiSettings
from keen_tui.frontends.tui.look.themes import load_themes
from keen_tui.frontends.tui.look.usual_theme import shipped_folder
from keen_tui.frontends.tui.pages.settings.theme_picker import ThemePicker
from keen_tui.settings.service import SettingsService
from keen_tui.tools.permissions.rule_check import check_rules
from tests.support import contexts, story
from tests.support.screen import strips_of
from tests.support.workspace import Driver, workspace


def colours_of(driver: Driver, text: str) -> set[str]:
    """The colours in which that text is drawn now."""
    strips = strips_of(driver.app)
    segments = (segment for strip in strips for segment in strip if text in segment.text)
    return {segment.style.color.name for segment in segments if segment.style and segment.style.color}


def is_colour(driver: Driver, text: str, theme: str, role: str) -> bool:
    wanted = load_themes()[0][theme].colours[role]
    return {Color.parse(name).name for name in colours_of(driver, text)} == {wanted}


async def open_themes(driver: Driver) -> None:
    await driver.type("/theme")
    await driver.press("enter")
    await driver.until(lambda: isinstance(driver.app.screen, ThemePicker))
    await driver.until_shown("keen-safe")


async def test_each_theme_is_seen_as_it_is_reached_and_esc_gives_the_old_one_back(tmp_path: Path) -> None:
    async with workspace(tmp_path) as driver:
        await driver.play(*story.three_turns())
        await open_themes(driver)
        assert driver.shows("TurnMemory")
        await driver.press("end")
        await driver.until(lambda: is_colour(driver, "TurnMemory", "keen-safe", "text"))
        await driver.until(lambda: is_colour(driver, "keen-safe", "keen-safe", "text"))
        await driver.press("escape")
        await driver.until(lambda: driver.app.screen is driver.screen)
        await driver.until(lambda: is_colour(driver, "TurnMemory", "keen-dark", "text"))


async def test_what_lies_behind_the_themes_is_seen_whenever_one_looks(tmp_path: Path) -> None:
    async with workspace(tmp_path) as driver:
        await driver.play(*story.three_turns())
        await open_themes(driver)
        driver.app.screen.refresh()
        driver.app.screen._styles_cache.clear()
        assert driver.shows("TurnMemory")


async def test_enter_keeps_the_theme_and_writes_it_down(tmp_path: Path) -> None:
    service = SettingsService({"words": []}, {"KEEN_HOME": str(tmp_path)}, tmp_path, check_rules)
    async with workspace(tmp_path, saved_settings=service) as driver:
        await open_themes(driver)
        await driver.press("end", "enter")
        await driver.until_shown("Theme keen-safe. Remembered in")
        assert driver.app.theme == "keen-safe"
        assert (tmp_path / "settings.toml").read_text() == 'theme = "keen-safe"\n'


async def test_a_theme_can_be_named(tmp_path: Path) -> None:
    async with workspace(tmp_path) as driver:
        await driver.type("/theme keen-light")
        await driver.press("enter")
        await driver.until(lambda: driver.app.theme == "keen-light")


async def test_a_broken_theme_of_the_user_is_told_of_and_listed_as_broken(tmp_path: Path) -> None:
    shipped = (shipped_folder() / "keen-dark.toml").read_text("utf-8")
    (tmp_path / "sea.toml").write_text(shipped.replace("keen-dark", "sea").replace("#11171a", "#001122"))
    (tmp_path / "mud.toml").write_text(shipped.replace("keen-dark", "mud").replace('soft = "#a9b7b8"', ""))
    async with workspace(tmp_path, settings=UiSettings(user_themes=tmp_path)) as driver:
        await driver.until_shown("mud.toml, line 14: 'text.soft' is missing.")
        await open_themes(driver)
        await driver.until_shown("✗ mud.toml   line 14: 'text.soft' is missing")
        await driver.press("end", "enter")
        assert isinstance(driver.app.screen, ThemePicker)
        await driver.press("up")
        await driver.until(lambda: driver.app.theme == "sea")


@pytest.mark.parametrize("command", ["/context", "/settings", "/help"])
async def test_open_views_are_drawn_anew_with_another_theme(tmp_path: Path, command: str) -> None:
    service = SettingsService({"words": []}, {"KEEN_HOME": str(tmp_path)}, tmp_path, check_rules)
    async with workspace(tmp_path, saved_settings=service) as driver:
        driver.session.report = contexts.pictured()
        await driver.play(*story.three_turns())
        await driver.type(command)
        await driver.press("enter")
        await driver.until_shown("esc back")
        driver.app.theme = "keen-light"
        old = set(load_themes()[0]["keen-dark"].colours.values())
        new = set(load_themes()[0]["keen-light"].colours.values())

        def drawn() -> set[str]:
            strips = strips_of(driver.app)
            styles = [segment.style for strip in strips for segment in strip if segment.style]
            return {colour.name for style in styles for colour in (style.color, style.bgcolor) if colour}

        await driver.until(lambda: drawn() & new != set() and not drawn() & (old - new))
