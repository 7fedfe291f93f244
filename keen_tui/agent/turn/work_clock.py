"""The clock that times a session's work: it stands still while the person is asked."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager


class WorkClock:
    """Gives seconds and never goes back, like the clock that it is based on."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._waited = 0.0
        self._waiting_since: float | None = None

    def __call__(self) -> float:
        now = self._clock() if self._waiting_since is None else self._waiting_since
        return now - self._waited

    @contextmanager
    def standing(self) -> Iterator[None]:
        """A context in which no time passes. One question is open at a time."""
        self._waiting_since = self._clock()
        try:
            yield
        finally:
            self._waited += self._clock() - self._waiting_since
            self._waiting_since = None
