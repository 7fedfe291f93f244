"""What every command has at hand."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path

from keen_tui.frontends.line.asking import question_of
from keen_tui.frontends.line.printer import Voice
from keen_tui.frontends.line.questions import LineAnswer, LineQuestion, OpenQuestions
from keen_tui.frontends.line.session_stats import Ledger
from keen_tui.frontends.shared.command import CommandContext
from keen_tui.frontends.shared.port import SessionPort, Workplace
from keen_tui.frontends.shared.questions import CommandQuestion


class Desk:
    """The session and what belongs to it, a voice, and somebody to ask."""

    def __init__(
        self,
        workplace: Workplace,
        voice: Voice,
        questions: OpenQuestions,
        ledger: Ledger,
        leave: Callable[[], None],
    ) -> None:
        self.workplace = workplace
        self.voice = voice
        self.ledger = ledger
        self._questions = questions
        self.context = CommandContext(
            ui=LineUi(self, leave),
            session=workplace.session,
            history=workplace.history,
            keeps_pending=workplace.keeps_pending,
        )

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


class LineUi:
    """The front end of lines as commands see it.

    Args:
        leave: ends the program.
    """

    def __init__(self, desk: Desk, leave: Callable[[], None]) -> None:
        self._desk = desk
        self._leave = leave

    @property
    def turns(self) -> tuple[int, ...]:
        """The numbers of the turns of the session."""
        return tuple(self._desk.ledger.turns)

    def say(self, text: str) -> None:
        """Tell a sentence."""
        self._desk.say(text)

    def narrate(self, text: str) -> None:
        """Tell what a screen shows without words."""
        self._desk.say(text)

    def tell_written(self, file: Path) -> None:
        """Tell that a file was written."""
        self._desk.say(f"Exported to {file}.")

    async def ask(self, question: CommandQuestion) -> str:
        """The id of the answer, "" for none."""
        return await self._desk.choice(question_of(question))

    async def replace(self, deed: Callable[[], Awaitable[None]]) -> None:
        """Do what puts another session in the place of this one: one thing is done at a time here."""
        await deed()

    def leave(self) -> None:
        """End the program."""
        self._leave()
