"""A sentence is never a yes: sentences before, while and after a question appears, at every size (R15)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from random import Random

import pytest
from textual.events import Paste

from keen_tui.domain.display import CommandDisplay, PartDisplay
from keen_tui.domain.events import AnswerChoice, ApprovalRequested, Event, QuestionAsked
from keen_tui.frontends.shared.questions import InUseQuestion
from keen_tui.frontends.tui.questions.confirm import question_of
from keen_tui.frontends.tui.questions.question import GivenAnswer
from keen_tui.frontends.tui.questions.question_pane import QuestionPane
from tests.support import story
from tests.support.workspace import Driver, workspace

SIZES = [(120, 40), (80, 24), (60, 20), (60, 12), (40, 10)]
SENTENCES = [
    "use 2 spaces please",
    "2 spaces",
    "1. first, then 2",
    "set the port to 8080",
    "indent by 2",
    "y es",
    "no!",
    " a space first",
    "é ü 你好 3",
    "10",
]
ANSWERS = ("answer", "reply", "stop")
CHOICES = (
    AnswerChoice(label="SQLite", consequence="no server"),
    AnswerChoice(label="Postgres"),
    AnswerChoice(label="something else", consequence="in your own words", wants_words=True),
)


def a_command(turn: int, *, risky: bool = False) -> Event:
    parts = (PartDisplay(text="rm -rf build", note="it deletes a whole folder", loses=True),) if risky else ()
    return ApprovalRequested(
        turn=turn, id=f"c{turn}", name="bash", arguments={}, target="make", question="Run this command?",
        why="make can change files", is_risky=risky, saves=() if risky else ("make *",),
        grant=None if risky else "don't ask again for this command in this session",
        display=CommandDisplay(command="make all", output="", exit_code=None, parts=parts),
    )  # fmt: skip


def a_question(turn: int, *, body: str = "") -> Event:
    return QuestionAsked(
        turn=turn, id=f"c{turn}", name="ask_user", question="Which database?", choices=CHOICES, body=body
    )


KINDS: Mapping[str, Callable[[int], Event]] = {
    "command": a_command,
    "risky command": lambda turn: a_command(turn, risky=True),
    "question": a_question,
    "plan": lambda turn: a_question(turn, body="# Move the tax\n\n- one\n- two"),
}


async def appears(driver: Driver, turn: int, event: Event) -> None:
    driver.session.running = True
    await driver.play(story.started(turn, "go"), story.tool_started(turn, f"c{turn}", "bash", "make"), event)


async def read(driver: Driver) -> None:
    """A pause that is long enough for keys to answer."""
    await driver.until(lambda: not driver.screen.question_pane.guarded)


async def read_well(driver: Driver) -> None:
    """A pause after which words are taken for an answer."""
    await driver.until(lambda: driver.screen.question_pane.was_read)


def never_read(driver: Driver) -> None:
    """Let no pause be that long, however slow the machine is."""
    driver.screen.question_pane.read_seconds = 3_600


async def closed(driver: Driver, turn: int) -> None:
    await driver.play(story.incomplete(turn))
    await driver.until(lambda: driver.screen.composer.display)


def given(driver: Driver) -> Sequence[tuple[object, ...]]:
    """What was answered so far, and messages that were sent."""
    return [call for call in driver.session.calls if call[0] in (*ANSWERS, "submit")]


@pytest.mark.parametrize("size", SIZES, ids=str)
@pytest.mark.parametrize("kind", KINDS)
async def test_a_sentence_answers_nothing_and_keeps_all_its_letters(
    tmp_path: Path, size: tuple[int, int], kind: str
) -> None:
    """Over the sizes, each sentence is typed at each kind of question."""
    random = Random(f"{size} {kind}")
    async with workspace(tmp_path, size=size) as driver:
        never_read(driver)
        for turn, sentence in enumerate(SENTENCES[SIZES.index(size) :: len(SIZES)], 1):
            cut, pause = random.randrange(len(sentence)), random.randrange(len(sentence) + 1)
            await driver.type(sentence[:cut])
            await appears(driver, turn, KINDS[kind](turn))
            for place, character in enumerate(sentence[cut:]):
                if place == pause or (cut == 0 and place == 0):
                    await read(driver)
                await driver.type(character)
            if random.random() < 0.7:
                await read(driver)
            await driver.press("enter")
            await driver.pilot.pause()
            assert given(driver) == [], f"{sentence!r} cut at {cut}"
            await closed(driver, turn)
            assert driver.written == sentence
            driver.screen.prompt.clear()


async def test_the_words_go_with_a_no_once_an_arrow_has_chosen_it(tmp_path: Path) -> None:
    async with workspace(tmp_path) as driver:
        never_read(driver)
        await appears(driver, 1, a_command(1))
        await read(driver)
        await driver.type("use 2 spaces please")
        await driver.press("enter")
        await driver.until_shown("Press ↓, then enter to decline with this reason.")
        assert given(driver) == []
        await driver.press("down", "enter")
        await driver.until(lambda: given(driver) == [("answer", "c1", False, "once", "use 2 spaces please")])
        assert driver.written == ""


async def test_words_that_begin_after_the_question_was_read_are_sent_by_enter(tmp_path: Path) -> None:
    async with workspace(tmp_path) as driver:
        await appears(driver, 1, a_command(1, risky=True))
        await read_well(driver)
        await driver.type("use make clean")
        await driver.until_shown("Press enter to decline with this reason.")
        await driver.press("enter")
        await driver.until(lambda: given(driver) == [("answer", "c1", False, "once", "use make clean")])
        await closed(driver, 1)
        await appears(driver, 2, a_question(2))
        await read_well(driver)
        await driver.type("a file")
        await driver.until_shown("Press enter to send these words.")
        await driver.press("enter")
        await driver.until(lambda: given(driver)[1:] == [("reply", "c2", 2, "a file")])


@pytest.mark.parametrize("size", [(120, 40), (80, 24), (60, 12)], ids=str)
async def test_the_head_and_the_tail_of_a_sentence_are_one_no(tmp_path: Path, size: tuple[int, int]) -> None:
    async with workspace(tmp_path, size=size) as driver:
        await driver.type("keep it simple. do ")
        await appears(driver, 1, a_command(1))
        await driver.until_shown("keep it simple. do")
        await read_well(driver)
        await driver.type("not skip the tests")
        await driver.until_shown("do not skip the tests")
        await driver.press("enter")
        await driver.pilot.pause()
        assert given(driver) == []
        await driver.press("down", "enter")
        whole = "keep it simple. do not skip the tests"
        await driver.until(lambda: given(driver) == [("answer", "c1", False, "once", whole)])
        await closed(driver, 1)
        assert driver.written == ""


async def test_a_sentence_goes_on_at_its_cursor_with_its_pastes(tmp_path: Path) -> None:
    async with workspace(tmp_path) as driver:
        paste = "x\n" * 300
        driver.screen.prompt.post_message(Paste(paste))
        await driver.until_shown("[pasted: 300 lines]")
        await driver.type("!")
        await driver.press("left")
        await appears(driver, 1, a_command(1))
        await read(driver)
        await driver.type(" here")
        await driver.until_shown("[pasted: 300 lines] here!")
        await driver.press("escape")
        await driver.until(lambda: driver.screen.prompt.written == f"{paste} here!")
        await driver.type(" and there")
        await driver.until_shown("[pasted: 300 lines] here and there!")
        await driver.press("down", "enter")
        words = f"{paste} here and there!"
        await driver.until(lambda: given(driver) == [("answer", "c1", False, "once", words)])
        await closed(driver, 1)
        assert driver.written == ""


async def test_what_is_taken_out_of_a_draft_for_a_no_is_in_the_history(tmp_path: Path) -> None:
    async with workspace(tmp_path) as driver:
        await driver.type("half a thought")
        await appears(driver, 1, a_command(1))
        await read(driver)
        await driver.press("ctrl+u")
        await driver.type("no")
        await driver.press("down", "enter")
        await driver.until(lambda: given(driver) == [("answer", "c1", False, "once", "no")])
        await closed(driver, 1)
        assert driver.written == ""
        await driver.press("up")
        assert driver.written == "half a thought"


@pytest.mark.parametrize("size", [(120, 40), (80, 24), (60, 12)], ids=str)
async def test_escape_says_that_it_goes_back_and_the_words_come_back_as_they_were(
    tmp_path: Path, size: tuple[int, int]
) -> None:
    async with workspace(tmp_path, size=size) as driver:
        await appears(driver, 1, a_command(1))
        await read(driver)
        await driver.type("use  2 spaces")
        await driver.until_shown("esc goes back to the answers and keeps your words")
        assert not driver.shows("esc declines")
        await driver.press("escape")
        await driver.until_shown("Your words are kept in the composer.")
        assert (given(driver), driver.written) == ([], "use  2 spaces")
        await driver.press("4", "enter")
        await driver.until_shown("Press enter to decline with this reason.")
        await driver.press("enter")
        await driver.until(lambda: given(driver) == [("answer", "c1", False, "once", "use  2 spaces")])
        await closed(driver, 1)
        assert driver.written == ""


@pytest.mark.parametrize(("key", "allow"), [("1", True), ("y", True)])
async def test_behind_escape_a_key_chooses_again_and_is_no_part_of_the_words(
    tmp_path: Path, key: str, allow: bool
) -> None:
    async with workspace(tmp_path) as driver:
        await driver.type("keep it ")
        await appears(driver, 1, a_command(1))
        await read(driver)
        await driver.type("simple")
        await driver.press("escape", "enter")
        await driver.until_shown("Nothing is chosen yet: press ↑ or ↓, then enter.")
        await driver.press(key)
        await driver.until_shown("Press enter to give the marked answer.")
        assert not driver.shows("keep it simple")
        await driver.press("enter")
        await driver.until(lambda: given(driver) == [("answer", "c1", allow, "once", "")])
        await closed(driver, 1)
        assert driver.written == "keep it simple"
        await appears(driver, 2, a_command(2, risky=True))
        await read(driver)
        await driver.press(key)
        await driver.until_shown("Press enter to give the marked answer.")
        await driver.press("enter")
        await driver.until(lambda: given(driver)[1:] == [("answer", "c2", allow, "once", "")])
        await closed(driver, 2)
        await driver.type(" and")
        await appears(driver, 3, a_command(3))
        await driver.until_shown("keep it simple and")


async def test_behind_escape_a_sentence_that_begins_with_a_number_continues_the_words(tmp_path: Path) -> None:
    async with workspace(tmp_path) as driver:
        await appears(driver, 1, a_command(1))
        await read(driver)
        await driver.type("indent by ")
        await driver.press("escape")
        await driver.type("2 spaces")
        await driver.until_shown("indent by 2 spaces")
        await driver.press("enter")
        await driver.pilot.pause()
        assert given(driver) == []
        await closed(driver, 1)
        assert driver.written == "indent by 2 spaces"


async def test_a_key_that_chose_does_not_end_up_in_the_draft(tmp_path: Path) -> None:
    async with workspace(tmp_path) as driver:
        await appears(driver, 1, a_command(1))
        await read(driver)
        await driver.press("1", "escape")
        await driver.until(lambda: given(driver) == [("answer", "c1", False, "once", "")])
        await closed(driver, 1)
        assert driver.written == ""
        await appears(driver, 2, a_command(2))
        await read(driver)
        await driver.press("2")
        await closed(driver, 2)
        assert driver.written == ""


async def test_escape_declines_at_once_where_nothing_was_added_to_the_draft(tmp_path: Path) -> None:
    async with workspace(tmp_path) as driver:
        await driver.type("half a thought")
        await appears(driver, 1, a_command(1))
        await read(driver)
        await driver.press("escape")
        await driver.until(lambda: given(driver) == [("answer", "c1", False, "once", "")])
        await closed(driver, 1)
        assert driver.written == "half a thought"


async def test_y_and_n_choose_and_enter_answers(tmp_path: Path) -> None:
    async with workspace(tmp_path) as driver:
        never_read(driver)
        await appears(driver, 1, a_command(1, risky=True))
        await read(driver)
        await driver.type("yy")
        await driver.until_shown("Press enter to give the marked answer.")
        assert given(driver) == []
        await driver.press("enter")
        await driver.until(lambda: given(driver) == [("answer", "c1", True, "once", "")])
        await closed(driver, 1)
        await appears(driver, 2, a_command(2))
        await read(driver)
        await driver.type("n")
        await driver.press("enter")
        await driver.until_shown("What should it do instead?")
        assert driver.shows("Press enter to decline with this reason.")
        await driver.press("enter")
        await driver.until(lambda: given(driver)[1:] == [("answer", "c2", False, "once", "")])


async def test_words_that_do_not_go_with_an_answer_continue_the_draft(tmp_path: Path) -> None:
    async with workspace(tmp_path) as driver:
        await driver.type("use 2 sp")
        await appears(driver, 1, a_command(1))
        await read(driver)
        await driver.type("aces")
        await driver.press("up", "up", "up", "up", "enter")
        await driver.until(lambda: given(driver) == [("answer", "c1", True, "once", "")])
        await driver.until(lambda: driver.written == "use 2 spaces")


async def test_with_a_draft_enter_says_what_to_press_and_an_arrow_chooses(tmp_path: Path) -> None:
    async with workspace(tmp_path) as driver:
        await driver.type("half a thought")
        await appears(driver, 1, a_command(1))
        await read(driver)
        assert not driver.shows("› 1")
        assert driver.shows("Press ↑ or ↓, then enter. esc declines")
        await driver.press("enter")
        await driver.until_shown("Nothing is chosen yet: press ↑ or ↓, then enter.")
        await driver.press("down")
        await driver.until_shown("Press enter to give the marked answer.")
        await driver.press("enter")
        await driver.until(lambda: given(driver) == [("answer", "c1", True, "once", "")])
        await closed(driver, 1)
        assert driver.written == "half a thought"


async def test_a_question_names_the_key_that_is_missing(tmp_path: Path) -> None:
    async with workspace(tmp_path) as driver:
        never_read(driver)
        await appears(driver, 1, a_command(1))
        await read(driver)
        await driver.type("1")
        await driver.until_shown("Press enter to give the marked answer.")
        await driver.press("backspace")
        await driver.until(lambda: not driver.shows("marked answer"))
        await driver.type("x")
        await driver.until_shown("Press ↓, then enter to decline with this reason.")
        await driver.press("down")
        await driver.until_shown("Press enter to decline with this reason.")
        await driver.press("up")
        await driver.until_shown("Press enter to give the marked answer.")
        assert given(driver) == []


async def test_a_paste_is_part_of_the_words(tmp_path: Path) -> None:
    async with workspace(tmp_path) as driver:
        never_read(driver)
        await appears(driver, 1, a_command(1))
        await read(driver)
        driver.screen.question_pane.view.post_message(Paste("1\n"))
        await driver.press("enter")
        await driver.until_shown("Press ↓, then enter to decline with this reason.")
        assert given(driver) == []
        await closed(driver, 1)
        assert driver.written == "1\n"


async def test_letters_at_a_question_of_the_workspace_stay_in_the_draft(tmp_path: Path) -> None:
    async with workspace(tmp_path) as driver:
        driver.screen.open_question(question_of(InUseQuestion("A session")))
        await read(driver)
        await driver.type("2 birds")
        await driver.press("enter")
        assert driver.shows("kept as your draft:")
        assert driver.screen.question_pane.question is not None
        await driver.press("escape")
        await driver.until(lambda: driver.written == "2 birds")


async def test_letters_typed_in_another_pane_while_a_question_is_open_are_not_lost(tmp_path: Path) -> None:
    async with workspace(tmp_path) as driver:
        await appears(driver, 1, a_command(1))
        await read(driver)
        await driver.press("tab")
        await driver.until(lambda: driver.screen.focused is driver.screen.transcript)
        await driver.type("why")
        await closed(driver, 1)
        assert driver.written == "why"


@pytest.mark.parametrize("size", SIZES, ids=str)
async def test_the_way_to_say_why_is_seen_and_all_answers_are_reached(
    tmp_path: Path, size: tuple[int, int]
) -> None:
    async with workspace(tmp_path, size=size) as driver:
        await appears(driver, 1, a_command(1))
        await read(driver)
        assert driver.shows("no, and say why   just type")
        assert driver.shows("no, and stop the turn")
        await driver.type("because")
        await driver.until_shown("because")
        for _ in range(5):
            await driver.press("down")
        assert driver.row_with("no, and stop the turn") < size[1]
        assert any("no, and stop the turn" in row and "enter" in row for row in driver.rows())


async def test_with_a_draft_no_number_is_named_where_nothing_is_chosen(tmp_path: Path) -> None:
    async with workspace(tmp_path) as driver:
        await driver.type("half a thought")
        await appears(driver, 1, a_command(1, risky=True))
        assert driver.shows("Press ↑ or ↓, then enter. This can't be undone.")


async def test_an_answer_to_a_question_that_is_gone_answers_no_other_one(tmp_path: Path) -> None:
    async with workspace(tmp_path) as driver:
        await appears(driver, 1, a_command(1))
        await read(driver)
        first = driver.screen.question_pane.question
        assert first is not None
        late = QuestionPane.Answered(first, GivenAnswer(choice="no", words="use tabs"))
        await closed(driver, 1)
        await appears(driver, 2, a_command(2))
        driver.screen.question_pane.post_message(late)
        await driver.until(lambda: driver.written == "use tabs")
        assert given(driver) == []
