"""The output of a command that can move to the background while it runs."""

from __future__ import annotations

import threading
from collections.abc import Callable

from keen_tui.tools.background.task_record import HeldOutput
from keen_tui.tools.process.command_output import CommandOutput


class MovableOutput:
    """Passes output to the call, and after a move to the command in the background. No byte is lost or
    repeated."""

    def __init__(self, output: CommandOutput) -> None:
        self._output = output
        self._lock = threading.Lock()
        self._feed: Callable[[bytes], None] = output.feed

    def feed(self, chunk: bytes) -> None:
        """Add output. Thread-safe."""
        with self._lock:
            self._feed(chunk)

    def move(self) -> HeldOutput:
        """Move the output so far to a `HeldOutput`, which gets the rest too."""
        with self._lock:
            held = HeldOutput.continuing(self._output.handed_over())
            self._feed = held.feed
        return held

    def pass_to(self, feed: Callable[[bytes], None]) -> None:
        """Pass new output to this function."""
        with self._lock:
            self._feed = feed
