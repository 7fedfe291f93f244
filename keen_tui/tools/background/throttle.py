"""Limits how often changes are reported."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Final

INTERVAL: Final = 0.5
"""Seconds between a change that can wait and its report."""


class Throttle:
    """Calls `tell` in the event loop, at most once per `INTERVAL` for changes that can wait. No timer runs
    while nothing changes."""

    def __init__(self, tell: Callable[[], None]) -> None:
        self._tell = tell
        self._lock = threading.Lock()
        self._is_due = False
        self._timer: asyncio.TimerHandle | None = None

    def soon(self, loop: asyncio.AbstractEventLoop) -> None:
        """Report within `INTERVAL`. Thread-safe."""
        with self._lock:
            was_due, self._is_due = self._is_due, True
        if not was_due:
            with suppress(RuntimeError):  # the loop is closed: the program ends
                loop.call_soon_threadsafe(self._wait, loop)

    def now(self) -> None:
        """Report at once, together with a report that was due."""
        self.stop()
        self._tell()

    def stop(self) -> None:
        """Drop a report that is due."""
        if self._timer:
            self._timer.cancel()
        with self._lock:
            self._is_due = False

    def _wait(self, loop: asyncio.AbstractEventLoop) -> None:
        self._timer = loop.call_later(INTERVAL, self._due)

    def _due(self) -> None:
        if self._is_due:
            self.now()
