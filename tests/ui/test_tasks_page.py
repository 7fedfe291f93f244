"""The page of the commands in the background."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from keen_tui.domain.events import BackgroundChanged
from tests.support import story
from tests.support.fake_tasks import TASKS, FakeTasks
from tests.support.workspace import Driver, workspace

RUNNING = TASKS[:1]


async def open_page(driver: Driver) -> None:
    await driver.type("/tasks")
    await driver.press("enter")
    await driver.until_shown("esc back")


@pytest.mark.parametrize("size", [(120, 40), (80, 24), (60, 12)])
async def test_commands_are_listed_and_enter_shows_the_output(tmp_path: Path, size: tuple[int, int]) -> None:
    async with workspace(tmp_path, tasks=FakeTasks(), size=size) as driver:
        await open_page(driver)
        assert driver.shows("1 running")
        assert "running for 2 min" in driver.rows()[driver.row_with("npm run dev")]
        assert "exit code 2" in driver.rows()[driver.row_with("make test")]
        await driver.press("enter")
        await driver.until_shown("ready on port 3000")
        assert driver.shows("began in turn 3")
        await driver.press("escape", "escape")
        await driver.until(lambda: driver.app.screen is driver.screen)


async def test_a_key_stops_the_chosen_command_and_goes_with_it(tmp_path: Path) -> None:
    async with workspace(tmp_path, tasks=FakeTasks()) as driver:
        await open_page(driver)
        assert driver.shows("k stop")
        await driver.press("k")
        await driver.until_shown("t2 stopped after 2 min.")
        assert driver.shows("0 running")
        assert not driver.shows("k stop")


async def test_the_command_stops_one_by_its_id(tmp_path: Path) -> None:
    async with workspace(tmp_path, tasks=FakeTasks()) as driver:
        for words, said in (
            ("/tasks stop t2", "t2 stopped after 2 min."),
            ("/tasks stop t9", "There is no command 't9' in the background."),
            ("/tasks t9", "There is no command 't9' in the background."),
            ("/tasks end t2", "Write /tasks, /tasks ID or /tasks stop ID."),
        ):
            await driver.type(words)
            await driver.press("enter")
            await driver.until_shown(said)
            await driver.press("ctrl+u")


@pytest.mark.parametrize("size", [(120, 40), (80, 24), (60, 12)])
async def test_the_status_bar_counts_what_runs(tmp_path: Path, size: tuple[int, int]) -> None:
    async with workspace(tmp_path, tasks=FakeTasks(), size=size) as driver:
        driver.session.bus.publish(BackgroundChanged(tasks=RUNNING))
        await driver.until_shown("1 in background")
        driver.session.bus.publish(BackgroundChanged(tasks=()))
        await driver.until(lambda: not driver.shows("in background"))


async def test_activity_names_what_runs_and_enter_shows_its_output(tmp_path: Path) -> None:
    async with workspace(tmp_path, tasks=FakeTasks()) as driver:
        driver.session.bus.publish(BackgroundChanged(tasks=RUNNING))
        await driver.until_shown("In the background")
        assert driver.shows("t2 npm run dev") and driver.shows("ready on port 3000")
        driver.screen.sidebar.activity.focus()
        await driver.press("down", "enter")
        await driver.until_shown("Command t2 in the background")
        await driver.press("escape")
        await driver.until(lambda: driver.app.screen is driver.screen)


async def test_activity_keeps_room_for_what_runs_behind_many_turns(tmp_path: Path) -> None:
    many = tuple(replace(TASKS[0], id=f"t{number}") for number in range(5, 0, -1))
    async with workspace(tmp_path, tasks=FakeTasks(), size=(120, 36)) as driver:
        for turn in range(1, 40):
            driver.session.bus.publish(story.started(turn, "go"))
            driver.session.bus.publish(story.done(turn))
        driver.session.bus.publish(BackgroundChanged(tasks=many))
        await driver.until_shown("and 2 more")
        assert driver.shows("t3 npm run dev") and not driver.shows("t2 npm run dev")


async def test_the_key_for_the_background_says_where_no_command_runs(tmp_path: Path) -> None:
    async with workspace(tmp_path, tasks=FakeTasks()) as driver:
        await driver.press("ctrl+n")
        await driver.until_shown("There is no running command to move to the background.")


async def test_without_any_the_command_says_so(tmp_path: Path) -> None:
    async with workspace(tmp_path, tasks=FakeTasks(())) as driver:
        await driver.type("/tasks")
        await driver.press("enter")
        await driver.until_shown("No background commands yet.")
