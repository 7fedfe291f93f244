"""Every key of the workspace, pressed while the composer has the focus."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual.events import Key, Paste

from keen_tui.domain.events import MessageTakenBack
from keen_tui.domain.facts.file_changed import FileChanged
from keen_tui.frontends.tui.pages.help import HelpScreen
from keen_tui.memory.pending import PendingState
from tests.support import story
from tests.support.fake_history import FakeHistory
from tests.support.workspace import Driver, workspace

PENDING = PendingState(calls=4, facts=(FileChanged(path="src/cart.py"),))


async def pend(driver: Driver) -> None:
    """Bring the screen to an incomplete turn."""
    driver.session.pending = PENDING
    await driver.play(story.started(1, "go"), *story.edit(1, "a"), story.incomplete(1))


async def run(driver: Driver) -> None:
    """Bring the screen into the middle of a turn."""
    driver.session.running = True
    await driver.play(story.started(1, "go"), *story.running_bash(1))


async def test_enter_sends_and_empties_the_composer(tmp_path: Path) -> None:
    async with workspace(tmp_path) as driver:
        await driver.type("fix it")
        await driver.press("enter")
        await driver.until(lambda: ("submit", "fix it") in driver.session.calls)
        assert driver.written == ""


async def test_enter_on_blank_text_sends_nothing(tmp_path: Path) -> None:
    async with workspace(tmp_path) as driver:
        await driver.press("space", "enter")
        await driver.pilot.pause()
        assert driver.session.calls == [("warm_up",)]


@pytest.mark.parametrize("key", ["ctrl+j", "shift+enter"])
async def test_a_new_line_is_not_sent(tmp_path: Path, key: str) -> None:
    async with workspace(tmp_path) as driver:
        await driver.press("a", key, "b")
        assert driver.written == "a\nb"


async def test_escape_stops_the_turn_and_a_second_one_clears_the_composer(tmp_path: Path) -> None:
    async with workspace(tmp_path) as driver:
        await run(driver)
        await driver.type("draft")
        await driver.press("escape")
        assert ("stop",) in driver.session.calls
        assert driver.written == "draft"
        driver.session.running = False
        await driver.press("escape")
        assert driver.written == ""
        await driver.press("up")
        assert driver.written == "draft"


async def test_ctrl_r_retries(tmp_path: Path) -> None:
    async with workspace(tmp_path) as driver:
        await pend(driver)
        await driver.press("ctrl+r")
        assert ("retry",) in driver.session.calls


async def test_a_refusal_becomes_the_notice_and_goes_with_the_next_key(tmp_path: Path) -> None:
    async with workspace(tmp_path) as driver:
        driver.session.refusal = "Nothing to retry: the last turn finished."
        await driver.press("ctrl+r")
        await driver.until_shown("Nothing to retry")
        await driver.press("x")
        await driver.until(lambda: not driver.shows("Nothing to retry"))


async def test_ctrl_x_asks_before_an_incomplete_turn_is_given_up(tmp_path: Path) -> None:
    async with workspace(tmp_path) as driver:
        await pend(driver)
        await driver.press("ctrl+x")
        await driver.until_shown("Discard the incomplete turn?")
        assert ("discard",) not in driver.session.calls
        await driver.until(lambda: not driver.screen.question_pane.guarded)
        await driver.press("enter")
        await driver.until(lambda: driver.screen.question_pane.nudged)
        await driver.press("3", "enter")
        await driver.until(lambda: ("discard",) in driver.session.calls)
        assert driver.screen.prompt.has_focus


async def test_ctrl_x_after_a_failed_turn_takes_the_message_back_at_once(tmp_path: Path) -> None:
    async with workspace(tmp_path) as driver:
        driver.session.failed_message = "fix it"
        await driver.type("more")
        await driver.press("ctrl+x")
        await driver.until(lambda: driver.written == "fix it\nmore")


async def test_ctrl_b_hides_the_panels_and_brings_them_back(tmp_path: Path) -> None:
    async with workspace(tmp_path) as driver:
        assert driver.shows("TurnMemory")
        await driver.press("ctrl+b")
        await driver.until(lambda: not driver.screen.sidebar.display)
        await driver.press("ctrl+b")
        await driver.until(lambda: driver.screen.sidebar.display)


async def test_ctrl_t_folds_turn_memory_to_one_line(tmp_path: Path) -> None:
    async with workspace(tmp_path) as driver:
        await driver.play(*story.three_turns())
        await driver.press("ctrl+t")
        await driver.until_shown("▸ TurnMemory   ±2")
        assert not driver.shows("all turns")
        await driver.press("ctrl+t")
        await driver.until_shown("all turns")


async def test_ctrl_o_unfolds_all_then_folds_all_then_leaves_what_needs_a_look(tmp_path: Path) -> None:
    async with workspace(tmp_path, size=(120, 200)) as driver:
        await driver.play(*story.three_turns())
        assert driver.shows("tax is due")
        assert not driver.shows("    ...")
        await driver.press("ctrl+o")
        await driver.until(lambda: driver.shows("    ...") and driver.shows("tax is due"))
        await driver.press("ctrl+o")
        await driver.until(lambda: not driver.shows("    ...") and not driver.shows("tax is due"))
        await driver.press("ctrl+o")
        await driver.until(lambda: not driver.shows("    ...") and driver.shows("tax is due"))


async def test_shift_tab_walks_through_the_modes(tmp_path: Path) -> None:
    async with workspace(tmp_path) as driver:
        for mode in ("auto-edit", "plan", "auto", "ask"):
            await driver.press("shift+tab")
            await driver.until(lambda mode=mode: driver.screen.state.mode == mode)  # type: ignore[misc]
            assert driver.rows()[-1].strip().startswith(mode)
            await driver.until_shown(f"Mode {mode}: ")
            assert not driver.shows("open question")


async def test_shift_tab_never_reaches_auto_while_a_question_is_open(tmp_path: Path) -> None:
    async with workspace(tmp_path) as driver:
        await driver.play(
            story.started(1, "go"),
            story.tool_started(1, "c", "edit_file", "src/cart.py"),
            story.approval(1, "c", grant=None),
        )
        for mode in ("auto-edit", "plan", "ask", "auto-edit"):
            await driver.press("shift+tab")
            await driver.until(lambda mode=mode: driver.screen.state.mode == mode)  # type: ignore[misc]
        assert ("set_mode", "auto") not in driver.session.calls
        assert driver.screen.question_pane.question


@pytest.mark.parametrize("size", [(120, 40), (80, 24), (60, 12)], ids=str)
async def test_a_mode_that_would_allow_the_edit_leaves_the_question_open_and_says_so(
    tmp_path: Path, size: tuple[int, int]
) -> None:
    async with workspace(tmp_path, size=size) as driver:
        await driver.play(
            story.started(1, "go"),
            story.tool_started(1, "c", "edit_file", "src/cart.py"),
            story.approval(1, "c", grant="allow all edits in this workspace for this session"),
        )
        await driver.until(lambda: driver.screen.question_pane.was_read)
        await driver.press("shift+tab")
        await driver.until(lambda: driver.screen.state.mode == "auto-edit")
        await driver.until(lambda: "still needs your answer." in " ".join(" ".join(driver.rows()).split()))
        await driver.until_shown("yes, this once")
        await driver.until_shown("no, and stop the turn")
        assert not [call for call in driver.session.calls if call[0] == "answer"]


async def test_ctrl_p_finds_an_action_by_a_few_letters(tmp_path: Path) -> None:
    async with workspace(tmp_path) as driver:
        await driver.press("ctrl+p")
        await driver.until_shown("Wider panels")
        await driver.type("plan")
        await driver.until(lambda: driver.shows("Mode: plan") and not driver.shows("Wider panels"))
        await driver.press("enter")
        await driver.until(lambda: ("set_mode", "plan") in driver.session.calls)


async def test_the_palette_changes_the_theme(tmp_path: Path) -> None:
    async with workspace(tmp_path) as driver:
        await driver.press("ctrl+p")
        await driver.type("keen-light")
        await driver.until_shown("Theme: keen-light")
        await driver.press("enter")
        await driver.until(lambda: driver.app.theme == "keen-light")
        await driver.until(lambda: driver.screen.status.look.theme.name == "keen-light")


async def test_f1_shows_every_key_and_escape_goes_back(tmp_path: Path) -> None:
    async with workspace(tmp_path, size=(120, 60)) as driver:
        await driver.press("f1")
        await driver.until(lambda: isinstance(driver.app.screen, HelpScreen))
        await driver.until_shown("ctrl+r")
        assert driver.shows("In the composer")
        await driver.press("escape")
        await driver.until(lambda: driver.app.screen is driver.screen)


async def test_ctrl_c_stops_and_a_second_one_asks_to_leave(tmp_path: Path) -> None:
    async with workspace(tmp_path) as driver:
        await run(driver)
        await driver.press("ctrl+c")
        assert ("stop",) in driver.session.calls
        await driver.press("ctrl+c")
        await driver.until_shown("Quit Keen TUI?")
        assert driver.app.return_code is None


async def test_ctrl_c_twice_leaves_where_nothing_is_open(tmp_path: Path) -> None:
    async with workspace(tmp_path) as driver:
        await driver.press("ctrl+c")
        await driver.until_shown("ctrl+c again quits")
        await driver.press("ctrl+c")
        await driver.until(lambda: driver.app.return_code == 0)


async def test_ctrl_c_copies_what_is_selected(tmp_path: Path) -> None:
    async with workspace(tmp_path) as driver:
        await driver.type("word")
        await driver.press("shift+home", "ctrl+c")
        assert driver.app.clipboard == "word"
        assert driver.shows("copied")


async def test_leaving_with_pending_state_asks_and_can_retry(tmp_path: Path) -> None:
    async with workspace(tmp_path) as driver:
        await pend(driver)
        await driver.press("ctrl+d")
        await driver.until_shown("Quit Keen TUI?")
        await driver.until(lambda: not driver.screen.question_pane.guarded)
        await driver.press("enter")
        assert driver.screen.question_pane.question is not None
        await driver.until(lambda: driver.screen.question_pane.nudged)
        await driver.press("2", "enter")
        await driver.until(lambda: ("retry",) in driver.session.calls)
        assert driver.app.return_code is None


async def test_leaving_with_pending_state_can_be_confirmed(tmp_path: Path) -> None:
    async with workspace(tmp_path) as driver:
        await pend(driver)
        await driver.press("ctrl+d")
        await driver.until(lambda: not driver.screen.question_pane.guarded)
        await driver.press("3", "enter")
        await driver.until(lambda: driver.app.return_code == 0)


@pytest.mark.parametrize("key", ["1", "escape"])
@pytest.mark.parametrize("way", ["ctrl+d", "ctrl+x"])
async def test_one_key_keeps_everything_wherever_work_could_be_lost(
    tmp_path: Path, way: str, key: str
) -> None:
    async with workspace(tmp_path) as driver:
        await pend(driver)
        await driver.press(way)
        await driver.until(lambda: not driver.screen.question_pane.guarded)
        await driver.press(key)
        if key == "1":
            await driver.press("enter")
        await driver.until(lambda: driver.screen.question_pane.question is None)
        assert not {("discard",), ("retry",)} & {*driver.session.calls}
        assert driver.session.pending and driver.app.return_code is None


async def test_ctrl_d_deletes_where_something_is_written(tmp_path: Path) -> None:
    async with workspace(tmp_path) as driver:
        await driver.type("ab")
        await driver.press("home", "ctrl+d")
        assert driver.written == "b"
        assert driver.screen.question_pane.question is None


async def test_up_and_down_walk_through_what_was_sent_and_keep_the_draft(tmp_path: Path) -> None:
    async with workspace(tmp_path) as driver:
        for message in ("one", "two"):
            await driver.type(message)
            await driver.press("enter")
        await driver.type("draft")
        await driver.press("up")
        assert driver.written == "two"
        await driver.press("up", "up")
        assert driver.written == "one"
        await driver.press("down", "down")
        assert driver.written == "draft"


async def test_a_message_sent_while_a_turn_runs_is_queued_and_up_takes_it_back(tmp_path: Path) -> None:
    async with workspace(tmp_path) as driver:
        await run(driver)
        await driver.type("then this")
        await driver.press("enter")
        await driver.until_shown("» then this")
        await driver.press("up")
        await driver.until(lambda: driver.written == "then this")
        await driver.until(lambda: not driver.shows("» then this"))


async def test_page_keys_scroll_the_transcript_from_the_composer(tmp_path: Path) -> None:
    async with workspace(tmp_path, size=(80, 24)) as driver:
        await driver.play(*story.three_turns(), *story.discount_turn())
        assert driver.screen.transcript.viewport.following
        await driver.press("pageup")
        await driver.until(lambda: not driver.screen.transcript.viewport.following)
        await driver.press("ctrl+home")
        await driver.until_shown("set up the project")
        await driver.press("ctrl+end")
        await driver.until(lambda: driver.screen.transcript.viewport.following)
        assert driver.screen.prompt.has_focus


async def test_tab_moves_the_focus_through_the_panes_and_escape_brings_it_back(tmp_path: Path) -> None:
    async with workspace(tmp_path) as driver:
        await driver.play(*story.three_turns())
        seen = []
        for _ in range(4):
            await driver.press("tab")
            seen.append(driver.screen.focused.id if driver.screen.focused else None)
        assert seen == ["transcript", "activity", "turn-memory", "prompt"]
        await driver.press("tab", "escape")
        assert driver.screen.prompt.has_focus


async def test_enter_on_a_panel_row_goes_to_its_place_in_the_transcript(tmp_path: Path) -> None:
    async with workspace(tmp_path, size=(120, 30)) as driver:
        await driver.play(*story.three_turns(), *story.discount_turn())
        await driver.press("tab", "tab", "tab")
        await driver.press("down", "down", "down", "enter")
        await driver.until_shown("› set up the project")
        assert driver.screen.focused is driver.screen.transcript


async def test_a_paste_is_cleaned_and_never_sent(tmp_path: Path) -> None:
    async with workspace(tmp_path) as driver:
        driver.screen.prompt.post_message(Paste("one\r\ntwo\x1b[31m\x07three\n"))
        await driver.until(lambda: "three" in driver.written)
        assert driver.written == "one\ntwo^Gthree\n"
        assert driver.session.calls == [("warm_up",)]


async def test_a_long_paste_is_folded_and_sent_whole(tmp_path: Path) -> None:
    long = "a line of a log\n" * 20_000
    async with workspace(tmp_path) as driver:
        await driver.type("see ")
        driver.screen.prompt.post_message(Paste(long))
        await driver.until(lambda: driver.written == "see [pasted: 20,000 lines]")
        await driver.press("enter")
        await driver.until(lambda: ("submit", f"see {long}") in driver.session.calls)
        await driver.press("up")
        await driver.until(lambda: driver.written == "see [pasted: 20,000 lines]")
        await driver.press("backspace")
        assert driver.written == "see "
        await driver.press("ctrl+underscore", "home", "right", "right", "right", "right", "delete")
        assert driver.written == "see "
        await driver.press("ctrl+underscore", "end", "ctrl+w")
        assert driver.written == "see "
        await driver.press("ctrl+underscore", "end", "left", "X")
        assert driver.written == "see [pasted: 20,000 lines]X"


async def test_deleted_text_is_yanked_undone_and_redone(tmp_path: Path) -> None:
    async with workspace(tmp_path) as driver:
        await driver.type("one two three")
        await driver.press("ctrl+y")
        assert driver.written == "one two three"
        await driver.press("home", "ctrl+right", "ctrl+k")
        assert driver.written == "one"
        await driver.press("ctrl+u", "ctrl+y")
        assert driver.written == "one two three"
        await driver.press("ctrl+w", "ctrl+w", "home", "ctrl+y")
        assert driver.written == "two threeone "
        await driver.press("ctrl+underscore")
        assert driver.written == "one "
        await driver.press("alt+e", "end", "ctrl+j", "ctrl+y")
        assert driver.written == "two threeone \ntwo three"


async def test_lines_and_long_pastes_can_be_yanked(tmp_path: Path) -> None:
    long = "a line of a log\n" * 20_000
    async with workspace(tmp_path) as driver:
        await driver.type("see ")
        driver.screen.prompt.post_message(Paste(long))
        await driver.until(lambda: driver.written == "see [pasted: 20,000 lines]")
        await driver.press("ctrl+j", *"b", "up", "home", "ctrl+k", "ctrl+k", "end", "ctrl+y")
        assert driver.written == "bsee [pasted: 20,000 lines]\n"
        await driver.press("enter")
        await driver.until(lambda: ("submit", f"bsee {long}\n") in driver.session.calls)


async def test_a_long_message_that_comes_back_is_folded_before_the_draft(tmp_path: Path) -> None:
    async with workspace(tmp_path) as driver:
        await driver.type("draft")
        driver.session.publish(MessageTakenBack(turn=1, text="x" * 50_000))
        await driver.until(lambda: driver.written == "[pasted: 50,000 characters]\ndraft")
        await driver.press("enter")
        await driver.until(lambda: ("submit", "x" * 50_000 + "\ndraft") in driver.session.calls)


async def test_keys_act_in_the_order_they_were_typed_however_fast_they_come(tmp_path: Path) -> None:
    async with workspace(tmp_path) as driver:
        for key in ("a", "b", "backspace", "c", "ctrl+j", "d", "enter", "e"):
            driver.app.post_message(Key(key, key if len(key) == 1 else None))
        await driver.until(lambda: driver.written == "e")
        assert ("submit", "ac\nd") in driver.session.calls


async def test_no_key_leaves_pending_work_unasked_also_from_the_help_page(tmp_path: Path) -> None:
    async with workspace(tmp_path) as driver:
        driver.session.pending = PendingState(calls=2)
        await driver.press("f1", "ctrl+c", "ctrl+c")
        await driver.until_shown("leave")
        assert driver.app.is_running
        await driver.press("escape", "ctrl+q")
        await driver.until(lambda: driver.screen.question_pane.question is not None)
        assert driver.app.is_running


@pytest.mark.parametrize(
    ("durable", "lasts", "where"),
    [(False, "the incomplete turn is lost", "in memory"), (True, "the incomplete turn is kept", "on disk")],
)
async def test_leaving_tells_whether_the_incomplete_turn_outlives_the_program(
    tmp_path: Path, *, durable: bool, lasts: str, where: str
) -> None:
    history = FakeHistory()
    history.keeps_pending = durable
    async with workspace(tmp_path, history=history) as driver:
        await pend(driver)
        await driver.until_shown(f"18.2 kB, {where}")
        driver.screen.run("leave")
        await driver.until_shown(lasts)


async def test_help_is_narrowed_by_words(tmp_path: Path) -> None:
    async with workspace(tmp_path) as driver:
        await driver.type("/help undo")
        await driver.press("enter")
        await driver.until_shown("/undo")
        assert not driver.shows("/compact")
