"""The screen as commands see it that all front ends have."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, TypeVar

from keen_tui.frontends.shared.commands.memory import CONTEXT
from keen_tui.frontends.shared.pages import Page
from keen_tui.frontends.shared.questions import (
    CommandQuestion,
    LeaveQuestion,
    MemoryQuestion,
    TreeQuestion,
    UndoQuestion,
)
from keen_tui.frontends.tui.commands.pages import WorkspacePages
from keen_tui.frontends.tui.commands.switch import SessionSwitch
from keen_tui.frontends.tui.questions.confirm import question_of
from keen_tui.frontends.tui.workspace.view import WorkspaceView, keen_of
from keen_tui.system.paths import home_relative

_Answer = TypeVar("_Answer")


class ScreenUi:
    """The screen as commands see it.

    Args:
        pages: returns the opener of pages, which is created after this object.
    """

    def __init__(
        self, view: WorkspaceView, switch: SessionSwitch, pages: Callable[[], WorkspacePages]
    ) -> None:
        self._view = view
        self._switch = switch
        self._pages = pages
        self._asked: CommandQuestion | None = None

    @property
    def asks_to_leave(self) -> bool:
        """Whether the question about leaving is open."""
        return isinstance(self._asked, LeaveQuestion | TreeQuestion)

    @property
    def turns(self) -> tuple[int, ...]:
        """The numbers of the turns of the session."""
        return tuple(row.turn for row in self._view.state.turns)

    @property
    def title(self) -> str:
        """The title of the session, as the header shows it."""
        return self._view.header.title

    @property
    def draft(self) -> str:
        """The text in the composer."""
        return self._view.prompt.written

    def say(self, text: str) -> None:
        """Show a sentence above the composer."""
        self._view.say(text)

    def narrate(self, text: str) -> None:
        """Does nothing: the screen shows it."""

    def confirm(self, text: str) -> None:
        """Show a sentence above the composer."""
        self._view.say(text)

    def tell_written(self, file: Path) -> None:
        """Say that a file was written."""
        self.say(f"Exported to {home_relative(file)}.")

    def write(self, text: str) -> None:
        """Put text into the composer."""
        self._view.prompt.write(text)

    def apply_setting(self, name: str, value: Any) -> None:
        """Let a setting of the screen take effect now."""
        keen_of(self._view).apply_setting(name, value)

    async def ask(self, question: CommandQuestion) -> str:
        """The id of the answer, "" for none."""
        if isinstance(question, UndoQuestion):
            return await self._pages().ask_undo(question)
        if isinstance(question, MemoryQuestion):
            self._view.run(CONTEXT.id)
            return ""
        self._asked = question
        try:
            return await self._view.ask(question_of(question))
        finally:
            if self._asked is question:
                self._asked = None

    async def show(self, page: Page) -> None:
        """Open a page over the workspace."""
        self._pages().open(page)

    async def wait(self, answer: Awaitable[_Answer], server: str) -> _Answer:
        """Wait for the server's answer; says every second how long that has taken."""
        from keen_tui.frontends.tui.pages.models.checking import told  # noqa: PLC0415 - not before the first paint

        return await told(answer, server, self._view.say)

    async def replace(self, action: Callable[[], Awaitable[None]]) -> None:
        """Run an action that replaces the session."""
        await self._switch.replace(action)

    def leave(self, *, to_models: bool = False) -> None:
        """End the program, or the tour."""
        self._view.app.exit("models" if to_models else "left")
