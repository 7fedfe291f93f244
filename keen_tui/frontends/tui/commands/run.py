"""Commands that both front ends have, run on the screen."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

from keen_tui.domain.errors import KeenError
from keen_tui.frontends.shared.command import Command, CommandContext, WordsRefused
from keen_tui.frontends.shared.port import HistoryPort, SessionControls
from keen_tui.frontends.shared.questions import CommandQuestion, LeaveQuestion
from keen_tui.frontends.tui.commands.switch import SessionSwitch
from keen_tui.frontends.tui.questions.confirm import question_of
from keen_tui.frontends.tui.workspace.view import WorkspaceView


class ScreenUi:
    """The screen as commands see it."""

    def __init__(self, view: WorkspaceView, switch: SessionSwitch) -> None:
        self._view = view
        self._switch = switch
        self._asked: CommandQuestion | None = None

    @property
    def asks_to_leave(self) -> bool:
        """Whether the question stands there whether to leave."""
        return isinstance(self._asked, LeaveQuestion)

    @property
    def turns(self) -> tuple[int, ...]:
        """The numbers of the turns of the session."""
        return tuple(row.turn for row in self._view.state.turns)

    def say(self, text: str) -> None:
        """Show a sentence above the composer."""
        self._view.say(text)

    def narrate(self, text: str) -> None:
        """Nothing: the screen shows it."""

    def tell_written(self, file: Path) -> None:
        """Say that a file was written."""
        folder = self._view.session.workspace
        self.say(f"exported to {file.relative_to(folder) if file.is_relative_to(folder) else file}")

    async def ask(self, question: CommandQuestion) -> str:
        """The id of the answer, "" for none."""
        self._asked = question
        try:
            return await self._view.ask(question_of(question))
        finally:
            if self._asked is question:
                self._asked = None

    async def replace(self, action: Callable[[], Awaitable[None]]) -> None:
        """Do what puts another session in the place of this one."""
        await self._switch.replace(action)

    def leave(self) -> None:
        """End the program."""
        self._view.app.exit()


class CommandRunner:
    """Runs commands. What can't be done is said, and words that say nothing come back into the composer."""

    def __init__(
        self,
        view: WorkspaceView,
        switch: SessionSwitch,
        controls: SessionControls | None,
        history: HistoryPort | None,
        *,
        keeps_pending: bool,
    ) -> None:
        self._view = view
        self.ui = ScreenUi(view, switch)
        self.context = CommandContext(
            ui=self.ui,
            session=view.session,
            controls=controls,
            history=history,
            keeps_pending=keeps_pending,
        )

    def start(self, command: Command, words: str = "") -> asyncio.Future[None]:
        """Run it beside everything else. Gives a future that is done when it asks or waits for something."""
        return self.attempt(command.does(self.context, words), f"/{command.slash[0]} {words}".strip())

    def attempt(self, action: Awaitable[None], written: str = "") -> asyncio.Future[None]:
        """Do this in the same way; `written` called it."""

        async def done() -> None:
            try:
                await action
            except WordsRefused as refused:
                self._view.prompt.write(written)
                self._view.say(str(refused))
            except KeenError as refused:
                self._view.say(str(refused))

        return self._view.start(done())
