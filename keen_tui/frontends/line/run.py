"""Start and end of plain mode: the main thread reads the terminal, and another thread does everything
else."""

from __future__ import annotations

import asyncio
import sys
import threading
from contextlib import suppress

from keen_tui.frontends.line.conversation import LineFrontEnd
from keen_tui.frontends.line.keyboard import Keyboard, Typed
from keen_tui.frontends.line.printer import LinePrinter
from keen_tui.frontends.shared.commands.work_tree import parting
from keen_tui.frontends.shared.port import FrontEndSetup
from keen_tui.system.last_resort import end_at_last


def run_plain(setup: FrontEndSetup) -> None:
    """Run until the person leaves or a signal ends it; then stop the session's turn and close the session.

    Raises:
        KeenError: the session can't be started.
    """
    if hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(errors="replace")  # in a terminal without UTF-8
    _Talk(setup).hold()


class _Talk:
    def __init__(self, setup: FrontEndSetup) -> None:
        self._setup = setup
        self._keyboard = Keyboard()
        self._printer = LinePrinter(sys.stdout, self._keyboard.make_room)
        self._ready = threading.Event()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._conversation: LineFrontEnd | None = None
        self._failure: BaseException | None = None

    def hold(self) -> None:
        thread = threading.Thread(target=self._work, name="conversation")
        with self._keyboard.signals():
            thread.start()
            self._ready.wait()
            self._keyboard.serve(self._hand_over)
            thread.join()
        if self._failure:
            raise self._failure

    def _hand_over(self, typed: Typed) -> None:
        if self._loop and self._conversation:
            with suppress(RuntimeError):  # the loop is closed: the program is ending
                self._loop.call_soon_threadsafe(self._conversation.press, typed)

    def _work(self) -> None:
        try:
            asyncio.run(self._converse())
        except BaseException as error:
            self._failure = error
        finally:
            self._ready.set()
            self._keyboard.close()

    async def _converse(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._conversation = LineFrontEnd(self._setup, self._printer, self._keyboard.ask)
        self._ready.set()
        try:
            await self._conversation.run()
        finally:
            self._keyboard.close()
            self._conversation.keep_unsent()
            if self._conversation.was_cut_off:
                self._keep_unasked()
            await self._close(self._conversation.turns)

    def _keep_unasked(self) -> None:
        """Nobody has left: end in any case, and let the turn be continued."""
        end_at_last()
        if self._setup.history:
            self._setup.history.keep_unasked()

    async def _close(self, turns: int) -> None:
        """Close the session, and say how to resume it or what couldn't be saved."""
        if self._setup.runs:
            self._setup.runs.leave()
        await self._setup.session.close()
        if self._setup.prompts:
            await self._setup.prompts.close()
        history = self._setup.history
        problem = await history.close() if history else ""
        way_back = ""
        if problem:
            self._printer.say(problem)
        elif history and turns and (flags := self._setup.flags):
            way_back = f"Continue with: keen-tui --plain {flags}--continue"
        elif history and turns:
            ways = f"keen-tui --plain --continue, or keen-tui --plain --resume {history.session_id}"
            way_back = f"Continue with: {ways}"
        if said := await parting(self._setup, way_back):
            self._printer.say(said)
