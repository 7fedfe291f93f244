"""The clock of the running event loop, moved forward: time passes for its timers, and for nobody else."""

from __future__ import annotations

import asyncio
from collections.abc import Callable


class LoopClock:
    """Make it inside a running loop, which ends with the test."""

    def __init__(self) -> None:
        self._ahead = 0.0
        loop = asyncio.get_running_loop()
        moving: Callable[[], float] = loop.time
        loop.time = lambda: moving() + self._ahead  # type: ignore[method-assign]

    async def move(self, seconds: float) -> None:
        """Let seconds pass, and let what they bring about happen."""
        self._ahead += seconds
        for _ in range(3):
            await asyncio.sleep(0)
