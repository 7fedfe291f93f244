"""Messages that wait while a turn runs: for its next tool results, or for its end (turn.md rule 15)."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence

from keen_tui.domain.events import Event, QueueChanged


class MessageQueue:
    """Steered messages go into the running turn after its next tool results. Queued ones follow it, each as a
    turn of its own. Every change is published."""

    def __init__(self, publish: Callable[[Event], None]) -> None:
        self._publish = publish
        self._steered: deque[str] = deque()
        self._queued: deque[str] = deque()

    @property
    def queued(self) -> tuple[str, ...]:
        """Oldest first."""
        return tuple(self._queued)

    @property
    def steered(self) -> tuple[str, ...]:
        """Oldest first."""
        return tuple(self._steered)

    def queue(self, text: str) -> None:
        """Queue a message for after the turn."""
        self._queued.append(text)
        self._tell()

    def steer(self, text: str) -> None:
        """Steer with a message; "" for the oldest queued one, if any."""
        if text or self._queued:
            self._steered.append(text or self._queued.popleft())
            self._tell()

    def withdraw(self) -> str | None:
        """Take back the newest message, a queued one before a steered one; None if there is none."""
        waiting = self._queued or self._steered
        if not waiting:
            return None
        text = waiting.pop()
        self._tell()
        return text

    def at_boundary(self) -> tuple[str, ...]:
        """Take all steered messages: they go into the turn now."""
        texts = self.steered
        if texts:
            self._steered.clear()
            self._tell()
        return texts

    def put_back(self, texts: Sequence[str]) -> None:
        """These didn't go into the turn after all: they are steered before all others."""
        if texts:
            self._steered.extendleft(reversed(texts))
            self._tell()

    def at_end(self) -> None:
        """The turn has ended: steered messages that were not sent go to the front of the queue."""
        if self._steered:
            self._queued.extendleft(reversed(self._steered))
            self._steered.clear()
            self._tell()

    def next(self) -> str | None:
        """The message that begins the next turn, None if there is none."""
        if not self._queued:
            return None
        text = self._queued.popleft()
        self._tell()
        return text

    def forget(self) -> None:
        """Clear everything, since another session begins; the screen keeps what was waiting."""
        self._queued.clear()
        self._steered.clear()

    def _tell(self) -> None:
        self._publish(QueueChanged(texts=self.queued, steered=self.steered))
