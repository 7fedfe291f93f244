"""The todo list on the screen: in the sidebar while something is open, and in the transcript."""

from __future__ import annotations

from pathlib import Path

import pytest

from keen_tui.domain.display import TodoDisplay, TodoItem, TodoStatus
from keen_tui.domain.events import Event, SessionOpened, ToolFinished
from keen_tui.domain.messages import ToolResult
from tests.support import story
from tests.support.workspace import workspace


def todos(*statuses: TodoStatus, call: str = "c") -> list[Event]:
    items = tuple(TodoItem(text=f"item {number}", status=each) for number, each in enumerate(statuses))
    shown = TodoDisplay(items=items)
    result = ToolResult(text="", summary=shown.progress, display=shown)
    return [
        story.tool_started(1, call, "todo_write", "item 1"),
        ToolFinished(
            turn=1, id=call, name="todo_write", arguments={}, target="item 1", result=result, seconds=0.1
        ),
    ]


async def test_it_stands_between_activity_and_turn_memory_until_all_is_done(tmp_path: Path) -> None:
    async with workspace(tmp_path) as driver:
        await driver.play(story.started(1, "go"), *todos("done", "in_progress", "pending"))
        await driver.until_shown("1 of 3 done")
        title = next(number for number, row in enumerate(driver.rows()) if " Todo " in row)
        assert driver.row_with("Activity") < title < driver.row_with("TurnMemory")
        rows = [row[82:].strip() for row in driver.rows()[title + 2 : title + 5]]
        assert [row[2:] for row in rows] == ["item 0", "item 1", "item 2"]
        assert rows[0][0] == "✓"
        assert rows[2][0] == "○"
        await driver.play(*todos("done", "done", "done", call="d"))
        await driver.until(lambda: not any(" Todo " in row for row in driver.rows()))
        await driver.play(*todos("pending", call="e"))
        await driver.until(lambda: any(" Todo " in row for row in driver.rows()))
        await driver.play(SessionOpened(id="other"))
        await driver.until(lambda: not any(" Todo " in row for row in driver.rows()))


async def test_the_transcript_has_a_row_that_unfolds_to_the_list(tmp_path: Path) -> None:
    async with workspace(tmp_path, size=(80, 30)) as driver:
        await driver.play(story.started(1, "go"), *todos("done", "in_progress", "pending"), story.done(1))
        assert "todo  item 1" in driver.rows()[driver.row_with("1 of 3 done")]
        await driver.press("ctrl+o")
        await driver.until_shown("item 2")
        assert "○ item 2" in driver.rows()[driver.row_with("item 2")]


@pytest.mark.parametrize("height", [24, 40])
async def test_of_a_long_list_the_item_at_work_is_in_view(tmp_path: Path, height: int) -> None:
    async with workspace(tmp_path, size=(120, height)) as driver:
        before: list[TodoStatus] = ["done"] * 20
        after: list[TodoStatus] = ["pending"] * 20
        await driver.play(story.started(1, "go"), *todos(*before, "in_progress", *after))
        await driver.until_shown("20 of 41 done")
        for words in ("Activity", "TurnMemory", "item 19", "item 20", "item 21"):
            assert any(words in row[82:] for row in driver.rows()), words
        assert driver.screen.sidebar.todos.size.height <= height / 3


async def test_a_click_leads_to_the_call_that_wrote_it(tmp_path: Path) -> None:
    async with workspace(tmp_path) as driver:
        await driver.play(story.started(1, "go"), *todos("in_progress"), story.done(1))
        await driver.until_shown("0 of 1 done")
        await driver.pilot.click("#todos", offset=(5, 3))
        await driver.until(lambda: driver.screen.transcript.has_focus)


async def test_a_narrow_terminal_counts_what_is_done_above_the_composer(tmp_path: Path) -> None:
    async with workspace(tmp_path, size=(80, 24)) as driver:
        await driver.play(story.started(1, "go"), *todos("done", "pending"))
        await driver.until_shown("todo 1 of 2 done   memory")
        await driver.play(*todos("done", "done", call="d"))
        await driver.until(lambda: not driver.shows("todo 2 of 2"))
