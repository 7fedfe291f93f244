"""Small things that one meets every day."""

from __future__ import annotations

from pathlib import Path

from keen_tui.domain.display import CommandDisplay
from keen_tui.domain.events import QueueChanged, ShellFinished, ShellStarted
from keen_tui.domain.messages import ToolResult, TurnMemory
from keen_tui.memory.pending import PendingState
from keen_tui.text.units import counted
from tests.support import story
from tests.support.changes import turn_three
from tests.support.fake_changes import FakeChanges
from tests.support.fake_history import FakeHistory
from tests.support.workspace import workspace


async def test_the_key_to_leave_clears_what_is_written_before_it_offers_to_leave(tmp_path: Path) -> None:
    async with workspace(tmp_path) as driver:
        await driver.type("draft")
        await driver.press("ctrl+c")
        await driver.until_shown("cleared; up brings it back, ctrl+c quits")
        assert driver.written == ""
        await driver.press("up")
        assert driver.written == "draft"
        await driver.press("ctrl+c", "ctrl+c")
        await driver.until_shown("ctrl+c again quits")


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
        carried = driver.rows()[driver.row_with("│   carries")]
        assert carried.rstrip().endswith("of 11.6 MB"), carried


def test_large_counts_are_told_in_thousands() -> None:
    assert counted(12_345, "line") == "12,345 lines"


async def test_a_letter_that_does_nothing_in_the_transcript_is_written(tmp_path: Path) -> None:
    async with workspace(tmp_path) as driver:
        await driver.play(story.started(1, "go"), *story.edit(1, "a"), story.done(1))
        driver.screen.transcript.focus()
        await driver.press("home")
        await driver.type("hey, yes")
        assert driver.written == "hey, yes"
        driver.screen.sidebar.turn_memory.focus()
        await driver.pilot.pause()
        await driver.type("!ls")
        assert driver.written == "hey, yes!ls"


async def test_keys_of_the_transcript_stay_keys_there(tmp_path: Path) -> None:
    async with workspace(tmp_path) as driver:
        await driver.play(story.started(1, "go"), *story.edit(1, "a"), story.done(1))
        driver.screen.transcript.focus()
        await driver.press("g", "j", "space")
        assert driver.screen.transcript.has_focus
        assert driver.written == ""


async def test_where_nothing_is_to_be_copied_that_is_said(tmp_path: Path) -> None:
    async with workspace(tmp_path) as driver:
        for command, told in (
            ("/copy", "no reply to copy yet"),
            ("/copy all", "nothing to copy yet"),
        ):
            await driver.type(command)
            await driver.press("enter")
            await driver.until_shown(told)
        await driver.play(*story.discount_turn(1), story.done(1))
        await driver.type("/copy code")
        await driver.press("enter")
        await driver.until_shown("no code in the newest reply")


async def test_the_copy_of_an_excerpt_is_called_one(tmp_path: Path) -> None:
    output = "first\n[… 4,000 lines left out; the whole output is in /somewhere …]\nlast"
    ran = ToolResult(text="", display=CommandDisplay(command="seq", output=output, exit_code=0))
    async with workspace(tmp_path) as driver:
        await driver.play(
            ShellStarted(turn=0, id="s1", command="seq"),
            ShellFinished(turn=0, id="s1", command="seq", result=ran, seconds=0.1),
        )
        driver.screen.transcript.focus()
        await driver.press("y")
        await driver.until_shown("copied 4 lines of an excerpt")


async def test_what_is_typed_takes_the_place_of_a_suggestion(tmp_path: Path) -> None:
    async with workspace(tmp_path) as driver:
        driver.app.suggest("fix the test")
        await driver.type("/help")
        assert driver.written == "/help"
        await driver.press("ctrl+c", "up")
        assert driver.written == "/help"
        await driver.press("up")
        assert driver.written == "fix the test"
        await driver.type(" now")
        assert driver.written == "fix the test now"


async def test_a_suggestion_is_there_again_after_a_command_and_not_after_a_message(tmp_path: Path) -> None:
    async with workspace(tmp_path) as driver:
        driver.app.suggest("fix the test")
        await driver.type("/permissions")
        await driver.press("enter")
        await driver.until_shown("Permissions: ask")
        await driver.press("escape")
        assert driver.written == "fix the test"
        await driver.type("something else")
        await driver.press("enter")
        assert ("submit", "something else") in driver.session.calls
        await driver.type("/copy")
        await driver.press("enter")
        await driver.until_shown("no reply to copy yet")
        assert driver.written == ""


async def test_a_block_leads_to_its_row_in_activity_and_the_row_leads_back(tmp_path: Path) -> None:
    async with workspace(tmp_path) as driver:
        await driver.play(story.started(1, "go"), *story.edit(1, "a"), story.done(1))
        await driver.play(story.started(2, "on"), *story.edit(2, "b"), *story.edit(2, "c"), story.done(2))
        for turn, call, row in ((2, "b", 0), (2, "c", 1), (1, "a", 2)):
            driver.screen.transcript.focus()
            assert driver.screen.transcript.reveal(turn, call)
            await driver.press("a")
            activity = driver.screen.sidebar.activity
            await driver.until(lambda: driver.screen.focused is driver.screen.sidebar.activity)
            assert activity.place_of(turn, call) == row
            await driver.press("enter")
            await driver.until(lambda: driver.screen.focused is driver.screen.transcript)


async def test_a_hidden_panel_comes_out_for_the_row_of_a_block(tmp_path: Path) -> None:
    async with workspace(tmp_path, size=(80, 24)) as driver:
        await driver.play(story.started(1, "go"), *story.edit(1, "a"), story.done(1))
        driver.screen.transcript.focus()
        assert driver.screen.transcript.reveal(1, "a")
        await driver.press("a")
        await driver.until(lambda: driver.screen.focused is driver.screen.sidebar.activity)
        assert driver.screen.parts.arrangement.overlay_open


async def test_a_panel_that_comes_out_keeps_the_focus_however_late_it_is_drawn(tmp_path: Path) -> None:
    async with workspace(tmp_path, size=(80, 24)) as driver:
        await driver.play(story.started(1, "go"), *story.edit(1, "a"), story.done(1))
        driver.screen.transcript.focus()
        assert driver.screen.transcript.reveal(1, "a")
        with driver.app.batch_update():
            await driver.press("a")
            await driver.until(lambda: driver.screen.parts.arrangement.overlay_open)
            await driver.pilot.pause()
        await driver.pilot.pause()
        assert driver.screen.focused is driver.screen.sidebar.activity


async def test_a_click_on_a_changed_file_shows_what_its_turn_changed(tmp_path: Path) -> None:
    async with workspace(tmp_path, changes=FakeChanges({1: turn_three(turn=1)})) as driver:
        memory = TurnMemory(files_changed=("src/cart.py",))
        await driver.play(story.started(1, "go"), *story.edit(1, "a"), story.done(1, memory=memory))
        row = driver.row_with("± src/cart.py")
        column = driver.rows()[row].index("src/cart.py")
        await driver.pilot.click(offset=(column, row))
        await driver.until_shown("Changes of turn 1")
        await driver.press("escape")
        await driver.pilot.click(offset=(column, row - 1))
        await driver.until(lambda: driver.screen.focused is driver.screen.transcript)


async def test_help_on_a_page_tells_of_the_keys_of_pages_first(tmp_path: Path) -> None:
    async with workspace(tmp_path, history=FakeHistory()) as driver:
        await driver.press("f3")
        await driver.until_shown("type to find a session")
        await driver.press("f1")
        await driver.until_shown("On pages")
        assert driver.row_with("On pages") < 5
        await driver.press("escape")
        await driver.until_shown("type to find a session")


async def test_who_unfolds_or_selects_with_the_mouse_goes_on_writing(tmp_path: Path) -> None:
    async with workspace(tmp_path) as driver:
        await driver.play(story.started(1, "go"), *story.edit(1, "a"), story.done(1))
        await driver.type("dra")
        row = driver.row_with("edit  src/cart.py")
        await driver.pilot.click(offset=(5, row))
        await driver.until(lambda: not driver.shows("def total"))
        await driver.pilot.click(offset=(5, row), times=2)
        await driver.until(lambda: driver.screen.transcript.selection.has_marks)
        await driver.type("ft")
        assert driver.written == "draft"


async def test_up_brings_back_what_was_cleared_before_what_is_queued(tmp_path: Path) -> None:
    async with workspace(tmp_path) as driver:
        await driver.play(story.started(1, "go"), story.incomplete(1), QueueChanged(texts=("queued",)))
        await driver.type("half a thought")
        await driver.press("ctrl+c")
        await driver.until_shown("up brings it back")
        await driver.press("up")
        assert driver.written == "half a thought"
        assert ("withdraw_queued",) not in driver.session.calls


async def test_the_chip_of_retry_is_not_filled_while_discarding_is_asked(tmp_path: Path) -> None:
    async with workspace(tmp_path) as driver:
        driver.session.pending = PendingState(calls=1)
        await driver.play(story.started(1, "go"), story.incomplete(1))
        assert driver.screen.transcript.viewport.key_chip_visible
        await driver.press("ctrl+x")
        await driver.until(lambda: not driver.screen.transcript.viewport.key_chip_visible)
        await driver.press("escape")
        await driver.until(lambda: driver.screen.transcript.viewport.key_chip_visible)


async def test_stopping_is_said_no_longer_than_the_turn_lasts(tmp_path: Path) -> None:
    async with workspace(tmp_path) as driver:
        await driver.play(story.started(1, "go"), *story.edit(1, "a"))
        driver.session.running = True
        await driver.press("ctrl+c")
        await driver.until_shown("stopping; ctrl+c again quits")
        driver.session.running = False
        await driver.play(story.incomplete(1))
        await driver.until(lambda: not driver.shows("stopping;"))
