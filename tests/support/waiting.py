"""Waits for a state, with an event loop and without one.

Machines are shared, so the limit says nothing about the program: it only ends a test whose state never comes.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Protocol

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
    """Wait until it holds. `moment` passes the time between two checks, or does something towards the state.

    Raises:
        TimeoutError: it never held; the message has the text of `says`.
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


class Idling(Protocol):
    """A session, as far as waiting for it needs it."""

    @property
    def running(self) -> bool:
        """Whether a turn, a summary or a command runs."""


async def until_idle(session: Idling) -> None:
    """Wait until the session runs nothing, and its last events are published."""
    await until(lambda: not session.running)
    await a_moment()
