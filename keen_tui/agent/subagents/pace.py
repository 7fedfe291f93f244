"""When a model server takes the next request, once it has limited their rate. A session and its sub-agents
share this, so that a limit slows all of them down and counts once."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress


class Pace:
    """Holds requests back while a rate limit lasts. Then one goes ahead of the others.

    Args:
        clock: gives seconds and never goes back.

    `limits` is the number of times that the server has limited the rate. A request that was sent before the
    newest time tells nothing new.
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
        """How long nothing may be sent."""
        return max(self._free_at - self._clock(), 0.0) if self._is_limited else 0.0

    @asynccontextmanager
    async def request(self) -> AsyncIterator[int]:
        """A context for a request; it is entered when the request may be sent. Gives `limits` of then."""
        goes_ahead = await self._wait()
        try:
            yield self.limits
        finally:
            if goes_ahead:
                self._goes_ahead = False
                self._tell()

    def passed(self) -> None:
        """The server has taken a request: all others may be sent, too."""
        if self._is_limited:
            self._is_limited = False
            self._tell()

    def limit(self, seconds: float) -> None:
        """The server has limited the rate: send nothing for so many seconds."""
        self.limits += 1
        self._is_limited = True
        self._free_at = max(self._free_at, self._clock() + seconds)
        self._tell()

    def free(self) -> None:
        """Send the next request now."""
        self._free_at = 0.0
        self._tell()

    async def _wait(self) -> bool:
        """Wait until a request may be sent; True: it goes ahead of the others."""
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
