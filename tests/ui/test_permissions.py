"""/permissions: what runs unasked here, and taking it back."""

from __future__ import annotations

from pathlib import Path

from keen_tui.domain.permitted import Permitted
from tests.support.workspace import workspace


async def test_it_shows_the_mode_the_rules_and_what_was_allowed(tmp_path: Path) -> None:
    async with workspace(tmp_path) as driver:
        driver.session.permitted = Permitted(
            rules=("deny bash(curl)",),
            session=("all edits in this workspace",),
            saved=("npm test *",),
            sandbox="The sandbox for commands is landlock (bubblewrap is not installed).",
        )
        await driver.type("/permissions")
        await driver.press("enter")
        await driver.until_shown("Permissions: ask")
        for words in (
            "deny bash(curl)",
            "all edits in this workspace",
            "always allowed in this folder",
            "The sandbox for commands is landlock",
        ):
            assert driver.shows(words)


async def test_a_command_that_was_allowed_for_good_is_taken_back(tmp_path: Path) -> None:
    async with workspace(tmp_path) as driver:
        driver.session.permitted = Permitted(saved=("npm test *", "touch a"))
        await driver.type("/permissions")
        await driver.press("enter")
        await driver.until_shown("2  ask again about   touch a")
        await driver.until(lambda: not driver.screen.question_pane.guarded)
        await driver.press("2", "enter")
        await driver.until(lambda: ("take_back", "touch a") in driver.session.calls)
        await driver.until_shown("touch a asks again.")
        assert driver.screen.composer.display


async def test_enter_closes_it_and_changes_nothing(tmp_path: Path) -> None:
    async with workspace(tmp_path) as driver:
        driver.session.permitted = Permitted(saved=("npm test *",))
        await driver.type("/permissions")
        await driver.press("enter")
        await driver.until_shown("ask again about")
        await driver.until(lambda: not driver.screen.question_pane.guarded)
        await driver.press("enter")
        await driver.until(lambda: driver.screen.composer.display)
        assert not [call for call in driver.session.calls if call[0] == "take_back"]


async def test_where_nothing_was_allowed_it_says_so(tmp_path: Path) -> None:
    async with workspace(tmp_path) as driver:
        await driver.type("/permissions")
        await driver.press("enter")
        await driver.until_shown("Nothing else was allowed or forbidden here.")
