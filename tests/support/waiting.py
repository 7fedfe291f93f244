"""Waiting for a state: the one loop for that, with an event loop and without.

Machines are shared, so the limit says nothing about the program: it ends a test whose state never comes.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable

LIMIT = 180.0
"""Seconds that a test waits for a state before it fails."""

_BETWEEN_LOOKS = 0.01


async def a_moment() -> None:
    """Let other programs and threads work."""
    await asyncio.sleep(_BETWEEN_LOOKS)


async def one_round() -> None:
    """Let everything else that is ready in the event loop run once."""
    await asyncio.sleep(0)


async def until(
    holds: Callable[[], object],
    *,
    moment: Callable[[], Awaitable[object]] = a_moment,
    says: Callable[[], str] = str,
) -> None:
    """Wait until it holds. `moment` passes the time between two looks, or does what brings the state about.

    Raises:
        TimeoutError: it never held; with the words that `says` gives then.
    """
    end = time.monotonic() + LIMIT
    while not holds():
        if time.monotonic() > end:
            raise TimeoutError(f"waited in vain {says()}")
        await moment()


def wait_until(
    holds: Callable[[], object],
    *,
    moment: Callable[[], object] = lambda: time.sleep(_BETWEEN_LOOKS),
    says: Callable[[], str] = str,
    limit: float = LIMIT,
) -> None:
    """`until` where no event loop runs; `limit` in seconds."""
    end = time.monotonic() + limit
    while not holds():
        if time.monotonic() > end:
            raise TimeoutError(f"waited in vain {says()}")
        moment()
