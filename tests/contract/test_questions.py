"""ask_user: the answer is the result of the call; nobody answers for the user, and a stop is a stop."""

from __future__ import annotations

from pathlib import Path
from typing import Any, get_args

import pytest

from keen_tui.demo.script import Break, Call, Reply, Say
from keen_tui.domain.choices import Mode
from keen_tui.domain.errors import SessionRefused
from keen_tui.domain.events import (
    QuestionAnswered,
    QuestionAsked,
    ToolFinished,
    TurnDone,
    TurnError,
    TurnIncomplete,
)
from keen_tui.domain.messages import TurnMemory
from tests.support.agent import AtWork, Bench
from tests.support.saving import place

CHOICES = [{"label": "SQLite", "consequence": "no server"}, {"label": "Postgres"}]
ASK = Call("ask_user", {"question": "Which database?", "choices": CHOICES})
WRITE = Call("write_file", {"path": "a.py", "content": "x\n"})
OK = Reply([Say("Ok.")])
CUT = Reply([Say("This sentence is cut in the mid")], broken=Break("reset"))


async def asked(bench: Bench, count: int = 1) -> QuestionAsked:
    bench.session.submit("go")
    return await bench.log.wait_for(QuestionAsked, count)


@pytest.mark.parametrize(
    ("choice", "words", "told", "summary"),
    [
        (0, "", "The user chose: SQLite", "SQLite"),
        (2, " DuckDB,\nplease ", "The user answers: DuckDB,\nplease", "DuckDB, please"),
        (None, "", "The user does not want to answer.", "declined"),
    ],
    ids=["choice", "words", "declined"],
)
async def test_the_answer_is_the_result(
    tmp_path: Path, at_work: AtWork, choice: int | None, words: str, told: str, summary: str
) -> None:
    async with at_work([Reply([Say("I ask."), ASK]), OK, OK], tmp_path, mode="plan") as bench:
        question = await asked(bench)
        assert [each.label for each in question.choices] == ["SQLite", "Postgres", "something else"]
        bench.session.reply(question.id, choice, words)
        end = await bench.log.wait_for_end()
        assert isinstance(end, TurnDone)
        assert end.turn_memory == TurnMemory()
        assert bench.results()[0].startswith(told)
        (finished,) = bench.log.of(ToolFinished)
        assert (finished.target, finished.result.summary) == ("Which database?", summary)
        await bench.ask("next")
        assert "ask_user" not in "\n".join(bench.lines())
        bench.assert_valid_requests()


async def test_a_stop_while_it_is_open_is_no_answer_and_keeps_nothing(
    tmp_path: Path, at_work: AtWork
) -> None:
    async with at_work([Reply([ASK]), Reply([WRITE]), Reply([ASK, WRITE]), OK], tmp_path) as bench:
        await asked(bench)
        bench.session.stop()
        assert isinstance(await bench.log.wait_for_end(), TurnError)
        assert bench.log.of(QuestionAnswered)[0].by == "stop"
        bench.session.retry()
        await bench.log.wait_for(QuestionAsked, 2)
        bench.session.stop()
        assert isinstance(await bench.log.wait_for_end(2), TurnIncomplete)
        assert len(bench.log.of(QuestionAsked)) == len(bench.log.of(QuestionAnswered))
        await bench.retry()
        assert bench.results()[-2:] == ["not run: the turn was interrupted"] * 2
        bench.assert_valid_requests()


async def test_an_answer_outlives_a_turn_that_breaks_and_is_not_asked_again(
    tmp_path: Path, at_work: AtWork
) -> None:
    async with at_work([Reply([ASK]), CUT, OK], tmp_path) as bench:
        question = await asked(bench)
        bench.session.reply(question.id, 1)
        assert isinstance(await bench.log.wait_for_end(), TurnIncomplete)
        await bench.retry()
        assert bench.results() == ["The user chose: Postgres"]
        assert len(bench.log.of(QuestionAsked)) == 1


async def test_without_a_person_nobody_answers_and_the_model_is_told(tmp_path: Path, at_work: AtWork) -> None:
    async with at_work([Reply([ASK]), OK], tmp_path, attended=False) as bench:
        assert isinstance(await bench.ask("go"), TurnDone)
        assert bench.results()[0].startswith("There is nobody to ask. Make the safest assumption")
        (answer,) = bench.log.of(QuestionAnswered)
        assert (answer.by, answer.choice) == ("headless", None)


@pytest.mark.parametrize("mode", get_args(Mode))
async def test_no_mode_answers_or_forbids_it(tmp_path: Path, at_work: AtWork, mode: Mode) -> None:
    async with at_work([Reply([ASK]), OK], tmp_path, mode=mode) as bench:
        question = await asked(bench)
        for choice, words in ((3, ""), (-1, ""), (2, "  ")):
            with pytest.raises(SessionRefused):
                bench.session.reply(question.id, choice, words)
        bench.session.reply(question.id, 0)
        with pytest.raises(SessionRefused):
            bench.session.reply(question.id, 1)
        await bench.log.wait_for_end()
        assert bench.results() == ["The user chose: SQLite"]


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        ({"question": "?", "choices": ["one"]}, "choices must be 2 to 6, not 1"),
        ({"question": "?", "choices": ["a"] * 7}, "choices must be 2 to 6, not 7"),
        ({"question": "?", "choices": [{"name": "a"}, "b"]}, "missing required field label"),
        ({"question": "?", "choices": ["a", 3]}, "$[1]"),
        ({"question": "?", "choices": ["a", "\n"]}, "each choice needs a label"),
        ({"question": " ", "choices": ["a", "b"]}, "question must have 1 to 2,000 characters"),
        ({"question": "?", "choices": "ab"}, "choices must be a list"),
        ({"question": "?"}, "needs the argument 'choices'"),
    ],
)
async def test_a_call_that_asks_nothing_gets_a_sentence(
    tmp_path: Path, at_work: AtWork, arguments: dict[str, Any], why: str
) -> None:
    async with at_work([Reply([Call("ask_user", arguments)]), OK], tmp_path) as bench:
        await bench.ask("go")
        assert why in bench.results()[0]
        assert not bench.log.of(QuestionAsked)


async def test_texts_of_the_model_do_not_drive_the_terminal(tmp_path: Path, at_work: AtWork) -> None:
    call = Call("ask_user", {"question": "a\x1b[2Jb\u202e", "choices": ["\x1b]0;x\x07y", "z"]})
    async with at_work([Reply([call]), OK], tmp_path) as bench:
        question = await asked(bench)
        assert (question.question, question.choices[0].label) == ("ab<U+202E>", "y")
        bench.session.stop()


async def test_a_session_that_is_opened_again_shows_question_and_answer(tmp_path: Path) -> None:
    async with place(tmp_path, "openai-chat", [Reply([ASK]), OK]) as here:
        async with here.program() as program:
            question = await asked(program)
            program.session.reply(question.id, 0)
            await program.log.wait_for_end()
            session = program.history.session_id
        async with here.program(session) as program:
            (finished,) = program.log.of(ToolFinished)
            assert "> 1  SQLite   no server" in str(finished.result.display)
            assert not program.log.of(QuestionAsked)
