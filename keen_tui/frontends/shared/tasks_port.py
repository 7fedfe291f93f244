"""The commands in the background, as a front end sees them."""

from __future__ import annotations

from typing import Protocol

from keen_tui.domain.background import TaskReport


class TasksPort(Protocol):
    """Commands that go on after their calls."""

    def tasks(self) -> tuple[TaskReport, ...]:
        """All that are known, the newest first."""

    def output(self, id: str) -> str:
        """The end of its output, cleaned. Raises SessionRefused: there is none of this id."""

    def move(self) -> None:
        """Let the running command go on in the background. Raises SessionRefused: there is none, or it can't
        be moved now."""

    async def stop(self, id: str) -> str:
        """End it; returns a sentence. Raises SessionRefused: there is none of this id."""
