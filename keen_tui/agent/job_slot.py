"""The one thing that a session runs at a time."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from functools import partial
from typing import Any, Final, Literal, TypeAlias

from keen_tui.domain.errors import SessionRefused

log = logging.getLogger(__name__)

JobKind: TypeAlias = Literal["turn", "summary", "command", "undo", "opening"]

_RUNNING: Final = {"summary": "A summary is being written", "command": "Your command is running"}
_A_TURN_RUNS: Final = "A turn is running"
_PATIENCE: Final = 10.0
"""Seconds that a stopped job has to end before another stop cancels it again."""


class JobSlot:
    """Holds the one thing that runs: a turn, a summary, a command of the user, an undo, or the opening of
    another session. `kind` says which; None while the slot is empty."""

    def __init__(self) -> None:
        self.kind: JobKind | None = None
        self._task: asyncio.Task[Any] | None = None
        self._stopping = False
        self._may_be_stopped = False
        self._stop_again_at = 0.0
        self._halting = False

    @property
    def taken(self) -> bool:
        """Whether something runs, or `halt` waits for it to end."""
        return self.kind is not None or self._halting

    @property
    def halting(self) -> bool:
        """Whether `halt` waits. Nothing may start then."""
        return self._halting

    @property
    def stopping(self) -> bool:
        """Whether the job was told to stop, or can't be stopped. Holds until the next one starts."""
        return self._stopping

    def require_empty(self, action: str) -> None:
        """Raises SessionRefused unless the slot is empty. The message says what runs and what to do about
        it."""
        if self.taken:
            raise SessionRefused(
                f"{_RUNNING.get(self.kind or '', _A_TURN_RUNS)}: stop it first, then {action}."
            )

    def start(
        self, kind: JobKind, job: Coroutine[Any, Any, None], name: str, on_bug: Callable[[str], None]
    ) -> None:
        """Start the job. It empties the slot itself before its last events. If a bug ends it earlier, the
        slot is emptied and `on_bug` gets a sentence."""
        self._enter(kind, asyncio.create_task(job, name=name), stopping=False)
        assert self._task
        self._task.add_done_callback(partial(self._end_by_bug, on_bug))

    def leave(self) -> None:
        """Mark the job as over: the next one may start."""
        self.kind = self._task = None

    def stop(self) -> None:
        """Cancel the job. A repeated stop cancels it again only after a while. No effect on an undo or the
        opening of a session, or if nothing runs."""
        loop = asyncio.get_running_loop()
        if self._task and self._may_be_stopped and loop.time() >= self._stop_again_at:
            self._stopping, self._stop_again_at = True, loop.time() + _PATIENCE
            # Not at once: a task that was never entered would be cancelled without an end event.
            loop.call_soon(self._task.cancel)

    async def run_to_end(self, kind: JobKind, job: Coroutine[Any, Any, None], name: str) -> None:
        """Run a job that can't be stopped, to its end even if the caller is cancelled. It empties the slot
        itself; its exceptions are raised here."""
        task = asyncio.create_task(job, name=name)
        self._enter(kind, task, stopping=True)
        await asyncio.shield(task)

    @asynccontextmanager
    async def occupied(self, kind: JobKind) -> AsyncIterator[None]:
        """Occupy the slot while the caller works; `stop` doesn't end that."""
        released = asyncio.Event()
        self._enter(kind, asyncio.create_task(_until(released), name=kind), stopping=True)
        try:
            yield
        finally:
            self.leave()
            released.set()

    async def halt(self) -> None:
        """Stop the running job and wait for its end. The slot counts as taken until then."""
        self._halting = True
        try:
            self.stop()
            await self.wait()
        finally:
            self._halting = False

    async def wait(self) -> None:
        """Wait until nothing runs, including jobs that an ending job started."""
        while self._task:
            await asyncio.wait({self._task})

    def _enter(self, kind: JobKind, task: asyncio.Task[Any], *, stopping: bool) -> None:
        self.kind, self._task, self._stopping = kind, task, stopping
        self._may_be_stopped, self._stop_again_at = not stopping, 0.0

    def _end_by_bug(self, on_bug: Callable[[str], None], task: asyncio.Task[None]) -> None:
        if self._task is not task:
            return
        self.leave()
        bug = None if task.cancelled() else task.exception()
        log.error("%s ended by a bug", task.get_name(), exc_info=bug)
        on_bug(f"Keen itself failed ({bug!r}).")


async def _until(released: asyncio.Event) -> None:
    await released.wait()
