"""Passes a session's approvals and questions to the program's callbacks, and their answers back."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine
from contextlib import suppress
from typing import Any, get_args

from keen_tui.agent.session import Session
from keen_tui.api.asking import (
    Allow,
    AnswerQuestion,
    Approve,
    Deny,
    UserAnswer,
    approval_of,
    question_of_event,
)
from keen_tui.domain.choices import Scope
from keen_tui.domain.errors import SessionRefused
from keen_tui.domain.events import (
    ApprovalAnswered,
    ApprovalRequested,
    Event,
    Notice,
    QuestionAnswered,
    QuestionAsked,
)
from keen_tui.system.threads import called

log = logging.getLogger(__name__)

_ASKED = (ApprovalRequested, QuestionAsked)
_ANSWERED = (ApprovalAnswered, QuestionAnswered)


class ProgramAnswers:
    """Calls `approve` and `answer` when the session asks. If one of them raises an exception, or returns a
    value of another type, the answer is no, and a notice says so."""

    def __init__(self, session: Session, approve: Approve | None, answer: AnswerQuestion | None) -> None:
        self._session = session
        self._approve = approve
        self._answer = answer
        self._reader = session.bus.subscribe(wants=lambda event: isinstance(event, _ASKED + _ANSWERED))
        self._open: dict[str, asyncio.Task[None]] = {}

    async def follow(self) -> None:
        """Answer until the session is closed."""
        try:
            async for batch in self._reader:
                for event in batch:
                    self._take(event)
        finally:
            for task in self._open.values():
                task.cancel()

    def _take(self, event: Event) -> None:
        match event:
            case ApprovalRequested() if self._approve:
                self._begin(event.id, self._decide(event, self._approve))
            case QuestionAsked() if self._answer:
                self._begin(event.id, self._reply(event, self._answer))
            case ApprovalAnswered() | QuestionAnswered():
                if task := self._open.pop(event.id, None):
                    task.cancel()  # the turn was stopped meanwhile

    def _begin(self, call_id: str, job: Coroutine[Any, Any, None]) -> None:
        self._open[call_id] = asyncio.create_task(job, name="ask the program")

    async def _decide(self, event: ApprovalRequested, approve: Approve) -> None:
        decision, problem = await _asked("approve", lambda: called(approve, approval_of(event)), _is_decision)
        if problem:
            self._tell(event.turn, f"approve {problem}, so {event.name} was denied.")
            decision = Deny("the program that approves calls failed, so this one wasn't allowed")
        with suppress(SessionRefused):  # it was stopped meanwhile
            if isinstance(decision, Allow):
                self._session.answer(event.id, allow=True, scope=decision.scope)
            elif isinstance(decision, Deny):
                self._session.answer(event.id, allow=False, message=decision.message)

    async def _reply(self, event: QuestionAsked, answer: AnswerQuestion) -> None:
        given, problem = await _asked("answer", lambda: called(answer, question_of_event(event)), _is_answer)
        try:
            if not problem and isinstance(given, UserAnswer):
                self._session.reply(event.id, given.choice, given.words)
                return
        except SessionRefused as refused:
            problem = f"gave an answer that can't be used ({refused})"
        if problem:
            self._tell(event.turn, f"answer {problem}, so the question was declined.")
        with suppress(SessionRefused):  # it was stopped meanwhile
            self._session.reply(event.id, None)

    def _tell(self, turn: int, sentence: str) -> None:
        self._session.bus.publish(Notice(turn=turn, text=sentence))


async def _asked(
    what: str, ask: Callable[[], Coroutine[Any, Any, object]], is_right: Callable[[object], bool]
) -> tuple[object, str]:
    """What the program returns, and what is wrong with that, "" if nothing is."""
    try:
        value = await ask()
        return value, "" if is_right(value) else f"returned {value!r:.80}"
    except Exception as error:
        log.error("%s of the program failed", what, exc_info=error)
        return None, f"failed ({type(error).__name__}{_words_of(error)})"


def _words_of(error: Exception) -> str:
    try:
        return f": {error}"
    except Exception:  # its own __str__ failed
        return ""


def _is_decision(value: object) -> bool:
    if isinstance(value, Allow):
        return value.scope in get_args(Scope)
    return isinstance(value, Deny) and isinstance(value.message, str)


def _is_answer(value: object) -> bool:
    """Whether it is an answer, or None. A boolean is no number of a choice."""
    if isinstance(value, UserAnswer):
        return type(value.choice) is int and isinstance(value.words, str)
    return value is None
