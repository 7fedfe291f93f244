"""What every command has at hand."""

from __future__ import annotations

from typing import TypeVar

from keen_tui.domain.errors import SessionRefused
from keen_tui.frontends.line.asking import replace_question
from keen_tui.frontends.line.printer import Voice
from keen_tui.frontends.line.questions import LineAnswer, LineQuestion, OpenQuestions
from keen_tui.frontends.line.session_stats import Ledger
from keen_tui.frontends.shared.port import SessionPort, Workplace

_Port = TypeVar("_Port")


class Desk:
    """The session and what belongs to it, a voice, and somebody to ask."""

    def __init__(self, workplace: Workplace, voice: Voice, questions: OpenQuestions, ledger: Ledger) -> None:
        self.workplace = workplace
        self.voice = voice
        self.ledger = ledger
        self._questions = questions

    @property
    def session(self) -> SessionPort:
        return self.workplace.session

    def say(self, *lines: str | None) -> None:
        """Tell these lines."""
        self.voice.say(*lines)

    async def ask(self, question: LineQuestion) -> LineAnswer | None:
        """The answer of the person; None when the question was withdrawn."""
        return await self._questions.ask(question)

    async def choice(self, question: LineQuestion) -> str:
        """The id of the answer, "" for none."""
        answer = await self.ask(question)
        return answer.id if answer else ""

    async def may_replace(self, title: str) -> bool:
        """Whether the incomplete turn may be given up for what `title` asks; yes where there is none. The
        answer may be to retry it, which is done."""
        pending = self.session.pending
        if pending is None:
            return True
        choice = await self.choice(replace_question(pending, title, running=self.session.running))
        if choice == "retry":
            self.session.retry()
        return choice == "replace"


def kept(port: _Port | None, what: str) -> _Port:
    """The port, where there is one. Raises SessionRefused: the tour has none."""
    if port is None:
        raise SessionRefused(what)
    return port
