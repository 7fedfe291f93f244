"""Tips: when they are given, that each is given once, and that they go."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from keen_tui.domain.events import SessionOpened, SessionRestored
from keen_tui.domain.messages import TurnMemory
from keen_tui.frontends.tui.app import UiSettings
from tests.support import story
from tests.support.workspace import workspace

MEMORY = TurnMemory(files_changed=("src/cart.py",))


@pytest.fixture
def settings(tmp_path: Path) -> UiSettings:
    return UiSettings(tips_file=tmp_path / "tips.json")


async def test_a_tip_is_given_once_and_goes_with_the_next_message(
    tmp_path: Path, settings: UiSettings
) -> None:
    async with workspace(tmp_path, settings=settings) as driver:
        await driver.play(story.started(1, "go"), *story.edit(1, "c1"))
        await driver.play(story.done(1, memory=MEMORY))
        await driver.until_shown("Tip: TurnMemory now shows")
        await driver.play(story.started(2, "on"))
        await driver.until(lambda: not driver.shows("Tip:"))
        await driver.play(*story.edit(2, "c2"), story.done(2, memory=MEMORY))
        assert not driver.shows("Tip:")
        await driver.until(lambda: (tmp_path / "tips.json").exists())
    assert json.loads((tmp_path / "tips.json").read_text()) == ["memory"]
    async with workspace(tmp_path, settings=settings) as driver:
        await driver.play(story.started(1, "go"), *story.edit(1, "c1"))
        await driver.play(story.done(1, memory=MEMORY))
        assert not driver.shows("Tip:")


async def test_a_turn_that_breaks_off_teaches_the_key_in_use(tmp_path: Path) -> None:
    settings = UiSettings(tips_file=tmp_path / "tips.json", keys={"retry": ("f5",)})
    async with workspace(tmp_path, settings=settings) as driver:
        await driver.play(story.started(1, "go"), *story.edit(1, "a"))
        await driver.play(story.incomplete(1))
        await driver.until_shown("Tip: f5 continues after any interruption")


async def test_a_tip_goes_with_what_it_is_about(tmp_path: Path, settings: UiSettings) -> None:
    async with workspace(tmp_path, settings=settings) as driver:
        await driver.play(story.started(1, "go"), *story.edit(1, "a"))
        await driver.play(story.incomplete(1))
        await driver.until_shown("continues after any interruption")
        await driver.play(story.started(1, None, attempt=2, recovering=1))
        await driver.until(lambda: not driver.shows("Tip:"))


@pytest.mark.parametrize("keys", [("ctrl+t",), (*"/memory", "enter", "escape")])
async def test_a_tip_goes_when_what_it_teaches_was_used(
    tmp_path: Path, settings: UiSettings, keys: tuple[str, ...]
) -> None:
    async with workspace(tmp_path, settings=settings) as driver:
        await driver.play(story.started(1, "go"), *story.edit(1, "c1"))
        await driver.play(story.done(1, memory=MEMORY))
        await driver.until_shown("Tip: TurnMemory now shows")
        await driver.press("ctrl+o")
        assert driver.shows("Tip: TurnMemory now shows"), "that is another action"
        await driver.press(*keys)
        await driver.until(lambda: not driver.shows("Tip:"))


async def test_an_opened_session_gives_none(tmp_path: Path, settings: UiSettings) -> None:
    async with workspace(tmp_path, settings=settings) as driver:
        past = (story.started(1, "go"), *story.edit(1, "a"), story.done(1, memory=MEMORY))
        await driver.play(SessionOpened(id="s4", restoring=True), *past, SessionRestored())
        await driver.until_shown("turn 1 done")
        assert not driver.shows("Tip:")


async def test_without_a_file_there_are_none_and_a_broken_file_is_none(
    tmp_path: Path, settings: UiSettings
) -> None:
    async with workspace(tmp_path) as driver:
        await driver.play(story.started(1, "go"), *story.edit(1, "a"))
        await driver.play(story.done(1, memory=MEMORY))
        assert not driver.shows("Tip:")
    (tmp_path / "tips.json").write_text("{")
    async with workspace(tmp_path, settings=settings) as driver:
        await driver.play(story.started(1, "go"), *story.edit(1, "a"))
        await driver.play(story.done(1, memory=MEMORY))
        await driver.until_shown("Tip: TurnMemory")
