"""Runs that only note what they are told to do."""

from __future__ import annotations

import asyncio

from keen_tui.agent.until.progress import NO_RUN, RunProgress
from keen_tui.domain.errors import SessionRefused
from keen_tui.domain.runs import RunLimits


class FakeRuns:
    """`calls` is what was asked for, in order."""

    def __init__(self) -> None:
        self.calls: list[tuple[object, ...]] = []
        self.progress: RunProgress = NO_RUN
        self.is_driven = False
        self.is_left_over = False

    def begin(self, check: str, limits: RunLimits, task: str = "") -> None:
        if self.is_driven:
            raise SessionRefused("A run is already in progress: stop it first.")
        self.calls.append(("begin", check, limits))

    def go_on(self, limits: RunLimits | None = None) -> None:
        self.calls.append(("go on",))

    def stop(self) -> bool:
        if self.is_driven:
            self.calls.append(("stop",))
        return self.is_driven

    def leave(self) -> None:
        self.is_driven = False

    async def caught_up(self) -> None:
        """Everything is known."""

    async def follow(self) -> None:
        await asyncio.Event().wait()
