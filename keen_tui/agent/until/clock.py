"""The clock of runs."""

from __future__ import annotations

import asyncio
import time
from typing import Final, Protocol

_AT_A_STRETCH: Final = 20.0
"""Seconds: a computer that slept wakes up late by no more."""


class RunClock(Protocol):
    """Tells the time, and waits for a time."""

    def now(self) -> float:
        """Seconds since the epoch."""

    async def sleep_until(self, when: float) -> None:
        """Wait until that time."""


class WallClock:
    """The clock of the system."""

    def now(self) -> float:
        return time.time()

    async def sleep_until(self, when: float) -> None:
        """Wait in short stretches: timers stand still while the computer sleeps."""
        while True:
            left = when - time.time()
            if left <= 0:
                return
            await asyncio.sleep(min(left, _AT_A_STRETCH))
