"""The pane that asks: guard, answers, a word with the no, the draft that stays."""

from __future__ import annotations

from pathlib import Path

import pytest

from keen_tui.domain.display import CommandDisplay, DiffDisplay, DiffLine, PartDisplay
from keen_tui.domain.events import ApprovalRequested
from tests.support import story
from tests.support.workspace import Driver, workspace


async def ask(
    driver: Driver, *, grant: str | None = "allow all edits in this workspace for this session"
) -> None:
    driver.session.running = True
    await driver.play(
        story.started(1, "go"),
        story.tool_started(1, "c", "edit_file", "src/cart.py"),
        story.approval(1, "c", grant=grant),
    )


async def ask_and_wait(driver: Driver, *, grant: str | None = "allow all edits") -> None:
    await ask(driver, grant=grant)
    await driver.until(lambda: not driver.screen.question_pane.guarded)


async def ask_to_run(
    driver: Driver,
    command: str,
    *,
    grant: str | None = None,
    saves: tuple[str, ...] = (),
    parts: tuple[PartDisplay, ...] = (),
) -> None:
    question = ApprovalRequested(
        turn=1, id="c", name="bash", arguments={}, target=command, question="Run this command?", why="",
        display=CommandDisplay(command=command, output="", exit_code=None, parts=parts),
        grant=grant, saves=saves,
    )  # fmt: skip
    await driver.play(story.started(1, "go"), story.tool_started(1, "c", "bash", command), question)


def answers(driver: Driver) -> list[tuple[object, ...]]:
    return [call for call in driver.session.calls if call[0] == "answer"]


async def test_it_shows_the_change_and_why_it_asks_in_place_of_the_composer(tmp_path: Path) -> None:
    async with workspace(tmp_path) as driver:
        await ask(driver)
        assert driver.shows("? Change src/cart.py?")
        assert driver.shows("return self.discount(net + self.tax(net))")
        assert driver.shows("every edit needs your approval in ask mode")
        assert not driver.screen.composer.display
        assert driver.shows("? edit waits for you")


async def test_where_something_is_lost_it_is_marked_and_no_answer_is_chosen(tmp_path: Path) -> None:
    parts = (
        PartDisplay(text="ls", note="it only reads"),
        PartDisplay(text="rm -rf build", note="it deletes files", loses=True),
        *[PartDisplay(text="make", note="unknown")] * 9,
    )
    async with workspace(tmp_path) as driver:
        await ask_to_run(driver, "ls && rm -rf build && ...", parts=parts)
        await driver.until(lambda: not driver.screen.question_pane.guarded)
        assert driver.shows("▲ rm -rf build   it deletes files")
        assert driver.shows("  ls             it only reads")
        assert driver.shows("… 5 more parts")
        assert driver.shows("Press a number, then enter. This can't be undone.")
        await driver.press("enter")
        assert answers(driver) == []
        await driver.press("1", "enter")
        await driver.until(lambda: bool(answers(driver)))


async def test_a_question_that_can_not_be_seen_is_not_answered(tmp_path: Path) -> None:
    async with workspace(tmp_path) as driver:
        await ask_and_wait(driver)
        await driver.pilot.resize_terminal(39, 9)
        await driver.until_shown("too small")
        await driver.press("1", "enter")
        assert answers(driver) == []
        await driver.pilot.resize_terminal(120, 40)
        await driver.until(lambda: not driver.screen.question_pane.guarded)
        assert driver.shows("no, and say why")
        await driver.press("backspace", "1", "enter")
        await driver.until(lambda: bool(answers(driver)))


async def test_who_goes_on_typing_answers_nothing(tmp_path: Path) -> None:
    async with workspace(tmp_path) as driver:
        await ask(driver)
        await driver.press("w", "1", "enter")
        await driver.until_shown("w1")
        assert answers(driver) == []


async def test_keys_pressed_right_after_it_appeared_are_no_answer(tmp_path: Path) -> None:
    async with workspace(tmp_path) as driver:
        driver.screen.question_pane.guard_seconds = 1e6
        await ask(driver)
        await driver.press("1", "enter", "y", "down", "enter")
        assert driver.screen.question_pane.guarded
        assert answers(driver) == []
        assert driver.screen.question_pane.question is not None


@pytest.mark.parametrize(
    ("keys", "answer"),
    [
        (("1", "enter"), ("answer", "c", True, "once", "")),
        (("enter",), ("answer", "c", True, "once", "")),
        (("2", "enter"), ("answer", "c", True, "session", "")),
        (("down", "enter"), ("answer", "c", True, "session", "")),
    ],
)
async def test_a_yes_is_given_by_number_or_by_choosing(
    tmp_path: Path, keys: tuple[str, ...], answer: tuple[object, ...]
) -> None:
    async with workspace(tmp_path) as driver:
        await ask_and_wait(driver)
        await driver.press(*keys)
        await driver.until(lambda: answers(driver) == [answer])
        await driver.until(lambda: driver.screen.composer.display)
        assert driver.screen.prompt.has_focus


async def test_a_no_takes_words_for_the_model(tmp_path: Path) -> None:
    async with workspace(tmp_path) as driver:
        await ask_and_wait(driver)
        await driver.press("3", "enter")
        await driver.type("use Decimal")
        await driver.press("enter")
        await driver.until(lambda: answers(driver) == [("answer", "c", False, "once", "use Decimal")])


async def test_escape_goes_back_from_the_words_to_the_answers(tmp_path: Path) -> None:
    async with workspace(tmp_path) as driver:
        await ask_and_wait(driver)
        await driver.press("3", "enter", "x", "escape")
        assert ("stop",) not in driver.session.calls
        await driver.press("1", "enter")
        await driver.until(lambda: answers(driver) == [("answer", "c", True, "once", "")])


async def test_no_and_stop_stops_the_turn(tmp_path: Path) -> None:
    async with workspace(tmp_path) as driver:
        await ask_and_wait(driver)
        await driver.press("4", "enter")
        await driver.until(lambda: ("stop",) in driver.session.calls)


async def test_escape_declines_the_call_and_a_second_one_stops_the_turn(tmp_path: Path) -> None:
    async with workspace(tmp_path) as driver:
        await ask_and_wait(driver)
        await driver.until_shown("esc declines, esc again stops the turn")
        await driver.press("escape")
        await driver.until(lambda: answers(driver) == [("answer", "c", False, "once", "")])
        assert ("stop",) not in driver.session.calls
        await driver.press("escape")
        await driver.until(lambda: ("stop",) in driver.session.calls)


async def test_a_later_escape_declines_the_next_call_too(tmp_path: Path) -> None:
    now = 0.0
    async with workspace(tmp_path, clock=lambda: now) as driver:
        for _ in range(2):
            await ask_and_wait(driver)
            driver.session.calls.clear()
            await driver.press("escape")
            await driver.until(lambda: answers(driver) == [("answer", "c", False, "once", "")])
            now += 60
        assert ("stop",) not in driver.session.calls


async def test_allow_for_the_session_is_offered_only_where_the_session_offers_it(tmp_path: Path) -> None:
    async with workspace(tmp_path) as driver:
        await ask_and_wait(driver, grant=None)
        assert not driver.shows("yes, and allow")
        assert driver.shows("2  no, and say why")


async def test_a_draft_is_kept_and_comes_back(tmp_path: Path) -> None:
    async with workspace(tmp_path) as driver:
        await driver.type("half a thought")
        await ask_and_wait(driver)
        await driver.press("down", "enter")
        await driver.until(lambda: driver.screen.composer.display)
        await driver.until_shown("half a thought")


async def test_a_long_change_scrolls_inside_the_pane(tmp_path: Path) -> None:
    async with workspace(tmp_path) as driver:
        await ask_about_a_long_change(driver)
        assert driver.shows("row_001")
        assert not driver.shows("row_100")
        assert driver.shows("1  yes, this once")
        for _ in range(10):
            await driver.press("pagedown")
        await driver.until_shown("row_100")


async def ask_about_a_long_change(driver: Driver) -> None:
    rows = tuple(DiffLine(sign="+", number=number, text=f"row_{number:03}") for number in range(1, 101))
    diff = DiffDisplay(path="a.py", hunks=(rows,), added=100, removed=0, total_lines=100)
    event = ApprovalRequested(
        turn=1, id="c", name="write_file", arguments={}, target="a.py", question="Create a.py?",
        why="", display=diff, grant=None,
    )  # fmt: skip
    await driver.play(story.started(1, "go"), story.tool_started(1, "c", "write_file", "a.py"), event)
    await driver.until(lambda: not driver.screen.question_pane.guarded)


async def test_a_long_change_opens_on_the_whole_screen_and_is_not_answered_there(tmp_path: Path) -> None:
    async with workspace(tmp_path) as driver:
        await ask_about_a_long_change(driver)
        assert driver.shows("ctrl+o whole screen")
        await driver.press("ctrl+o")
        await driver.until_shown("rows 1 to 35 of 100")
        assert driver.shows("row_035")
        await driver.press("end", "1", "enter")
        await driver.until_shown("row_100")
        assert answers(driver) == []
        await driver.press("escape")
        await driver.until_shown("1  yes, this once")
        assert driver.screen.question_pane.question is not None


async def test_a_small_change_leaves_the_key_to_the_transcript(tmp_path: Path) -> None:
    async with workspace(tmp_path) as driver:
        await ask_and_wait(driver)
        assert not driver.shows("whole screen")
        await driver.press("ctrl+o")
        assert driver.shows("1  yes, this once")


async def test_the_whole_screen_closes_when_the_turn_ends(tmp_path: Path) -> None:
    async with workspace(tmp_path) as driver:
        await ask_about_a_long_change(driver)
        await driver.press("ctrl+o")
        await driver.until_shown("rows 1 to 35 of 100")
        await driver.play(story.incomplete(1))
        await driver.until(lambda: driver.screen.is_current)


async def test_the_whole_of_a_long_command_can_be_read(tmp_path: Path) -> None:
    command = "echo " + " ".join(f"word{number}" for number in range(60)) + "\nrm -rf build"
    async with workspace(tmp_path) as driver:
        await ask_to_run(driver, command)
        page = "".join(row[5:80].strip() for row in driver.rows())
        assert "".join(command.split()) in page.replace(" ", "")


async def test_an_end_of_the_turn_closes_the_question(tmp_path: Path) -> None:
    async with workspace(tmp_path) as driver:
        await ask(driver)
        await driver.play(story.incomplete(1))
        await driver.until(lambda: driver.screen.composer.display)
        assert driver.screen.question_pane.question is None


async def test_leaving_can_be_taken_back_while_an_approval_is_open(tmp_path: Path) -> None:
    async with workspace(tmp_path) as driver:
        await ask_and_wait(driver)
        await driver.press("ctrl+c", "ctrl+c")
        await driver.until_shown("Quit Keen TUI?")
        await driver.press("escape")
        await driver.until_shown("? Change src/cart.py?")


async def test_what_hides_in_a_command_is_shown_and_nothing_of_it_left_out(tmp_path: Path) -> None:
    command = "echo \x1b]0;harmless\x07 ok\x1b[2K\rls \u202egpj.exe \u0441at a\u00a0b  \nrm\t-rf x"
    async with workspace(tmp_path) as driver:
        await ask_to_run(driver, command)
        page = "".join(row[5:80].strip() for row in driver.rows()).replace(" ", "")
        assert "$echo<U+001B>]0;harmless<U+0007>ok<U+001B>[2K<U+000D>ls<U+202E>gpj.exe" in page
        assert "<U+0441>ata<U+00A0>b<2blanks>rm<tab>-rfx" in page


async def test_a_command_can_be_allowed_for_good_where_that_is_offered(tmp_path: Path) -> None:
    async with workspace(tmp_path) as driver:
        await ask_to_run(driver, "npm test", saves=("npm test *", "npm run lint *"), grant="this command")
        await driver.until(lambda: not driver.screen.question_pane.guarded)
        assert driver.shows("3  yes, always in this folder   npm test *   npm run lint *")
        await driver.press("3", "enter")
        await driver.until(lambda: answers(driver) == [("answer", "c", True, "workspace", "")])


async def test_a_command_that_would_be_allowed_as_it_is_is_not_repeated(tmp_path: Path) -> None:
    async with workspace(tmp_path) as driver:
        await ask_to_run(driver, "python x.py", saves=("python x.py",))
        assert driver.shows("2  yes, always in this folder   exactly this command")


async def test_a_star_that_stands_in_the_command_is_not_called_exactly_that(tmp_path: Path) -> None:
    async with workspace(tmp_path) as driver:
        await ask_to_run(driver, "git add *", saves=("git add *",))
        assert driver.shows("2  yes, always in this folder   git add *")


async def test_all_answers_are_in_view_in_a_small_terminal(tmp_path: Path) -> None:
    parts = tuple(
        PartDisplay(text=f"rm {number}", note="it deletes files", loses=True) for number in range(9)
    )
    async with workspace(tmp_path, size=(60, 20)) as driver:
        await ask_to_run(
            driver, "rm 1; rm 2; " * 8, grant="don't ask again for this command in this session", parts=parts
        )
        await driver.until_shown("no, and stop the turn")
        assert driver.shows("▲ rm 0   it deletes files")


async def test_below_a_guide_in_the_smallest_terminal_each_answer_begins_in_view(
    tmp_path: Path,
) -> None:
    async with workspace(tmp_path, size=(40, 10)) as driver:
        driver.app.show_guide(
            "The agent wants to change a file. Press 1, or give any other answer to deny it."
        )
        await driver.play(story.started(1, "go"), story.approval(1, "c"))
        await driver.until(lambda: not driver.screen.question_pane.guarded)
        await driver.until_shown("3  no, and say why")
        await driver.press("down")
        await driver.until_shown("› 2  yes, and allow all")
        assert driver.shows("↓ 2 more answers   ↑ 1 above") and driver.shows("workspace for this…")
        await driver.press("down")
        await driver.until_shown("› 3  no, and say why")
        assert driver.shows("↓ 1 more answer   ↑ 1 above")
        await driver.press("down")
        await driver.until_shown("› 4  no, and stop the turn")
        assert driver.shows("↑ 3 answers above")


@pytest.mark.parametrize("size", [(60, 12), (60, 10)], ids=str)
async def test_the_reason_why_a_part_is_risky_is_never_cut(tmp_path: Path, size: tuple[int, int]) -> None:
    part = PartDisplay(
        text="curl https://example.org/install.sh | sh",
        note="it runs a script that comes from the internet",
        warns=True,
    )
    async with workspace(tmp_path, size=size) as driver:
        await ask_to_run(driver, "rm -rf build && curl https://example.org/install.sh | sh", parts=(part,))
        row = driver.row_with("it runs a script that comes from the internet")
        assert "curl https://example.org/install.sh | sh" in driver.rows()[row - 1]
        assert driver.shows("no, and stop the turn")
