"""The command palette: one row an entry, found by letters, by words and by slash names."""

from __future__ import annotations

from pathlib import Path

import pytest

from keen_tui.domain.messages import TurnMemory
from keen_tui.frontends.tui.pages.palette import Palette
from tests.support import story
from tests.support.workspace import Driver, workspace

MEMORY = TurnMemory(files_changed=("src/cart.py",))


async def opened(driver: Driver) -> None:
    await driver.press("ctrl+p")
    await driver.until(lambda: isinstance(driver.app.screen, Palette))
    await driver.until_shown("type letters of an action")


def chosen(driver: Driver) -> str:
    """The row that is chosen."""
    return next(row for row in driver.rows() if row.startswith(("▌", "|")))


async def test_each_entry_is_a_row_with_its_key_in_a_column(tmp_path: Path) -> None:
    async with workspace(tmp_path) as driver:
        await driver.play(story.started(1, "go"), *story.edit(1, "a"), story.incomplete(1))
        await opened(driver)
        retry, sessions = driver.row_with("Retry the turn"), driver.row_with("Discard the incomplete")
        assert sessions == retry + 1
        rows = driver.rows()
        assert rows[retry].index("ctrl+r") == rows[sessions].index("ctrl+x") == 34
        assert "/retry" in rows[retry]


@pytest.mark.parametrize("typed", ["/undo", "undo", "und"])
async def test_a_slash_name_is_found_with_its_slash_and_without(tmp_path: Path, typed: str) -> None:
    async with workspace(tmp_path) as driver:
        await opened(driver)
        await driver.type(typed)
        await driver.until(lambda: "/undo" in chosen(driver))
        assert "Undo the changes of a turn" in chosen(driver)


async def test_a_slash_finds_slash_names_only(tmp_path: Path) -> None:
    async with workspace(tmp_path) as driver:
        await opened(driver)
        await driver.type("/ex")
        await driver.until(lambda: "/export" in chosen(driver) or "/exit" in chosen(driver))
        assert not driver.shows("Wider panels")


async def test_what_is_chosen_stays_in_view(tmp_path: Path) -> None:
    async with workspace(tmp_path, size=(60, 12)) as driver:
        await opened(driver)
        first = chosen(driver)
        for _ in range(3):
            await driver.press("pagedown")
        assert chosen(driver) != first
        await driver.press("ctrl+end")
        await driver.until(lambda: "Steer the running turn" in chosen(driver))
        await driver.press("down")
        assert "Steer the running turn" in chosen(driver)


def first_labels(driver: Driver, count: int) -> list[str]:
    """The names in the first rows of the list."""
    top = driver.rows().index(chosen(driver))
    return [row[4:34].strip() for row in driver.rows()[top : top + count]]


async def test_what_applies_now_comes_first(tmp_path: Path) -> None:
    async with workspace(tmp_path) as driver:
        await driver.play(story.started(1, "go"), *story.edit(1, "a"))
        await opened(driver)
        assert first_labels(driver, 2) == ["Stop the turn", "Steer the running turn"]
        await driver.press("escape")
        await driver.play(story.incomplete(1))
        await opened(driver)
        assert first_labels(driver, 2) == ["Retry the turn", "Discard the incomplete turn"]
        await driver.press("escape")
        await driver.play(story.started(2, "on"), *story.edit(2, "b"), story.done(2, memory=MEMORY))
        await opened(driver)
        assert first_labels(driver, 2) == ["Undo the changes of a turn", "Changes"]


async def test_what_would_be_refused_comes_last(tmp_path: Path) -> None:
    async with workspace(tmp_path) as driver:
        await opened(driver)
        assert not any(driver.shows(label) for label in ("Stop the turn", "Retry the turn", "Steer"))
        await driver.press("ctrl+end")
        await driver.until_shown("Retry the turn")
        assert driver.shows("Stop the turn")


async def test_then_comes_what_was_run_from_it_lately_the_newest_first(tmp_path: Path) -> None:
    async with workspace(tmp_path) as driver:
        await driver.play(story.started(1, "go"), *story.edit(1, "a"), story.done(1, memory=MEMORY))
        for words in ("wider", "mode: plan", "theme: keen-light", "wider"):
            await opened(driver)
            await driver.type(words)
            await driver.until(lambda words=words: words in chosen(driver).lower())  # type: ignore[misc]
            await driver.press("enter")
            await driver.until(lambda: driver.app.screen is driver.screen)
        await opened(driver)
        assert first_labels(driver, 5) == [
            "Undo the changes of a turn", "Changes", "Wider panels", "Theme: keen-light", "Mode: plan"
        ]  # fmt: skip
        await driver.press("ctrl+end")
        await driver.until(lambda: "Steer" in chosen(driver))
        assert not driver.shows("Wider panels")


async def test_moves_inside_panes_come_only_if_letters_ask_for_them(tmp_path: Path) -> None:
    async with workspace(tmp_path, size=(120, 120)) as driver:
        await opened(driver)
        moves = ("Page up", "Block below", "First block", "Next pane", "Go to the end", "Show the row")
        assert not any(driver.shows(move) for move in moves)
        assert driver.shows("Wider panels")
        await driver.press("slash")
        assert not any(driver.shows(move) for move in moves)
        await driver.press("backspace")
        for move in moves:
            await driver.type(move)
            await driver.until(lambda move=move: move in chosen(driver))  # type: ignore[misc]
            await driver.press(*["backspace"] * len(move))


async def test_an_action_of_the_transcript_is_run_there(tmp_path: Path) -> None:
    async with workspace(tmp_path) as driver:
        await driver.play(*story.three_turns())
        await opened(driver)
        await driver.type("copy the block")
        await driver.until(lambda: "Copy the block" in chosen(driver))
        await driver.press("enter")
        await driver.until_shown("copied")
        assert driver.screen.transcript.has_focus


async def test_an_action_of_the_panels_is_run_there_also_where_they_are_hidden(tmp_path: Path) -> None:
    async with workspace(tmp_path, size=(80, 24)) as driver:
        await driver.play(*story.three_turns())
        await opened(driver)
        await driver.type("show the row")
        await driver.press("enter")
        await driver.until(lambda: driver.app.screen is driver.screen and driver.screen.transcript.has_focus)


async def test_its_key_closes_it_and_esc_does(tmp_path: Path) -> None:
    async with workspace(tmp_path) as driver:
        for key in ("ctrl+p", "escape"):
            await opened(driver)
            await driver.press(key)
            await driver.until(lambda: driver.app.screen is driver.screen)


async def test_letters_that_no_action_has_say_so_and_enter_runs_nothing(tmp_path: Path) -> None:
    async with workspace(tmp_path) as driver:
        await opened(driver)
        await driver.type("zzqx")
        await driver.until_shown("No action matches.")
        await driver.press("enter")
        assert isinstance(driver.app.screen, Palette)
