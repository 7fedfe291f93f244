"""The time limit of a command, which stops while a person is asked."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager


class TimeLimit:
    """A limit in seconds, None for none, for the total time spent `within`."""

    def __init__(self, seconds: float | None) -> None:
        self.seconds = seconds
        self._left = seconds
        self._timeout: asyncio.Timeout | None = None
        self._standing = 0

    @asynccontextmanager
    async def within(self) -> AsyncIterator[None]:
        """Raises TimeoutError if the time runs out inside."""
        try:
            async with asyncio.timeout(None if self._standing else self._left) as self._timeout:
                try:
                    yield
                finally:
                    self._stop()
        finally:
            self._timeout = None

    @contextmanager
    def standing(self) -> Iterator[None]:
        """Stop the clock inside. May be entered several times at once."""
        self._standing += 1
        if self._standing == 1:
            self._stop()
        try:
            yield
        finally:
            self._standing -= 1
            if not self._standing:
                self._go_on()

    @property
    def is_standing(self) -> bool:
        """Whether the clock is stopped, because a person is asked."""
        return self._standing > 0

    def lift(self) -> None:
        """Set no limit from now on."""
        self.seconds = self._left = None
        if self._timeout and not self._timeout.expired():
            self._timeout.reschedule(None)

    def expire(self) -> None:
        """Let the time run out now, for what runs `within` now or later."""
        self._left = 0.0
        if self._timeout and not self._timeout.expired():
            self._timeout.reschedule(asyncio.get_running_loop().time())

    def _stop(self) -> None:
        due = self._timeout.when() if self._timeout else None
        if self._timeout and due is not None and not self._timeout.expired():
            self._left = max(due - asyncio.get_running_loop().time(), 0.0)
            self._timeout.reschedule(None)

    def _go_on(self) -> None:
        if self._timeout and self._left is not None and not self._timeout.expired():
            self._timeout.reschedule(asyncio.get_running_loop().time() + self._left)
