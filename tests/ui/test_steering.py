"""Messages for the running turn: handed in with a key, seen while they wait, drawn where they went in."""

from __future__ import annotations

from pathlib import Path

import pytest

from keen_tui.domain.events import QueueChanged, ShellStarted, Steered, TextDelta
from keen_tui.domain.messages import ToolResult
from tests.support import story
from tests.support.workspace import Driver, workspace


async def running(driver: Driver) -> None:
    driver.session.running = True
    await driver.play(story.started(1, "go"), story.tool_started(1, "c", "bash", "make test"))


async def test_what_is_written_is_handed_in_by_one_key(tmp_path: Path) -> None:
    async with workspace(tmp_path) as driver:
        await running(driver)
        assert driver.shows("Type to queue a message; ctrl+s steers this turn now")
        await driver.type("mind the tests")
        await driver.press("ctrl+s")
        await driver.until(lambda: ("steer", "mind the tests") in driver.session.calls)
        assert driver.written == ""
        await driver.press("up")
        assert driver.written == "mind the tests"


async def test_by_command_too_and_never_without_words(tmp_path: Path) -> None:
    async with workspace(tmp_path) as driver:
        await running(driver)
        await driver.press("ctrl+s")
        await driver.until_shown("Write a message for the running turn first.")
        await driver.type("/steer use b.py")
        await driver.press("enter")
        await driver.until(lambda: driver.session.calls[-1] == ("steer", "use b.py"))
        assert not any(call == ("steer", "") for call in driver.session.calls)


async def test_the_oldest_queued_message_is_handed_in_where_nothing_is_written(tmp_path: Path) -> None:
    async with workspace(tmp_path) as driver:
        await running(driver)
        for text in ("first", "second"):
            await driver.type(text)
            await driver.press("enter")
        await driver.until_shown("queued   ctrl+s now")
        assert driver.row_with("» first") < driver.row_with("» second")
        await driver.press("ctrl+s")
        await driver.until(lambda: driver.session.calls[-1] == ("steer", ""))
        await driver.play(QueueChanged(texts=("second",), steered=("first",)))
        await driver.until_shown("sent with the next tool results")
        assert driver.rows()[driver.row_with("» second")].count("ctrl+s now") == 1


async def test_it_stands_in_the_transcript_where_it_went_in(tmp_path: Path) -> None:
    async with workspace(tmp_path) as driver:
        await running(driver)
        await driver.play(
            story.tool_finished(1, "c", "bash", "make test", ToolResult(text="ok")),
            Steered(turn=1, step=1, text="mind the tests"),
            TextDelta(turn=1, step=2, text="I do."),
        )
        await driver.until_shown("I do.")
        rows = [driver.row_with(words) for words in ("make test", "› mind the tests", "I do.")]
        assert rows == sorted(rows)


async def test_a_command_is_run_and_not_handed_in(tmp_path: Path) -> None:
    async with workspace(tmp_path) as driver:
        await running(driver)
        await driver.type("/help x")
        await driver.press("backspace", "backspace", "ctrl+s")
        await driver.until(lambda: driver.app.screen is not driver.screen)
        assert not any(call[0] == "steer" for call in driver.session.calls)


@pytest.mark.parametrize("size", [(120, 40), (80, 24), (60, 12)], ids=str)
async def test_behind_a_stopped_turn_the_row_of_a_queued_message_names_the_key_that_sends_it(
    tmp_path: Path, size: tuple[int, int]
) -> None:
    texts = ("first", "second", "third", "fourth")
    async with workspace(tmp_path, size=size) as driver:
        driver.session.queue = texts
        await driver.play(story.started(1, "go"), story.incomplete(1), QueueChanged(texts=texts))
        await driver.until_shown("ctrl+s send")
        assert driver.row_with("ctrl+s send") == driver.row_with("» second")
        await driver.press("ctrl+s")
        await driver.until(lambda: driver.session.calls[-1] == ("steer", ""))


async def test_while_something_else_runs_what_is_queued_stays_queued(tmp_path: Path) -> None:
    async with workspace(tmp_path) as driver:
        driver.session.queue = ("later",)
        await driver.play(ShellStarted(turn=0, id="s", command="make"), QueueChanged(texts=("later",)))
        assert driver.shows("» later")
        assert not driver.shows("ctrl+s")
        await driver.press("ctrl+s")
        await driver.until_shown("Write a message for the running turn first")
        assert not any(call[0] == "steer" for call in driver.session.calls)
