"""Holds requests to a model server back during a rate limit. A session and its sub-agents share one `Pace`,
so a limit holds for all of them and counts once."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress


class Pace:
    """Holds requests back during a rate limit. After it, one request goes first.

    Args:
        clock: gives seconds and never goes back.

    `limits` is the number of rate limits so far. The failure of a request that was sent before the newest
    limit says nothing new.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self.limits = 0
        self._clock = clock
        self._is_limited = False
        self._free_at = 0.0
        self._goes_ahead = False
        self._changed = asyncio.Event()

    @property
    def seconds_left(self) -> float:
        """Seconds until a request may be sent; 0 if it may be sent at once."""
        return max(self._free_at - self._clock(), 0.0) if self._is_limited else 0.0

    @asynccontextmanager
    async def request(self) -> AsyncIterator[int]:
        """A context for one request, entered when the request may be sent. Gives `limits` at that time."""
        goes_ahead = await self._wait()
        try:
            yield self.limits
        finally:
            if goes_ahead:
                self._goes_ahead = False
                self._tell()

    def passed(self) -> None:
        """Call this when the server has accepted a request: the others may be sent too."""
        if self._is_limited:
            self._is_limited = False
            self._tell()

    def limit(self, seconds: float) -> None:
        """Call this when the server limits the rate: nothing is sent for so many seconds."""
        self.limits += 1
        self._is_limited = True
        self._free_at = max(self._free_at, self._clock() + seconds)
        self._tell()

    def free(self) -> None:
        """End the wait: the next request may be sent at once."""
        self._free_at = 0.0
        self._tell()

    async def _wait(self) -> bool:
        """Wait until a request may be sent. True if it goes first and the others wait for it."""
        while self._is_limited:
            if not self.seconds_left and not self._goes_ahead:
                self._goes_ahead = True
                return True
            await self._wait_for_change(self.seconds_left or None)
        return False

    def _tell(self) -> None:
        self._changed.set()
        self._changed = asyncio.Event()

    async def _wait_for_change(self, seconds: float | None) -> None:
        changed = self._changed
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await changed.wait()
