"""The help page: the ten keys that it begins with, and the sign that opens it."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual import events

from keen_tui.frontends.tui.app import UiSettings
from keen_tui.frontends.tui.pages.help import HelpScreen
from tests.support import story
from tests.support.workspace import Driver, workspace

TEN = [
    "enter", "ctrl+j, shift+enter", "esc", "ctrl+r, /retry", "shift+tab",
    "/, @", "ctrl+o", "ctrl+b", "ctrl+p", "ctrl+c",
]  # fmt: skip


def is_open(driver: Driver) -> bool:
    return isinstance(driver.app.screen, HelpScreen)


@pytest.mark.parametrize("size", [(120, 40), (80, 24), (60, 24)])
async def test_it_begins_with_ten_keys_in_a_row_each(tmp_path: Path, size: tuple[int, int]) -> None:
    async with workspace(tmp_path, size=size) as driver:
        await driver.press("f1")
        await driver.until_shown("Ten keys to begin with")
        title = driver.row_with("Ten keys to begin with")
        rows = driver.rows()[title + 2 : title + 12]
        assert [row.strip().split("  ")[0] for row in rows] == TEN
        assert not driver.rows()[title + 12].strip()


async def test_words_leave_the_ten_out_as_they_are_below_too(tmp_path: Path) -> None:
    async with workspace(tmp_path) as driver:
        await driver.press("f1")
        await driver.type("ctrl+b")
        await driver.until(lambda: not driver.shows("Ten keys"))
        assert sum("ctrl+b" in row for row in driver.rows()) == 2, "what is typed, and the row"


async def test_at_a_question_its_keys_come_first(tmp_path: Path) -> None:
    async with workspace(tmp_path) as driver:
        await driver.play(
            story.started(1, "go"),
            story.tool_started(1, "c", "edit_file", "src/cart.py"),
            story.approval(1, "c", grant=None),
        )
        await driver.press("f1")
        await driver.until_shown("When Keen asks you")
        assert driver.row_with("When Keen asks you") < driver.row_with("Ten keys to begin with")


async def test_an_action_without_a_key_is_none_of_them(tmp_path: Path) -> None:
    async with workspace(tmp_path, settings=UiSettings(keys={"sidebar": ()})) as driver:
        await driver.press("f1")
        await driver.until_shown("Ten keys to begin with")
        assert not driver.shows("shows or hides the panels")


async def test_a_question_mark_opens_it_from_an_empty_composer(tmp_path: Path) -> None:
    async with workspace(tmp_path) as driver:
        await driver.press("?")
        await driver.until(lambda: is_open(driver))
        await driver.press("escape")
        await driver.until(lambda: not is_open(driver))
        assert driver.written == ""
        await driver.play(*story.three_turns())
        await driver.press("tab")
        assert driver.screen.transcript.has_focus
        await driver.press("?")
        await driver.until(lambda: is_open(driver))


async def test_a_question_mark_is_text_after_a_space_or_a_letter_and_in_a_paste(tmp_path: Path) -> None:
    async with workspace(tmp_path) as driver:
        await driver.type(" ?")
        assert driver.written == " ?"
        await driver.press("backspace", "backspace")
        await driver.type("a?")
        assert driver.written == "a?"
        await driver.press("backspace", "backspace")
        driver.screen.prompt.post_message(events.Paste("? why"))
        await driver.until(lambda: driver.written == "? why")
        driver.screen.prompt.clear()
        driver.screen.prompt.post_message(events.Paste("?"))
        await driver.until(lambda: driver.written == "?")
        assert not is_open(driver)


async def test_a_question_mark_is_a_word_to_look_for_and_a_word_in_an_answer(tmp_path: Path) -> None:
    async with workspace(tmp_path) as driver:
        await driver.press("ctrl+up")
        await driver.press("?")
        assert driver.written == "?" and not is_open(driver)
        await driver.press("escape")
        await driver.play(
            story.started(1, "go"),
            story.tool_started(1, "c", "edit_file", "src/cart.py"),
            story.approval(1, "c", grant=None),
        )
        await driver.until(lambda: not driver.screen.question_pane.guarded)
        await driver.type("why?")
        await driver.until_shown("why?")
        assert not is_open(driver)
        await driver.press(*["backspace"] * 4, "?")
        assert not is_open(driver)
