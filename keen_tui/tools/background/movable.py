"""The output of a command that a call waits for, and that may go to the background while it runs."""

from __future__ import annotations

import threading
from collections.abc import Callable

from keen_tui.tools.background.held_output import HeldOutput
from keen_tui.tools.process.command_output import CommandOutput


class MovableOutput:
    """Passes output on to the call, or later to the command in the background. No byte is lost or doubled."""

    def __init__(self, output: CommandOutput) -> None:
        self._output = output
        self._lock = threading.Lock()
        self._feed: Callable[[bytes], None] = output.feed

    def feed(self, chunk: bytes) -> None:
        """Add output. May be called in another thread."""
        with self._lock:
            self._feed(chunk)

    def move(self) -> HeldOutput:
        """What the command in the background holds from now on."""
        with self._lock:
            held = HeldOutput.continuing(self._output.handed_over())
            self._feed = held.feed
        return held

    def pass_to(self, feed: Callable[[bytes], None]) -> None:
        """Pass new output on to this."""
        with self._lock:
            self._feed = feed
