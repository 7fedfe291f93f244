"""When a failed model call is tried again, and after how long."""

from __future__ import annotations

import random
from collections.abc import Callable

from msgspec import Struct

from keen_tui.errors import ProviderError


class RetryPolicy(Struct, frozen=True, kw_only=True):
    """Attempts a step, and the waits between them in seconds (turn.md, "Automatic retry")."""

    attempts: int = 4
    first_delay: float = 0.5
    longest_delay: float = 8.0
    longest_retry_after: float = 120.0
    jitter: Callable[[], float] = random.random
    """Gives a number from 0 to 1 that spreads the waits."""

    def delay(self, attempt: int, error: ProviderError) -> float | None:
        """Seconds to wait after `attempt` failed, or None when it is not tried again."""
        if not error.retryable or attempt >= self.attempts:
            return None
        if error.retry_after is not None:
            return error.retry_after if error.retry_after <= self.longest_retry_after else None
        backoff = min(self.first_delay * 2.0 ** (attempt - 1), self.longest_delay)
        return backoff * (0.75 + 0.5 * self.jitter())

    def explain(self, error: ProviderError) -> str:
        """The error as a sentence, with the wait that was asked for where that is too long."""
        if error.retryable and (error.retry_after or 0.0) > self.longest_retry_after:
            return (
                f"{error} The server asks to wait {error.retry_after:.0f} s, "
                f"more than the {self.longest_retry_after:.0f} s that are waited unasked."
            )
        return str(error)
