"""The settings screen: what is shown, what a change does at once, and what it writes."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from keen_tui.frontends.tui.look.usual_theme import theme_for
from keen_tui.frontends.tui.pages.settings.screen import SettingsScreen
from keen_tui.frontends.tui.widgets.field import Field
from keen_tui.settings.schema import Settings, name_in_file
from keen_tui.settings.service import SettingsService
from keen_tui.tools.permissions.rule_check import check_rules
from tests.support.waiting import until
from tests.support.workspace import Driver, workspace


@asynccontextmanager
async def settings_screen(
    folder: Path, text: str = "", *, size: tuple[int, int] = (120, 40), **given: object
) -> AsyncIterator[Driver]:
    """The settings screen of a file with that text, opened by its command."""
    if text:
        (folder / "settings.toml").write_text(text)
    service = SettingsService({"words": [], **given}, {"KEEN_HOME": str(folder)}, folder, check_rules)
    async with workspace(folder, size=size, saved_settings=service) as driver:
        await driver.type("/settings")
        await driver.press("enter")
        await driver.until(lambda: isinstance(driver.app.screen, SettingsScreen))
        await driver.until_shown("type to find a setting")
        yield driver


async def choose(driver: Driver, name: str) -> None:
    """Find the setting of that name, and choose it."""
    screen = driver.app.screen
    assert isinstance(screen, SettingsScreen)
    while driver.app.screen.query_one("#setting-search", Field).value:
        await driver.press("backspace")
    await driver.type(name)
    await until(lambda: chosen(screen) == name, moment=lambda: driver.press("down"))


def chosen(screen: SettingsScreen) -> str:
    return screen.chosen.name if screen.chosen else ""


def written(folder: Path) -> str:
    return (folder / "settings.toml").read_text()


async def test_value_source_meaning_and_default_of_a_setting_are_shown(tmp_path: Path) -> None:
    async with settings_screen(tmp_path, 'mode = "plan"\n', max_steps=7) as driver:
        assert driver.rows()[driver.row_with("    mode ")].split() == ["mode", "plan", "settings", "file"]
        await choose(driver, "max_steps")
        assert driver.rows()[driver.row_with("▌   max_steps")].split()[1:] == [
            "max_steps",
            "7",
            "command",
            "line",
        ]
        await choose(driver, "mode")
        await driver.until_shown("What runs without asking.")
        await driver.until_shown("default ask   takes effect at once   one of ask, auto-edit, plan, auto")
        assert driver.shows(f"2 of {len(Settings._fields)} set")


async def test_a_value_from_a_list_changes_at_once_and_is_written(tmp_path: Path) -> None:
    async with settings_screen(tmp_path) as driver:
        await choose(driver, "mode")
        await driver.press("right")
        await driver.until(lambda: ("set_mode", "auto-edit") in driver.session.calls)
        assert written(tmp_path) == 'mode = "auto-edit"\n'
        await choose(driver, "theme")
        await driver.press("right")
        await driver.until(lambda: driver.app.theme != "keen-dark")
        assert f'theme = "{driver.app.theme}"' in written(tmp_path)
        await driver.press("ctrl+r")
        await driver.until(lambda: driver.app.theme == theme_for("", os.environ))
        assert "theme" not in written(tmp_path)


async def test_the_keys_that_change_a_setting_are_named_and_do_so(tmp_path: Path) -> None:
    async with settings_screen(tmp_path, size=(60, 12)) as driver:
        await choose(driver, "mode")
        await driver.until_shown("enter, ←→ change")
        await driver.press("enter")
        await driver.until(lambda: ("set_mode", "auto-edit") in driver.session.calls)
        await driver.press("left")
        await driver.until(lambda: ("set_mode", "ask") in driver.session.calls)
        await choose(driver, "max_steps")
        await driver.until_shown("enter change")
        await choose(driver, "model")
        await driver.until_shown("enter choose a model")
        await choose(driver, "permissions.deny")
        await driver.until_shown("enter, ctrl+g open the file")


@pytest.mark.parametrize("size", [(120, 40), (80, 24), (60, 12)])
async def test_a_value_that_is_cut_in_its_row_is_whole_below(tmp_path: Path, size: tuple[int, int]) -> None:
    rules = '"bash(curl)", "bash(wget)", "edit(secrets/**)", "read(private/**)", "edit(the/end/**)"'
    async with settings_screen(tmp_path, f"[permissions]\ndeny = [{rules}, {rules}]\n", size=size) as driver:
        await choose(driver, "permissions.deny")
        await driver.until_shown("Rules for what never runs.")
        row, meaning = driver.row_with("▌   permissions.deny"), driver.row_with("Rules for what never runs.")
        assert "…" in driver.rows()[row]
        assert "edit(the/end/**)" in "".join(driver.rows()[row + 1 : meaning])
        await choose(driver, "theme")
        await driver.until_shown("keen-safe")
        assert driver.shows("takes effect at once") and driver.shows("esc back")


async def test_a_value_is_typed_and_one_that_cannot_be_says_why(tmp_path: Path) -> None:
    async with settings_screen(tmp_path) as driver:
        await choose(driver, "max_steps")
        await driver.press("enter", "backspace", "backspace", "backspace")
        await driver.type("many")
        await driver.press("enter")
        await driver.until_shown("max_steps must be a whole number above 0.")
        for _ in "many":
            await driver.press("backspace")
        await driver.type("12")
        await driver.press("enter")
        await driver.until_shown("It takes effect at the next start.")
        assert written(tmp_path) == "max_steps = 12\n"
        await driver.press("escape", "escape", "escape")
        await driver.until(lambda: driver.app.screen is driver.screen)


async def test_what_is_typed_is_left_with_esc(tmp_path: Path) -> None:
    async with settings_screen(tmp_path) as driver:
        await choose(driver, "max_steps")
        await driver.press("enter", "5", "escape")
        await driver.until_shown("esc back")
        assert not (tmp_path / "settings.toml").exists()
        assert isinstance(driver.app.screen, SettingsScreen)


async def test_a_change_that_the_command_line_overrules_says_so(tmp_path: Path) -> None:
    async with settings_screen(tmp_path, sandbox=False) as driver:
        await choose(driver, "sandbox")
        await driver.press("right")
        await driver.until_shown("Saved, but the command line overrides it.")


async def test_a_file_that_became_wrong_is_told_of_and_not_written_over(tmp_path: Path) -> None:
    async with settings_screen(tmp_path, 'mode = "plan"\n') as driver:
        (tmp_path / "settings.toml").write_text("mode = ")
        await choose(driver, "sandbox")
        await driver.press("right")
        await driver.until_shown("isn't valid TOML")
        assert written(tmp_path) == "mode = "


async def test_rules_are_shown_and_changed_in_the_file_only(tmp_path: Path) -> None:
    async with settings_screen(tmp_path, '[permissions]\ndeny = ["bash(curl)"]\n') as driver:
        await choose(driver, "permissions.deny")
        await driver.until_shown("Rules for what never runs.")
        assert "bash(curl)" in driver.rows()[driver.row_with("▌   permissions.deny")]
        await driver.press("delete")
        await driver.until_shown("Edit this one in the file")
        assert "bash(curl)" in written(tmp_path)


async def test_all_settings_can_be_reached_on_a_small_terminal(tmp_path: Path) -> None:
    async with settings_screen(tmp_path, size=(80, 24)) as driver:
        await driver.press("ctrl+end", "enter")
        await driver.until_shown("below")
        await driver.press("ctrl+end")
        await driver.until_shown("Programs and addresses that offer tools")
        assert driver.shows("▌   mcp_servers ")


def names(driver: Driver) -> list[str]:
    """The first words of the rows between the search and what the chosen setting means."""
    top = driver.row_with("type to find a setting") + 1
    rows = (row[4:].split("  ")[0].strip() for row in driver.rows()[top:] if row.startswith(("▌", "    ")))
    return [row for row in rows if row]


SIX = ["model", "effort", "mode", "theme", "notify", "memory.policy"]


async def test_six_come_first_and_more_unfolds_the_rest(tmp_path: Path) -> None:
    async with settings_screen(tmp_path) as driver:
        assert names(driver)[:7] == [*SIX, "more"]
        assert driver.shows(f"{len(Settings._fields) - 6} settings")
        assert not driver.shows("max_steps")
        await driver.press("ctrl+end", "enter")
        await driver.until_shown("max_steps")
        assert names(driver)[:7] == [*SIX, "provider"]
        assert isinstance(driver.app.screen, SettingsScreen)
        assert chosen(driver.app.screen) == "provider"
        assert not driver.shows("▌   more")


async def test_letters_find_every_setting_by_its_name_and_by_what_it_means(tmp_path: Path) -> None:
    async with settings_screen(tmp_path) as driver:
        for name in (name_in_file(each) for each in Settings._fields):
            await choose(driver, name)
        for _ in name:
            await driver.press("backspace")
        await driver.type("bell")
        await driver.until(lambda: driver.shows("▌   notify"))
        assert not driver.shows("memory.policy")
        await driver.type("zz")
        await driver.until_shown("No setting matches.")
        await driver.press("enter", "right", "ctrl+r", "down")
        assert not (tmp_path / "settings.toml").exists()
        await driver.press("escape")
        await driver.until(lambda: driver.shows("memory.policy"))


async def test_letters_that_were_keys_are_letters(tmp_path: Path) -> None:
    async with settings_screen(tmp_path, 'mode = "plan"\n') as driver:
        await driver.type("eq")
        await driver.press("backspace", "backspace", "backspace")
        await driver.until(lambda: driver.shows("memory.policy"))
        assert isinstance(driver.app.screen, SettingsScreen)
        assert written(tmp_path) == 'mode = "plan"\n'
