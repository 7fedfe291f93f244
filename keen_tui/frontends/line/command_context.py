"""What every command has at hand."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path

from keen_tui.frontends.line.asking import question_of
from keen_tui.frontends.line.printer import LinePrinter
from keen_tui.frontends.line.questions import LineAnswer, LineQuestion, OpenQuestions
from keen_tui.frontends.line.session_stats import SessionStats
from keen_tui.frontends.shared.command import CommandContext, controls_of
from keen_tui.frontends.shared.port import FrontEndSetup, SessionControls, WatchedSession
from keen_tui.frontends.shared.questions import CommandQuestion


class LineContext:
    """The session and what belongs to it, a printer, and somebody to ask.

    `shared` is what the commands of both front ends work with.
    """

    def __init__(
        self,
        setup: FrontEndSetup,
        printer: LinePrinter,
        questions: OpenQuestions,
        stats: SessionStats,
        leave: Callable[[], None],
    ) -> None:
        self.setup = setup
        self.printer = printer
        self.stats = stats
        self._questions = questions
        self.shared = CommandContext(
            ui=LineUi(self, leave),
            session=setup.session,
            controls=setup.controls,
            history=setup.history,
            keeps_pending=setup.keeps_pending,
        )

    @property
    def session(self) -> WatchedSession:
        return self.setup.session

    @property
    def controls(self) -> SessionControls:
        """The controls of the session. Raises SessionRefused: it has none."""
        return controls_of(self.shared)

    def say(self, *lines: str | None) -> None:
        """Tell these lines."""
        self.printer.say(*lines)

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

    def __init__(self, context: LineContext, leave: Callable[[], None]) -> None:
        self._context = context
        self._leave = leave

    @property
    def turns(self) -> tuple[int, ...]:
        """The numbers of the turns of the session."""
        return tuple(self._context.stats.turns)

    def say(self, text: str) -> None:
        """Tell a sentence."""
        self._context.say(text)

    def narrate(self, text: str) -> None:
        """Tell what a screen shows without words."""
        self._context.say(text)

    def tell_written(self, file: Path) -> None:
        """Tell that a file was written."""
        self._context.say(f"Exported to {file}.")

    async def ask(self, question: CommandQuestion) -> str:
        """The id of the answer, "" for none."""
        return await self._context.choice(question_of(question))

    async def replace(self, handler: Callable[[], Awaitable[None]]) -> None:
        """Do what puts another session in the place of this one: one thing is done at a time here."""
        await handler()

    def leave(self) -> None:
        """End the program."""
        self._leave()
