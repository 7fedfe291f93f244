"""When a failed model call is tried again, and after how long."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable
from contextlib import suppress

from msgspec import Struct

from keen_tui.domain.errors import ProviderError


class RetryPolicy(Struct, frozen=True, kw_only=True):
    """Attempts per step, and the waits between them in seconds (turn.md, "Automatic retry").

    `rate_limit_wait` is the sum of all waits of a step for a rate limit whose server names no time: such
    limits count requests or tokens per minute.
    """

    attempts: int = 4
    first_delay: float = 0.5
    longest_delay: float = 8.0
    longest_retry_after: float = 120.0
    rate_limit_wait: float = 120.0
    jitter: Callable[[], float] = random.random
    """Returns a number from 0 to 1 that spreads the waits."""

    def most_attempts(self, error: ProviderError) -> int:
        """The attempts at a step that failed so."""
        return min(self.attempts, error.attempts or self.attempts)

    def delay(self, attempt: int, error: ProviderError) -> float | None:
        """Seconds to wait after `attempt` failed, or None if it isn't tried again."""
        if not error.retryable or attempt >= self.most_attempts(error):
            return None
        if error.retry_after is not None:
            return error.retry_after if error.retry_after <= self.longest_retry_after else None
        if error.rate_limited:
            return self._rate_limit_delay(attempt) * (0.75 + 0.25 * self.jitter())
        backoff = min(self.first_delay * 2.0 ** (attempt - 1), self.longest_delay)
        return backoff * (0.75 + 0.5 * self.jitter())

    def _rate_limit_delay(self, attempt: int) -> float:
        """Each wait is three times as long as the one before it. Together they take `rate_limit_wait`; no
        single one takes more than half of that."""
        waits = self.attempts - 1
        share = 3.0 ** (attempt - 1) / ((3.0**waits - 1) / 2)
        return self.rate_limit_wait * min(share, 0.5)

    def explain(self, error: ProviderError) -> str:
        """The error as a sentence, with the requested wait if that is too long."""
        if error.retryable and (error.retry_after or 0.0) > self.longest_retry_after:
            return (
                f"{error} The server asks Keen to wait {error.retry_after:.0f} s; "
                f"Keen waits {self.longest_retry_after:.0f} s at most."
            )
        return str(error)


class RetryWait:
    """The wait before another attempt; it can be ended early."""

    def __init__(self) -> None:
        self._ended: asyncio.Event | None = None

    async def wait(self, seconds: float) -> bool:
        """Wait for so many seconds, or until `end` is called; True: it was."""
        self._ended = ended = asyncio.Event()
        try:
            with suppress(TimeoutError):
                async with asyncio.timeout(seconds):
                    await ended.wait()
        finally:
            self._ended = None
        return ended.is_set()

    def end(self) -> bool:
        """Make the attempt now. False if nothing is waiting."""
        if self._ended is None:
            return False
        self._ended.set()
        return True
