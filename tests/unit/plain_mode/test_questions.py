"""Answers that are read from lines, and questions that lie over each other."""

from __future__ import annotations

import asyncio
import io

import pytest
from msgspec.structs import replace

from keen_tui.frontends.line.printer import LinePrinter
from keen_tui.frontends.line.questions import LineAnswer, LineQuestion, OpenQuestions, answered
from keen_tui.frontends.shared.questions import Choice

QUESTION = LineQuestion(
    lines=("Question: Run it?",),
    choices=(
        Choice(id="yes", label="yes"),
        Choice(id="no", label="no", takes_words=True),
        Choice(id="other", label="something else", takes_words=True, needs_words=True),
    ),
)


@pytest.mark.parametrize(
    ("line", "answer"),
    [
        ("1", LineAnswer(id="yes")),
        (" 1 ", LineAnswer(id="yes")),
        ("1.", LineAnswer(id="yes")),
        ("2", LineAnswer(id="no")),
        ("y", LineAnswer(id="yes")),
        (" N ", LineAnswer(id="no")),
        ("2: by hand", LineAnswer(id="no", words="by hand")),
        ("3: use tabs", LineAnswer(id="other", words="use tabs")),
    ],
)
def test_a_number_answers_and_words_stand_behind_it(line: str, answer: LineAnswer) -> None:
    assert answered(QUESTION, line) == answer


@pytest.mark.parametrize(
    "line", ["", "yes", "0", "4", "1 file is enough", "11", "-1", "1a", "one", "2 by hand", "3 tabs"]
)
def test_what_is_no_answer_answers_nothing(line: str) -> None:
    words = "Please answer 1 to 3. To add text to answer 2, write 2: and the text."
    assert answered(QUESTION, line) == words


def test_a_letter_is_no_answer_where_only_numbers_are() -> None:
    assert isinstance(answered(replace(QUESTION, numbers_only=True), "y"), str)


def test_an_answer_that_needs_words_asks_for_them() -> None:
    assert answered(QUESTION, "3") == "That answer needs text after its number, such as: 3: use tabs"


def test_free_words_answer_where_they_may() -> None:
    question = LineQuestion(lines=(), choices=(Choice(id="a", label="a"),), free="letters of its name")
    assert answered(question, "qwen 3") == LineAnswer(id="", words="qwen 3")
    assert answered(question, "1") == LineAnswer(id="a")
    assert answered(LineQuestion(lines=(), free="Key", hidden=True), "1234") == LineAnswer(
        id="", words="1234"
    )


async def test_the_newest_question_is_asked_and_the_one_below_is_told_again() -> None:
    out = io.StringIO()
    questions = OpenQuestions(LinePrinter(out), lambda: None)
    below = asyncio.create_task(questions.ask(QUESTION))
    await asyncio.sleep(0)
    first = questions.number
    above = asyncio.create_task(
        questions.ask(LineQuestion(lines=("Leave?",), choices=(QUESTION.choices[0],)))
    )
    await asyncio.sleep(0)
    assert questions.number != first
    questions.take("1")
    assert await above == LineAnswer(id="yes")
    assert questions.number == first
    assert out.getvalue().count("Question: Run it?") == 2
    questions.withdraw()
    assert await below is None
    assert questions.number == 0


async def test_a_question_that_is_answered_is_asked_no_more_at_once() -> None:
    """Otherwise it is asked anew for a moment, and a message typed then counts as typed before it."""
    questions = OpenQuestions(LinePrinter(io.StringIO()), lambda: None)
    answering = asyncio.create_task(questions.ask(QUESTION))
    await asyncio.sleep(0)
    assert questions.number == 1
    assert questions.take("1")
    assert questions.number == 0
    assert questions.asked is None
    assert await answering
