"""Says how much of a page has arrived, if it takes long."""

from __future__ import annotations

import asyncio
from types import TracebackType
from typing import Final

from keen_tui.text.units import size
from keen_tui.tools.process.captured import OutputSink

INTERVAL: Final = 1.0
"""Seconds before the first line of progress, and between two."""


class DownloadProgress:
    """Reports the progress of one download while it is entered."""

    def __init__(self, on_output: OutputSink, interval: float = INTERVAL) -> None:
        self._on_output = on_output
        self._interval = interval
        self._arrived = 0
        self._lines = 0
        self._due: asyncio.TimerHandle | None = None

    def note(self, arrived: int) -> None:
        """Note the bytes that have arrived so far."""
        self._arrived = arrived

    def __enter__(self) -> DownloadProgress:
        self._wait()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._due:
            self._due.cancel()

    def _wait(self) -> None:
        self._due = asyncio.get_running_loop().call_later(self._interval, self._report)

    def _report(self) -> None:
        self._lines += 1
        words = f"{size(self._arrived)} so far" if self._arrived else "waiting for the server"
        self._on_output(f"{words}\n", self._lines, self._arrived)
        self._wait()
