"""Short jobs that nobody waits for before the end."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine


class BackgroundJobs:
    """Runs short jobs beside what a session does. Only the end of the session waits for them."""

    def __init__(self) -> None:
        self._tasks: set[asyncio.Task[None]] = set()

    def add(self, job: Coroutine[None, None, None]) -> None:
        """Run it."""
        task = asyncio.create_task(job)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def wait(self) -> None:
        """Wait until all jobs have ended."""
        await asyncio.gather(*self._tasks)

    async def cancel(self) -> None:
        """Cancel all jobs and wait until they have ended."""
        for task in self._tasks:
            task.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks)
