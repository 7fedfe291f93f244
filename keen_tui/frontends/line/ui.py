"""The line front end as commands see it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, TypeVar

from keen_tui.frontends.line.asking import question_of
from keen_tui.frontends.line.printer import LinePrinter
from keen_tui.frontends.line.questions import LineAnswer, LineQuestion, OpenQuestions
from keen_tui.frontends.shared.commands.command import CommandContext
from keen_tui.frontends.shared.commands.slash import SlashCommands
from keen_tui.frontends.shared.lines.session_stats import SessionStats
from keen_tui.frontends.shared.pages import Page
from keen_tui.frontends.shared.port import FrontEndSetup
from keen_tui.frontends.shared.questions import CommandQuestion, LeaveQuestion, TreeQuestion
from keen_tui.system.paths import home_relative

_Answer = TypeVar("_Answer")


class LineUi:
    """The line front end as commands see it; `context` is what they get.

    Args:
        leave: ends the program.
        suggest: puts text into the next line.
        pages: prints a page, and asks what it offers.
    """

    draft = ""
    """Always empty: a line is either being typed or sent."""

    def __init__(
        self,
        setup: FrontEndSetup,
        printer: LinePrinter,
        questions: OpenQuestions,
        stats: SessionStats,
        slash: SlashCommands,
        leave: Callable[[], None],
        suggest: Callable[[str], None],
        pages: Callable[[LineUi, Page], Awaitable[None]],
    ) -> None:
        self.context = CommandContext(self, setup)
        self.printer = printer
        self.stats = stats
        self.slash = slash
        self._leave = leave
        self.write = suggest
        self.asks_to_leave = False
        self._questions = questions
        self._pages = pages

    async def put(self, question: LineQuestion) -> LineAnswer | None:
        """The person's answer; None if the question was withdrawn."""
        return await self._questions.ask(question)

    async def choice(self, question: LineQuestion) -> str:
        """The id of the answer, "" for none."""
        answer = await self.put(question)
        return answer.id if answer else ""

    @property
    def turns(self) -> tuple[int, ...]:
        """The numbers of the turns of the session."""
        return tuple(self.stats.turns)

    @property
    def title(self) -> str:
        """The title of the session, "" while it has none."""
        return self.stats.title

    def say(self, text: str) -> None:
        """Print a sentence."""
        self.printer.say(text or None)

    def narrate(self, text: str) -> None:
        """Print something that a screen shows without words."""
        self.printer.say(text)

    def confirm(self, text: str) -> None:
        """Does nothing: the narrator prints the event."""

    def tell_written(self, file: Path) -> None:
        """Print that a file was written."""
        self.printer.say(f"Exported to {home_relative(file)}.")

    def leave(self, *, to_models: bool = False) -> None:
        """End the program."""
        self._leave()

    def apply_setting(self, name: str, value: Any) -> None:
        """Print that the setting takes effect at the next start."""
        self.printer.say("It takes effect at the next start.")

    async def ask(self, question: CommandQuestion) -> str:
        """The id of the answer, "" for none."""
        is_leaving = isinstance(question, LeaveQuestion | TreeQuestion)
        self.asks_to_leave = self.asks_to_leave or is_leaving
        try:
            return await self.choice(question_of(question))
        finally:
            self.asks_to_leave = self.asks_to_leave and not is_leaving

    async def show(self, page: Page) -> None:
        """Print a page, and ask what it offers."""
        await self._pages(self, page)

    async def wait(self, answer: Awaitable[_Answer], server: str) -> _Answer:
        """Wait for the server's answer."""
        return await answer

    async def replace(self, action: Callable[[], Awaitable[None]]) -> None:
        """Run an action that replaces the session. The line front end does one thing at a time."""
        await action()
