"""Commands that both front ends have, on a scripted person."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from keen_tui.domain.errors import SessionRefused
from keen_tui.domain.permitted import Permitted
from keen_tui.frontends.line.asking import question_of as line_question_of
from keen_tui.frontends.shared.actions import ACTIONS
from keen_tui.frontends.shared.command import Command, CommandContext, WordsRefused
from keen_tui.frontends.shared.questions import (
    CommandQuestion,
    DiscardQuestion,
    InUseQuestion,
    LeaveQuestion,
    PermissionsQuestion,
    ReplaceQuestion,
)
from keen_tui.frontends.shared.session_commands import EXPORT, FORK, NEW_SESSION, open_session
from keen_tui.frontends.shared.turn_commands import DISCARD, LEAVE
from keen_tui.frontends.tui.questions.confirm import question_of as screen_question_of
from keen_tui.memory.pending import PendingState
from tests.support.fake_history import FakeHistory
from tests.support.fake_session import FakeSession

PENDING = PendingState()


class Person:
    """A front end whose person gives one answer to everything."""

    def __init__(self, answer: str) -> None:
        self.answer = answer
        self.asked: list[CommandQuestion] = []
        self.said: list[str] = []
        self.left = False
        self.turns: tuple[int, ...] = (1, 2)

    def say(self, text: str) -> None:
        self.said.append(text)

    def narrate(self, text: str) -> None:
        self.said.append(text)

    def tell_written(self, file: Path) -> None:
        self.said.append(file.name)

    async def ask(self, question: CommandQuestion) -> str:
        self.asked.append(question)
        return self.answer

    async def replace(self, handler: Callable[[], Awaitable[None]]) -> None:
        await handler()

    def leave(self) -> None:
        self.left = True


class At:
    """What commands work on, and the person."""

    def __init__(self, folder: Path, answer: str = "", *, pending: bool = True) -> None:
        self.person = Person(answer)
        self.session = FakeSession(folder)
        self.session.pending = PENDING if pending else None
        self.history = FakeHistory()
        self.context = CommandContext(
            ui=self.person, session=self.session, controls=self.session, history=self.history
        )

    @property
    def done(self) -> list[object]:
        """What was asked of session and history."""
        return [call[0] for call in (*self.session.calls, *self.history.calls)]


QUESTIONS: tuple[CommandQuestion, ...] = (
    DiscardQuestion(PENDING),
    LeaveQuestion(PENDING, running=False, durable=False),
    LeaveQuestion(None, running=True, durable=True),
    ReplaceQuestion(PENDING, "Begin a new session?", running=False),
    InUseQuestion("A session"),
    PermissionsQuestion("ask", Permitted(saved=("make *",))),
)


@pytest.mark.parametrize("question", QUESTIONS)
def test_both_front_ends_offer_the_answers_that_commands_know(question: CommandQuestion) -> None:
    lines = {choice.id for choice in line_question_of(question).choices}
    screen = {choice.id for choice in screen_question_of(question).choices}
    assert screen - {"close"} <= lines


def test_every_shared_command_has_a_name_to_be_called_by() -> None:
    shared = [action for action in ACTIONS if isinstance(action, Command)]
    assert len(shared) >= 9
    assert all(command.slash and command.where == "anywhere" for command in shared)


@pytest.mark.parametrize(
    ("answer", "done"), [("keep", []), ("", []), ("retry", ["retry"]), ("discard", ["discard"])]
)
async def test_an_incomplete_turn_is_discarded_only_when_that_is_the_answer(
    tmp_path: Path, answer: str, done: list[str]
) -> None:
    at = At(tmp_path, answer)
    await DISCARD.does(at.context, "")
    assert at.done == done


async def test_a_failed_message_comes_back_without_a_question(tmp_path: Path) -> None:
    at = At(tmp_path, pending=False)
    await DISCARD.does(at.context, "")
    assert at.person.asked == []
    assert at.done == ["discard"]


@pytest.mark.parametrize(
    ("answer", "left", "done"), [("keep", False, []), ("retry", False, ["retry"]), ("leave", True, [])]
)
async def test_leaving_asks_where_work_waits(
    tmp_path: Path, answer: str, left: bool, done: list[str]
) -> None:
    at = At(tmp_path, answer)
    await LEAVE.does(at.context, "")
    assert at.person.left is left
    assert at.done == done


async def test_leaving_asks_nothing_where_no_work_waits(tmp_path: Path) -> None:
    at = At(tmp_path, pending=False)
    await LEAVE.does(at.context, "")
    assert at.person.left
    assert at.person.asked == []


@pytest.mark.parametrize(("answer", "done"), [("keep", []), ("retry", ["retry"]), ("replace", ["new"])])
async def test_another_session_begins_only_when_the_incomplete_turn_may_go(
    tmp_path: Path, answer: str, done: list[str]
) -> None:
    at = At(tmp_path, answer)
    await NEW_SESSION.does(at.context, "")
    assert at.done == done
    assert bool(at.person.said) is (answer == "replace")


@pytest.mark.parametrize("command", [FORK, EXPORT])
async def test_words_that_say_nothing_are_refused(tmp_path: Path, command: Command) -> None:
    with pytest.raises(WordsRefused):
        await command.does(At(tmp_path).context, "nonsense")


@pytest.mark.parametrize(("answer", "done"), [("yes", ["fork"]), ("no", []), ("", [])])
async def test_a_session_that_is_open_elsewhere_is_forked_if_that_is_wanted(
    tmp_path: Path, answer: str, done: list[str]
) -> None:
    at = At(tmp_path, answer, pending=False)
    at.history.elsewhere.add("s3")
    await open_session(at.context, next(each for each in at.history.kept if each.id == "s3"), "Why")
    assert at.done == done


async def test_without_saved_sessions_none_begins(tmp_path: Path) -> None:
    at = At(tmp_path)
    context = CommandContext(ui=at.person, session=at.session, controls=at.session, history=None)
    with pytest.raises(SessionRefused, match="No sessions are kept here"):
        await NEW_SESSION.does(context, "")
