"""Runs commands that all front ends have."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable

from keen_tui.domain.errors import KeenError
from keen_tui.frontends.shared.commands.command import Command, CommandContext, WordsRefused
from keen_tui.frontends.tui.workspace.view import WorkspaceView


class CommandRunner:
    """Runs commands. Shows why one fails, and puts wrong arguments back into the composer."""

    def __init__(self, view: WorkspaceView, context: CommandContext) -> None:
        self._view = view
        self.context = context

    def start(self, command: Command, words: str = "") -> asyncio.Future[None]:
        """Run a command in the background. Returns a future that is done once the command asks or waits for
        something."""
        if command.restarts:
            self._view.cancel_work(command.id)
        written = f"/{command.slash[0]} {words}".strip()
        return self.attempt(command.does(self.context, words), written, name=command.id)

    def attempt(
        self, action: Awaitable[None], written: str = "", *, name: str = "command"
    ) -> asyncio.Future[None]:
        """Run an action in the same way; `written` is the text that called it."""

        async def done() -> None:
            try:
                await action
            except WordsRefused as refused:
                self._view.prompt.write(written)
                self._view.say(str(refused))
            except KeenError as refused:
                self._view.say(str(refused))

        return self._view.start(done(), name)
