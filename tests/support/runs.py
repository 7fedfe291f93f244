"""A run in this process, with a clock whose hours pass at once."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from keen_tui.agent.session import Session
from keen_tui.agent.until.clock import RunClock
from keen_tui.agent.until.driver import RunDriver
from keen_tui.domain.events import RunEnded
from keen_tui.domain.runs import RunLimits, RunReport
from tests.support.agent import EventLog
from tests.support.saving import SavedBench


@dataclass(slots=True)
class SkippingClock:
    """Waits are over at once, and time has passed. `held`: no wait ends until it is released."""

    time: float = 1_000_000.0
    waits: list[float] = field(default_factory=list)
    released: asyncio.Event = field(default_factory=asyncio.Event)

    def __post_init__(self) -> None:
        self.released.set()

    def now(self) -> float:
        return self.time

    async def sleep_until(self, when: float) -> None:
        self.waits.append(max(when - self.time, 0.0))
        await self.released.wait()
        await asyncio.sleep(0)
        self.time = max(self.time, when)


@asynccontextmanager
async def driven(
    session: Session, bench: SavedBench | None = None, clock: RunClock | None = None
) -> AsyncIterator[RunDriver]:
    """The driver of the session's run, at work. What the session did before this isn't known to it."""
    driver = RunDriver(session, bench.history if bench else None, clock or SkippingClock())
    following = asyncio.create_task(driver.follow())
    try:
        yield driver
    finally:
        driver.leave()
        following.cancel()
        await asyncio.wait({following})


async def run_to_end(
    driver: RunDriver, log: EventLog, check: str, task: str = "", **limits: float
) -> RunReport:
    """Begin a run and wait for its report."""
    before = len(log.of(RunEnded))
    driver.begin(check, RunLimits(**limits), task)  # type: ignore[arg-type]
    return (await log.wait_for(RunEnded, before + 1)).report
