"""Whoever asks awaits the answer: it comes once, and never stays away."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from keen_tui.frontends.shared.questions import Choice
from keen_tui.frontends.tui.questions.question import Question
from tests.support import story
from tests.support.workspace import Driver, workspace

WHICH = Question(
    title="Which one?", choices=(Choice(id="this", label="this"), Choice(id="that", label="that"))
)
OTHER = Question(title="Something else?", choices=(Choice(id="yes", label="yes"),))


@asynccontextmanager
async def asked(folder: Path) -> AsyncIterator[tuple[Driver, asyncio.Task[str]]]:
    """A workspace in which `WHICH` is asked, and the answer to it."""
    async with workspace(folder) as driver:
        answer = asyncio.create_task(driver.screen.ask(WHICH))
        await driver.until_shown("Which one?")
        await driver.until(lambda: not driver.screen.question_pane.guarded)
        yield driver, answer


async def test_who_asks_gets_the_answer_and_the_composer_comes_back(tmp_path: Path) -> None:
    async with asked(tmp_path) as (driver, answer):
        await driver.press("2", "enter")
        assert await answer == "that"
        assert driver.screen.question_pane.question is None
        assert driver.screen.focused is driver.screen.prompt


async def test_esc_gives_no_answer(tmp_path: Path) -> None:
    async with asked(tmp_path) as (driver, answer):
        await driver.press("escape")
        assert await answer == ""


async def test_a_question_in_the_place_of_another_leaves_that_without_an_answer(tmp_path: Path) -> None:
    async with asked(tmp_path) as (driver, answer):
        other = asyncio.create_task(driver.screen.ask(OTHER))
        assert await answer == ""
        await driver.until(lambda: not driver.screen.question_pane.guarded)
        await driver.press("1", "enter")
        assert await other == "yes"


async def test_what_a_turn_asks_comes_first_and_stays_until_it_is_settled(tmp_path: Path) -> None:
    async with asked(tmp_path) as (driver, answer):
        driver.session.running = True
        await driver.play(story.started(1, "go"), story.question(1, "c"))
        assert await answer == ""
        other = asyncio.create_task(driver.screen.ask(OTHER))
        await driver.until_shown("Something else?")
        await driver.press("escape")
        assert await other == ""
        question = driver.screen.question_pane.question
        assert question is not None and question.interrupts


async def test_a_screen_that_goes_leaves_nobody_waiting(tmp_path: Path) -> None:
    async with asked(tmp_path) as (driver, answer):
        driver.app.exit()
    assert await asyncio.wait_for(answer, 180) == ""
