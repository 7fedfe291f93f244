"""The clock that times a session's work: it stands still while the person is asked."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager


class WorkClock:
    """Gives seconds and never goes back, like the clock that it is based on."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._waited = 0.0
        self._waiting_since: float | None = None
        self._one_question = asyncio.Lock()

    def __call__(self) -> float:
        now = self._clock() if self._waiting_since is None else self._waiting_since
        return now - self._waited

    @asynccontextmanager
    async def standing(self) -> AsyncIterator[None]:
        """A context in which no time passes. It is entered by one question at a time; others wait."""
        async with self._one_question:
            self._waiting_since = self._clock()
            try:
                yield
            finally:
                self._waited += self._clock() - self._waiting_since
                self._waiting_since = None
