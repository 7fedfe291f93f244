"""Counts the points at which the tasks of an event loop wait, and does something at one of them.

A stop can take effect only at such a point, since between two of them nothing else runs. So trying all points
tries every moment, as SQLite's tests try every allocation that may fail.
"""

from __future__ import annotations

import asyncio
import types
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from typing import Any


class Suspensions:
    """The points at which tasks created inside `watching` wait. At number `at`, counted from one, `act` is
    called."""

    def __init__(self, at: int = 0, act: Callable[[], None] = lambda: None) -> None:
        self.count = 0
        self._at = at
        self._act = act

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Count in the running event loop."""
        loop = asyncio.get_running_loop()
        before = loop.get_task_factory()
        loop.set_task_factory(self._make)
        try:
            yield
        finally:
            loop.set_task_factory(before)

    def _make(self, loop: asyncio.AbstractEventLoop, job: Any, **more: Any) -> asyncio.Task[Any]:
        task: asyncio.Task[Any] = asyncio.Task(self._run(job), loop=loop, **more)
        task.add_done_callback(lambda _: job.close())  # it hasn't begun if the task was cancelled before
        return task

    async def _run(self, job: Any) -> Any:
        return await self._counted(job)

    @types.coroutine
    def _counted(self, job: Any) -> Generator[Any, Any, Any]:
        value: Any = None
        error: BaseException | None = None
        while True:
            try:
                waits_for = job.send(value) if error is None else job.throw(error)
            except StopIteration as end:
                return end.value
            self.count += 1
            if self.count == self._at:
                self._act()
            value = error = None
            try:
                value = yield waits_for
            except BaseException as raised:
                error = raised
