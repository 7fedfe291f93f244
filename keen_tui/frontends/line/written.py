"""Runs a line that answers no question: a message, a slash command, or a shell command of the user."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

from keen_tui.domain.errors import KeenError
from keen_tui.frontends.line.printer import LinePrinter
from keen_tui.frontends.line.ui import LineUi
from keen_tui.frontends.shared.commands.command import Command
from keen_tui.frontends.shared.commands.slash import Called, PromptCall

_OWN_COMMAND: Final = "!"
_HELP_SIGN: Final = "?"


class LineRouter:
    """Passes lines on.

    Args:
        heard: called with the line that a message was written as, if it is sent at once.
        suggest: puts a message back into the next line.
    """

    def __init__(
        self,
        ui: LineUi,
        heard: Callable[[str], None],
        suggest: Callable[[str], None],
    ) -> None:
        self._ui = ui
        self._heard = heard
        self._suggest = suggest

    async def do(self, text: str) -> None:
        """Run the line; prints why if that fails."""
        if not text.strip():
            return
        if prompts := self._ui.context.setup.prompts:
            prompts.sent(text)
        called = self._ui.slash.called("/help" if text.strip() == _HELP_SIGN else text)
        with refusal_told(self._ui.printer):
            if text.startswith(_OWN_COMMAND):
                self._run_own(text.removeprefix(_OWN_COMMAND).strip())
            elif called is None:
                self._submit(text, text)
            else:
                await self._call(called, text)

    async def _call(self, called: Called, typed: str) -> None:
        if called.message is not None:
            self._submit(called.message, typed)
        elif refusal := self._ui.slash.refusal(called):
            self._ui.printer.say(refusal)
        elif isinstance(called.what, PromptCall):
            await self._send_prompt(called.what, typed)
        elif isinstance(called.what, Command):
            await called.what.does(self._ui.context, called.words)
        else:
            self._ui.printer.say(f"/{called.name} needs the full screen: start keen-tui without --plain.")

    async def _send_prompt(self, call: PromptCall, typed: str) -> None:
        """Send the text of a server's prompt. `typed` comes back if there is none, and when the person stops
        waiting."""
        try:
            text = await call.text()
        except (KeenError, asyncio.CancelledError):
            self._suggest(typed)
            raise
        self._submit(text, typed)

    def _submit(self, text: str, typed: str) -> None:
        """Send the text. If that fails, `typed` comes back into the next line."""
        if self._ui.context.lacks_model:
            self._ui.printer.say("No model is chosen yet: choose one with /model. Your message is kept.")
            self._suggest(typed)
            return
        if not self._ui.context.session.running:
            self._heard(typed)
        self._ui.context.controls.submit(text)

    def _run_own(self, command: str) -> None:
        if command:
            self._ui.context.controls.run_own(command)
        else:
            self._ui.printer.say("Write a command after the !, for example: !git status")


@contextmanager
def refusal_told(printer: LinePrinter) -> Iterator[None]:
    """Inside, refusals are printed."""
    try:
        yield
    except KeenError as refused:
        printer.say(str(refused))
