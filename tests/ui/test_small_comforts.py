"""Small things that one meets every day."""

from __future__ import annotations

from pathlib import Path

from keen_tui.measures import counted
from tests.support import story
from tests.support.fake_history import FakeHistory
from tests.support.workspace import workspace


async def test_the_key_to_leave_clears_what_is_written_before_it_offers_to_leave(tmp_path: Path) -> None:
    async with workspace(tmp_path) as driver:
        await driver.type("draft")
        await driver.press("ctrl+c")
        await driver.until_shown("cleared; up brings it back, ctrl+c leaves")
        assert driver.written == ""
        await driver.press("up")
        assert driver.written == "draft"
        await driver.press("ctrl+c", "ctrl+c")
        await driver.until_shown("ctrl+c again leaves")


async def test_while_a_turn_runs_the_key_stops_it_and_the_draft_stays(tmp_path: Path) -> None:
    async with workspace(tmp_path) as driver:
        driver.session.running = True
        await driver.play(story.started(1, "go"), *story.running_bash(1))
        await driver.type("draft")
        await driver.press("ctrl+c")
        assert ("stop",) in driver.session.calls
        assert driver.written == "draft"


async def test_folding_is_offered_where_the_block_folds_only(tmp_path: Path) -> None:
    async with workspace(tmp_path) as driver:
        await driver.play(story.started(1, "go"), *story.edit(1, "a"), story.done(1))
        driver.screen.transcript.focus()
        await driver.press("home")
        await driver.until_shown("y copy")
        assert not driver.shows("enter fold")
        await driver.press("down")
        await driver.until_shown("enter fold")
        await driver.press("down")
        await driver.until(lambda: not driver.shows("enter fold"))


async def test_a_small_terminal_names_the_key_that_leads_back(tmp_path: Path) -> None:
    async with workspace(tmp_path, size=(80, 24)) as driver:
        await driver.play(story.started(1, "go"), *story.edit(1, "a"), story.incomplete(1))
        driver.session.running = False
        driver.screen.transcript.focus()
        await driver.until_shown("esc back")
        assert driver.shows("up, down block")


async def test_who_leaves_is_told_how_to_go_on_once_a_turn_was_saved(tmp_path: Path) -> None:
    history = FakeHistory()
    async with workspace(tmp_path, history=history) as driver:
        assert driver.app.way_back == ""
        await driver.play(story.started(1, "go"), story.done(1))
        assert f"keen-tui --resume {history.session_id}" in driver.app.way_back


async def test_what_a_turn_carries_is_not_cut_within_its_unit(tmp_path: Path) -> None:
    async with workspace(tmp_path, size=(100, 30)) as driver:
        await driver.play(story.started(1, "go"), story.done(1, carried=109_000, trace=11_600_000))
        carried = driver.rows()[driver.row_with("  carries")]
        assert carried.rstrip().endswith("of 11.6 MB"), carried


def test_large_counts_are_told_in_thousands() -> None:
    assert counted(12_345, "line") == "12,345 lines"
