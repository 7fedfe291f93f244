"""Tips: when they are given, that each is given once, and that they go."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from keen_tui.domain.events import SessionOpened, SessionRestored
from keen_tui.domain.messages import TurnMemory
from keen_tui.frontends.tui.app import UiSettings
from keen_tui.frontends.tui.state.tips import TIPS, Tip, Tips
from tests.support import story
from tests.support.workspace import workspace

MEMORY = TurnMemory(files_changed=("src/cart.py",))


@pytest.fixture
def settings(tmp_path: Path) -> UiSettings:
    return UiSettings(tips_file=tmp_path / "tips.json")


async def test_a_tip_is_given_once_and_goes_with_the_next_key(tmp_path: Path, settings: UiSettings) -> None:
    async with workspace(tmp_path, settings=settings) as driver:
        await driver.play(story.started(1, "go"), *story.edit(1, "c1"))
        await driver.play(story.done(1, memory=MEMORY))
        await driver.until_shown("Tip: /memory shows and edits")
        await driver.press("a")
        await driver.until(lambda: not driver.shows("Tip:"))
        await driver.press("backspace")
        await driver.play(story.started(2, "on"), *story.edit(2, "c2"), story.done(2, memory=MEMORY))
        assert not driver.shows("Tip:")
        await driver.until(lambda: (tmp_path / "tips.json").exists())
    assert json.loads((tmp_path / "tips.json").read_text()) == ["memory"]
    async with workspace(tmp_path, settings=settings) as driver:
        await driver.play(story.started(1, "go"), *story.edit(1, "c1"))
        await driver.play(story.done(1, memory=MEMORY))
        assert not driver.shows("Tip:")


async def test_a_tip_names_the_keys_in_use(tmp_path: Path) -> None:
    settings = UiSettings(tips_file=tmp_path / "tips.json", keys={"next_mode": ("f5",)})
    async with workspace(tmp_path, settings=settings) as driver:
        await driver.play(story.started(1, "go"), story.done(1), story.started(2, "go"))
        await driver.play(story.tool_started(2, "c", "bash", "make"), story.approval(2, "c", grant=None))
        assert not driver.shows("Tip:")
        driver.session.answer("c", allow=True)
        await driver.until_shown("Tip: f5 changes what runs without asking.")


@pytest.mark.parametrize("size", [(120, 40), (80, 24), (60, 24)])
async def test_a_tip_is_one_row_and_moves_nothing(
    tmp_path: Path, settings: UiSettings, size: tuple[int, int]
) -> None:
    async with workspace(tmp_path, size=size, settings=settings) as driver:
        driver.screen.parts.tips.tips = None
        await driver.play(story.started(1, "go"), *story.edit(1, "c1"), story.done(1, memory=MEMORY))
        await driver.play(story.started(2, "go"), *story.edit(2, "c2"))
        driver.screen.parts.tips.tips = Tips(tmp_path / "tips.json")
        await driver.play(story.done(2, memory=MEMORY))
        await driver.until_shown("Tip: /memory shows and edits what later turns know.")
        shown = driver.rows()
        [tip] = [number for number, row in enumerate(shown) if "Tip:" in row]
        await driver.press("left")
        await driver.until(lambda: not driver.shows("Tip:"))
        gone = driver.rows()
        assert [number for number, row in enumerate(gone) if row != shown[number]] == [tip]
        assert not gone[tip].strip(" ▌│|")


async def test_none_is_given_to_who_is_typing_and_none_where_no_row_is_free(
    tmp_path: Path, settings: UiSettings
) -> None:
    async with workspace(tmp_path, settings=settings) as driver:
        await driver.play(story.started(1, "go"), *story.edit(1, "c1"))
        await driver.type("and then")
        await driver.play(story.done(1, memory=MEMORY))
        assert not driver.shows("Tip:")
        await driver.press("ctrl+c")
        await driver.play(story.started(2, "go"), *story.edit(2, "c2"))
        await driver.pilot.resize_terminal(60, 12)
        await driver.until(lambda: driver.app.size.height == 12)
        await driver.play(story.done(2, memory=MEMORY))
        assert not driver.shows("Tip:")
        await driver.pilot.resize_terminal(120, 40)
        await driver.until(lambda: driver.app.size.height == 40)
        await driver.play(story.started(3, "go"), *story.edit(3, "c3"))
        await driver.play(story.done(3, memory=MEMORY))
        await driver.until_shown("Tip: /memory")


@pytest.mark.parametrize("tip", TIPS, ids=lambda tip: tip.id)
def test_every_tip_fits_in_sixty_columns(tip: Tip) -> None:
    assert len(tip.row) <= 53


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
        await driver.until_shown("Tip: /memory")
