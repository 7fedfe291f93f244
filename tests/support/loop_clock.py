"""Moves the clock of the running event loop forward: time passes for its timers only."""

from __future__ import annotations

import asyncio
from collections.abc import Callable


class LoopClock:
    """Create it inside a running loop that ends with the test."""

    def __init__(self) -> None:
        self._ahead = 0.0
        loop = asyncio.get_running_loop()
        moving: Callable[[], float] = loop.time
        loop.time = lambda: moving() + self._ahead  # type: ignore[method-assign]

    async def move(self, seconds: float) -> None:
        """Let seconds pass, and let the due timers run."""
        self._ahead += seconds
        for _ in range(3):
            await asyncio.sleep(0)
