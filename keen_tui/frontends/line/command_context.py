"""What every command has at hand."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, TypeVar

from keen_tui.frontends.line.asking import question_of
from keen_tui.frontends.line.pages import show_page
from keen_tui.frontends.line.printer import LinePrinter
from keen_tui.frontends.line.questions import LineAnswer, LineQuestion, OpenQuestions
from keen_tui.frontends.line.session_stats import SessionStats
from keen_tui.frontends.shared.command import CommandContext
from keen_tui.frontends.shared.commands import SlashCommands
from keen_tui.frontends.shared.pages import Page
from keen_tui.frontends.shared.port import FrontEndSetup, SessionControls, WatchedSession
from keen_tui.frontends.shared.questions import CommandQuestion, LeaveQuestion

_Answer = TypeVar("_Answer")


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
        slash: SlashCommands,
        leave: Callable[[], None],
        suggest: Callable[[str], None],
    ) -> None:
        self.setup = setup
        self.printer = printer
        self.stats = stats
        self.slash = slash
        self._questions = questions
        self.ui = LineUi(self, leave, suggest)
        self.shared = CommandContext(self.ui, setup)

    @property
    def session(self) -> WatchedSession:
        return self.setup.session

    @property
    def controls(self) -> SessionControls:
        """The controls of the session. Raises SessionRefused: it has none."""
        return self.shared.controls

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
        suggest: puts text into the next line.
    """

    draft = ""
    """A line is written or sent."""

    def __init__(
        self, context: LineContext, leave: Callable[[], None], suggest: Callable[[str], None]
    ) -> None:
        self._context = context
        self._leave = leave
        self._suggest = suggest
        self.asks_to_leave = False

    @property
    def turns(self) -> tuple[int, ...]:
        """The numbers of the turns of the session."""
        return tuple(self._context.stats.turns)

    @property
    def title(self) -> str:
        """The title of the session, "" while it has none."""
        return self._context.stats.title

    def say(self, text: str) -> None:
        """Tell a sentence."""
        self._context.say(text or None)

    def narrate(self, text: str) -> None:
        """Tell what a screen shows without words."""
        self._context.say(text)

    def confirm(self, text: str) -> None:
        """Nothing: the event is told."""

    def tell_written(self, file: Path) -> None:
        """Tell that a file was written."""
        self._context.say(f"Exported to {file}.")

    def write(self, text: str) -> None:
        """Put text into the next line."""
        self._suggest(text)

    def apply_setting(self, name: str, value: Any) -> None:
        """Tell that it can't take effect now."""
        self._context.say("It takes effect from the next start on.")

    async def ask(self, question: CommandQuestion) -> str:
        """The id of the answer, "" for none."""
        is_leaving = isinstance(question, LeaveQuestion)
        self.asks_to_leave = self.asks_to_leave or is_leaving
        try:
            return await self._context.choice(question_of(question))
        finally:
            self.asks_to_leave = self.asks_to_leave and not is_leaving

    async def show(self, page: Page) -> None:
        """Tell a page, and ask what it offers."""
        await show_page(self._context, page)

    async def wait(self, answer: Awaitable[_Answer], server: str) -> _Answer:
        """What the server answers."""
        return await answer

    async def replace(self, action: Callable[[], Awaitable[None]]) -> None:
        """Do what puts another session in the place of this one: one thing is done at a time here."""
        await action()

    def leave(self) -> None:
        """End the program."""
        self._leave()
