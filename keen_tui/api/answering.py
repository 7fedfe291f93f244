"""Passes a session's approvals and questions to the program's callbacks, and their answers back."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Coroutine
from contextlib import suppress
from typing import Any

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
        decision: object = None
        try:
            decision = await called(approve, approval_of(event))
            problem = "" if isinstance(decision, Allow | Deny) else f"returned {decision!r:.80}"
        except Exception as error:
            problem = self._failure("approve", error)
        if problem:
            self._tell(event.turn, f"approve {problem}, so {event.name} was denied.")
            decision = Deny("the program that decides about calls failed, so nobody allowed this one")
        with suppress(SessionRefused):  # it was stopped meanwhile
            if isinstance(decision, Allow):
                self._session.answer(event.id, allow=True, scope=decision.scope)
            elif isinstance(decision, Deny):
                self._session.answer(event.id, allow=False, message=str(decision.message))

    async def _reply(self, event: QuestionAsked, answer: AnswerQuestion) -> None:
        given: object = None
        try:
            given = await called(answer, question_of_event(event))
            is_right = given is None or isinstance(given, UserAnswer)
            problem = "" if is_right else f"returned {given!r:.80}"
        except Exception as error:
            problem = self._failure("answer", error)
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

    def _failure(self, what: str, error: Exception) -> str:
        log.error("%s of the program failed", what, exc_info=error)
        return f"failed ({type(error).__name__}: {error})"

    def _tell(self, turn: int, sentence: str) -> None:
        self._session.bus.publish(Notice(turn=turn, text=sentence))
