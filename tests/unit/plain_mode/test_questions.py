"""Answers that are read from lines, and questions that lie over each other."""

from __future__ import annotations

import asyncio
import io

import pytest
from msgspec.structs import replace

from keen_tui.frontends.line.printer import LinePrinter
from keen_tui.frontends.line.questions import CANCEL, LineAnswer, LineQuestion, OpenQuestions, answered
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


LIST = LineQuestion(
    lines=("The settings.",),
    choices=(
        Choice(id="mode", label="mode", consequence="ask", takes_words=True),
        Choice(id="model", label="model", takes_words=True),
        Choice(id="memory.policy", label="memory.policy", takes_words=True),
        Choice(id="3f2a", label="fix: the cart"),
        CANCEL,
    ),
)


@pytest.mark.parametrize(
    ("line", "answer"),
    [
        ("1", LineAnswer(id="mode")),
        ("mode", LineAnswer(id="mode")),
        ("Mode: auto", LineAnswer(id="mode", words="auto")),
        ("1: auto", LineAnswer(id="mode", words="auto")),
        ("mem", LineAnswer(id="memory.policy")),
        ("memory.policy : summary", LineAnswer(id="memory.policy", words="summary")),
        ("fix: the cart", LineAnswer(id="3f2a")),
        ("3f2a", LineAnswer(id="3f2a")),
        ("cancel", LineAnswer(id="cancel")),
        ("", LineAnswer(id="cancel")),
        ("  ", LineAnswer(id="cancel")),
    ],
)
def test_a_name_answers_a_list_and_an_empty_line_leaves_it(line: str, answer: LineAnswer) -> None:
    assert answered(LIST, line) == answer


def test_a_list_says_in_its_prompt_how_to_answer_and_how_to_leave() -> None:
    assert LIST.prompt == "Answer, 1 to 5, a name or an empty line to cancel: "
    models = replace(LIST, free="letters of its name")
    assert models.prompt == "Answer, 1 to 5, letters of its name or an empty line to cancel: "
    assert QUESTION.prompt == "Answer, 1 to 3: "
    assert LineQuestion(lines=(), free="Address").prompt == "Address (an empty line cancels): "


@pytest.mark.parametrize(
    ("line", "meant"),
    [("mo", "mode or model"), ("modle", "model or mode"), ("modle: gpt", "model or mode"), ("xyz", "")],
)
def test_a_name_that_fits_none_or_several_names_those_that_may_be_meant(line: str, meant: str) -> None:
    hint = f"Did you mean {meant}?" if meant else "To add text to answer 1, write 1: and the text."
    assert answered(LIST, line) == f"Please answer 1 to 5, a name or an empty line to cancel. {hint}"


def test_letters_narrow_a_list_with_free_words_and_a_whole_name_chooses() -> None:
    models = replace(LIST, free="letters of its name")
    assert answered(models, "mem") == LineAnswer(id="", words="mem")
    assert answered(models, "mode") == LineAnswer(id="mode")


async def test_an_empty_line_withdraws_a_list_and_a_question_for_words() -> None:
    for question in (LIST, LineQuestion(lines=(), free="Key", hidden=True)):
        questions = OpenQuestions(LinePrinter(io.StringIO()), lambda: None)
        asking = asyncio.create_task(questions.ask(question))
        await asyncio.sleep(0)
        assert questions.take("")
        assert await asking is None


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
