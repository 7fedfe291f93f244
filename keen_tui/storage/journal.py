"""The journal: a reader of the bus that appends a session's events to its file, in one task.

What was shown is on the disk at each boundary (a message, a tool result, an end). What can't be written is
kept and tried again; it is never reported as saved.
"""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Protocol

from keen_tui.bus import EventBus
from keen_tui.disk.folders import make_private
from keen_tui.events import (
    ApprovalAnswered,
    ApprovalRequested,
    CompactionDelta,
    Event,
    ModeChanged,
    PolicyChanged,
    QueueChanged,
    ReasoningDelta,
    RetryScheduled,
    SessionOpened,
    SessionRestored,
    TextDelta,
    ToolOutput,
    ToolStarted,
)
from keen_tui.storage.paths import private_opener
from keen_tui.storage.records import Header, event_line, header_line

PASSING = (
    ApprovalAnswered,
    ApprovalRequested,
    CompactionDelta,
    ModeChanged,
    PolicyChanged,
    QueueChanged,
    RetryScheduled,
    SessionOpened,
    SessionRestored,
    ToolOutput,
)
"""Events that a session file does not hold: live output, questions, what the program is set to now."""

_NO_BOUNDARY = (TextDelta, ReasoningDelta, ToolStarted)
"""Events after which nothing need be on the disk at once."""

LAG = 256
"""Deltas that wait for the next boundary before they are written for themselves."""


class JournalFile(Protocol):
    """An open file, as aiofiles gives it."""

    async def write(self, data: bytes, /) -> int: ...
    async def flush(self) -> None: ...
    async def truncate(self, size: int, /) -> int: ...
    def fileno(self) -> int: ...
    async def close(self) -> None: ...


Opener = Callable[[Path], Any]
"""Opens a file for appending and gives a JournalFile, awaited."""


async def open_file(path: Path) -> Any:
    """The file, opened for appending, made where it is missing. Raises OSError."""
    import aiofiles  # noqa: PLC0415 - not before something is written

    await asyncio.to_thread(make_private, path.parent)
    return await aiofiles.open(path, "ab", buffering=0, opener=private_opener)


class Journal:
    """Appends what is published from now on to the file of a session.

    Args:
        size: bytes of the file that are whole lines; what lies behind them is written over.
        number: of the next record; 0 writes the header first, together with the first event.
        on_problem: is told in a sentence when writing fails or works again.
        opener: opens the file; tests hand in one that breaks.
    """

    def __init__(
        self,
        path: Path,
        header: Header,
        bus: EventBus,
        *,
        on_problem: Callable[[str], None],
        size: int = 0,
        number: int = 0,
        opener: Opener = open_file,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.path = path
        self.header = header
        self._on_problem = on_problem
        self._size = size
        self._number = number
        self._opener = opener
        self._clock = clock
        self._file: Any = None
        self._unsaved: list[bytes] = []
        self._problem = ""
        self._busy = False
        self._round = asyncio.Event()
        self._reader = bus.subscribe(wants=lambda event: not isinstance(event, PASSING), lag=LAG)
        self._task = asyncio.create_task(self._write_all(), name=f"journal {header.id}")

    @property
    def saved(self) -> bool:
        """Whether everything that was read from the bus is on the disk."""
        return not self._unsaved

    async def flushed(self) -> bool:
        """Wait until all that was published so far has been written; False when that failed."""
        while (self._busy or self._reader.unread) and not self._task.done():
            self._round.clear()
            self._reader.wake()
            await self._round.wait()
        return self.saved

    async def close(self) -> bool:
        """Stop reading, write the rest, close the file; False when something could not be saved."""
        self._reader.close()
        await self._task
        if self._unsaved:
            await self._save(boundary=True)
        await self._close_file()
        return self.saved

    async def _write_all(self) -> None:
        async for batch in self._reader:
            self._busy = True
            self._unsaved += await asyncio.to_thread(self._lines, batch)
            await self._save(boundary=any(not isinstance(event, _NO_BOUNDARY) for event in batch))
            self._busy = False
            self._round.set()
        self._round.set()

    def _lines(self, batch: Sequence[Event]) -> list[bytes]:
        at = self._clock()
        lines = []
        if not self._number:
            lines.append(header_line(self.header))
            self._number = 1
        for event in batch:
            lines.append(event_line(self._number, at, event))
            self._number += 1
        return lines

    async def _save(self, *, boundary: bool) -> None:
        """Write what is unsaved. After a failure it still is."""
        data = b"".join(self._unsaved)
        try:
            if self._file is None:
                self._file = await self._opener(self.path)
                await self._file.truncate(self._size)
            await _write_whole(self._file, data)
            if boundary:
                await self._file.flush()
                await asyncio.to_thread(os.fdatasync, self._file.fileno())
        except OSError as error:
            await self._give_up(error)
            return
        self._size += len(data)
        self._unsaved.clear()
        self._tell("")

    async def _give_up(self, error: OSError) -> None:
        """The next attempt opens the file anew and cuts off what half of this one left there."""
        await self._close_file()
        self._tell(
            f"The session can't be saved ({error.strerror or error}): {self.path}. "
            "It goes on in memory and is saved as soon as that works."
        )

    def _tell(self, problem: str) -> None:
        if problem != self._problem:
            self._on_problem(problem or "The session is saved again.")
        self._problem = problem

    async def _close_file(self) -> None:
        file, self._file = self._file, None
        if file is not None:
            try:
                await file.close()
            except OSError:
                pass


async def _write_whole(file: JournalFile, data: bytes) -> None:
    """Write all of it: a write may take only a part. Raises OSError."""
    rest = memoryview(data)
    while rest:
        written = await file.write(bytes(rest))
        if written <= 0:
            raise OSError("nothing was written")
        rest = rest[written:]
