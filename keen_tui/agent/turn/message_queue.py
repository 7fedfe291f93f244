"""Messages that wait while a turn runs: for its next tool boundary, or for its end (turn.md rule 15)."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

from keen_tui.domain.events import Event, QueueChanged


class MessageQueue:
    """Steered messages go into the running turn behind its next tool results. Queued ones go after it, each
    as a turn of its own. Every change is published."""

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
        """For after the turn."""
        self._queued.append(text)
        self._tell()

    def steer(self, text: str) -> None:
        """For the next tool boundary; "" for the oldest that is queued, if there is one."""
        if text or self._queued:
            self._steered.append(text or self._queued.popleft())
            self._tell()

    def withdraw(self) -> str | None:
        """Take the newest message back, a queued one before a steered one; None where none waits."""
        waiting = self._queued or self._steered
        if not waiting:
            return None
        text = waiting.pop()
        self._tell()
        return text

    def at_boundary(self) -> tuple[str, ...]:
        """All that is steered: it goes into the turn now."""
        texts = self.steered
        if texts:
            self._steered.clear()
            self._tell()
        return texts

    def at_end(self) -> None:
        """The turn has ended: what found no boundary is queued, before all else."""
        if self._steered:
            self._queued.extendleft(reversed(self._steered))
            self._steered.clear()
            self._tell()

    def next(self) -> str | None:
        """The message that begins the next turn, None where none waits."""
        if not self._queued:
            return None
        text = self._queued.popleft()
        self._tell()
        return text

    def forget(self) -> None:
        """Another session begins; the screen has kept what was waiting."""
        self._queued.clear()
        self._steered.clear()

    def _tell(self) -> None:
        self._publish(QueueChanged(texts=self.queued, steered=self.steered))
