"""What the model asks, in the pane that asks: answers, words of one's own, declining, stopping."""

from __future__ import annotations

from pathlib import Path

import pytest

from keen_tui.domain.events import AnswerChoice, QuestionAsked
from tests.support import story
from tests.support.workspace import Driver, workspace

CHOICES = (
    AnswerChoice(label="SQLite", consequence="no server, one writer"),
    AnswerChoice(label="Postgres"),
    AnswerChoice(label="something else", consequence="in your own words", wants_words=True),
)


async def ask(driver: Driver, question: str = "Which database?") -> None:
    driver.session.running = True
    await driver.play(
        story.started(1, "go"),
        story.tool_started(1, "c", "ask_user", "Which database?"),
        QuestionAsked(turn=1, id="c", name="ask_user", question=question, choices=CHOICES),
    )
    await driver.until(lambda: not driver.screen.question_pane.guarded)


def replies(driver: Driver) -> list[tuple[object, ...]]:
    return [call for call in driver.session.calls if call[0] in ("reply", "stop")]


async def test_it_stands_in_the_place_of_the_composer_until_a_number_answers(tmp_path: Path) -> None:
    async with workspace(tmp_path) as driver:
        await ask(driver)
        for words in (
            "? Which database?",
            "1  SQLite   no server, one writer",
            "3  something else   in your own words",
            "esc declines, esc again stops the turn",
            "? ask waits for you",
        ):
            assert driver.shows(words), words
        assert not driver.screen.composer.display
        await driver.press("2", "enter")
        await driver.until(lambda: driver.screen.composer.display)
        assert replies(driver) == [("reply", "c", 1, "")]


async def test_an_answer_in_words_needs_some(tmp_path: Path) -> None:
    async with workspace(tmp_path) as driver:
        await ask(driver)
        await driver.press("3", "enter")
        assert driver.shows("Your answer")
        await driver.type("DuckDB")
        await driver.press("enter")
        await driver.until(lambda: driver.screen.composer.display)
        assert replies(driver) == [("reply", "c", 2, "DuckDB")]


@pytest.mark.parametrize(
    ("key", "done"), [("escape", ("reply", "c", None, "")), ("ctrl+c", ("stop",))], ids=["esc", "ctrl+c"]
)
async def test_esc_declines_and_ctrl_c_stops(tmp_path: Path, key: str, done: tuple[object, ...]) -> None:
    async with workspace(tmp_path) as driver:
        await ask(driver)
        await driver.press(key)
        await driver.until(lambda: replies(driver) == [done])


async def test_esc_in_the_words_goes_back_to_the_answers(tmp_path: Path) -> None:
    async with workspace(tmp_path) as driver:
        await ask(driver)
        await driver.press("3", "enter", "a", "escape")
        assert replies(driver) == []
        await driver.press("1", "enter")
        await driver.until(lambda: replies(driver) == [("reply", "c", 0, "")])


@pytest.mark.parametrize("size", [(120, 40), (80, 24)], ids=["wide", "narrow"])
async def test_long_questions_and_answers_are_shown_whole(tmp_path: Path, size: tuple[int, int]) -> None:
    words = "a rather long answer that goes on and on until it has told all that there is to tell of it"
    async with workspace(tmp_path, size=size) as driver:
        driver.session.running = True
        choices = (AnswerChoice(label="short", consequence=f"{words} end"), *CHOICES[1:])
        await driver.play(
            story.started(1, "go"),
            story.tool_started(1, "c", "ask_user", "x"),
            QuestionAsked(turn=1, id="c", name="ask_user", question=f"{words}?\nSay.", choices=choices),
        )
        assert driver.shows("A question")
        shown = " ".join(" ".join(driver.rows()).replace("▌", " ").replace("│", " ").split())
        assert f"{words}? Say." in shown
        assert f"{words} end" in shown
        row = driver.row_with("2  Postgres")
        await driver.until(lambda: not driver.screen.question_pane.guarded)
        await driver.pilot.click("#question-view", offset=(10, row - driver.row_with("A question") + 1))
        await driver.until(lambda: replies(driver) == [("reply", "c", 1, "")])


async def test_a_turn_that_ends_takes_its_question_along(tmp_path: Path) -> None:
    async with workspace(tmp_path) as driver:
        await ask(driver)
        await driver.play(story.incomplete(1))
        await driver.until(lambda: driver.screen.composer.display)


PLAN = "# Move the tax\n\n- `cart.py`: **tax** last\n\n> quoted\n\n" + "\n".join(
    f"{number}. step {number}" for number in range(1, 61)
)


@pytest.mark.parametrize("size", [(120, 40), (80, 24)], ids=["wide", "narrow"])
async def test_a_plan_is_drawn_scrolls_and_is_not_accepted_by_a_mere_enter(
    tmp_path: Path, size: tuple[int, int]
) -> None:
    async with workspace(tmp_path, size=size) as driver:
        driver.session.running = True
        await driver.play(
            story.started(1, "go"),
            story.tool_started(1, "c", "propose_plan", "Move the tax"),
            QuestionAsked(
                turn=1,
                id="c",
                name="propose_plan",
                question="Go ahead with this plan?",
                choices=CHOICES,
                body=PLAN,
            ),
        )
        await driver.until(lambda: not driver.screen.question_pane.guarded)
        assert driver.shows("? Go ahead with this plan?")
        assert driver.rows()[driver.row_with("Move the tax")].startswith(("▌   Move", "  › go", "  ? plan"))
        assert driver.shows("cart.py: tax last")
        assert driver.shows("1  SQLite")
        await driver.press("enter")
        for _ in range(12):
            await driver.press("pagedown")
        await driver.until_shown("60. step 60")
        assert replies(driver) == []
        await driver.press("1", "enter")
        await driver.until(lambda: replies(driver) == [("reply", "c", 0, "")])
