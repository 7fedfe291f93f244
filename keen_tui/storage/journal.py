"""The journal: a reader of the bus that appends a session's events to its file, in one task.

At each boundary (a message, a tool result, an end) everything that the user saw is on the disk. Events that
can't be written are kept and tried again; they are never reported as saved.
"""

from __future__ import annotations

import asyncio
import errno
import logging
import os
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Protocol

from msgspec.structs import replace

from keen_tui.domain.bus import EventBus
from keen_tui.domain.events import Event, Notice, StoredWithNext, ToolFinished, ToolStarted, is_stored
from keen_tui.storage.paths import beginning_file, private_opener, sync_folder
from keen_tui.storage.records import Header, event_line, header_line
from keen_tui.system.folders import make_private

log = logging.getLogger(__name__)

LAG = 256
"""The most deltas that wait for the next boundary."""

RETRY_SECONDS = 5.0
"""Seconds until writing is tried again after a failure, if nothing else happens."""


class JournalFile(Protocol):
    """An open file, as aiofiles gives it."""

    async def write(self, data: bytes, /) -> int: ...
    async def flush(self) -> None: ...
    async def truncate(self, size: int, /) -> int: ...
    def fileno(self) -> int: ...
    async def close(self) -> None: ...


FileOpener = Callable[[Path], Any]
"""Opens a file for appending and returns a JournalFile when awaited."""


async def open_file(path: Path) -> Any:
    """The file, opened for appending, created if it is missing. Raises OSError."""
    import aiofiles  # noqa: PLC0415 - not before something is written

    await asyncio.to_thread(make_private, path.parent)
    return await aiofiles.open(path, "ab", buffering=0, opener=private_opener)


class Journal:
    """Appends the events published from now on to the file of a session.

    A new file appears only once its header and first events are on the disk: a killed program leaves no empty
    session.

    Args:
        size: bytes of the file that are whole lines; anything after them is overwritten.
        number: of the next record; 0 writes the header first, together with the first event.
        on_problem: called with a sentence when writing fails or works again.
        on_over: called with the sentence of a failure that is over.
        opener: opens the file; tests pass one that breaks.
        retry_seconds: RETRY_SECONDS.
    """

    def __init__(
        self,
        path: Path,
        header: Header,
        bus: EventBus,
        *,
        on_problem: Callable[[str], None],
        on_over: Callable[[str], None] = lambda sentence: None,
        size: int = 0,
        number: int = 0,
        opener: FileOpener = open_file,
        clock: Callable[[], float] = time.time,
        retry_seconds: float = RETRY_SECONDS,
    ) -> None:
        self.path = path
        self.header = header
        self._on_problem = on_problem
        self._on_over = on_over
        self._size = size
        self._number = number
        self._opener = opener
        self._clock = clock
        self._retry_seconds = retry_seconds
        self._file: Any = None
        self._is_beginning = False
        self._unsaved: list[bytes] = []
        self._written = 0
        self._problem = ""
        self._busy = False
        self._saving = asyncio.Lock()
        self._round = asyncio.Event()
        self._closing = asyncio.Event()
        self._retrying: asyncio.Task[None] | None = None
        self._reader = bus.subscribe(wants=is_stored, lag=LAG)
        self._task = asyncio.create_task(self._write_all(), name=f"journal {header.id}")

    async def flushed(self) -> bool:
        """Wait until everything published so far is on the disk; False if that failed."""
        while (self._busy or self._reader.unread) and not self._task.done():
            self._round.clear()
            self._reader.wake()
            await self._round.wait()
        return await self._save(boundary=True)

    async def unsaved(self) -> Sequence[bytes]:
        """The lines that can't be written now, after waiting as `flushed` does."""
        await self.flushed()
        return tuple(self._unsaved)

    def stop_reading(self) -> None:
        """Events published from now on don't belong to this file."""
        self._reader.close()

    async def close(self) -> bool:
        """Stop reading, write the rest, close the file; False if something could not be saved."""
        self.stop_reading()
        await self._task
        self._closing.set()
        if self._retrying:
            await self._retrying
        is_saved = await self._save(boundary=True)
        await self._close_file()
        return is_saved

    async def _write_all(self) -> None:
        async for batch in self._reader:
            self._busy = True
            lines = await asyncio.to_thread(self._lines, batch)
            await self._save(lines, boundary=any(not isinstance(event, StoredWithNext) for event in batch))
            self._busy = False
            self._round.set()
        self._round.set()

    async def _write_again(self) -> None:
        """Try until it works or the journal is closed."""
        while self._problem and not self._closing.is_set():
            try:
                await asyncio.wait_for(self._closing.wait(), self._retry_seconds)
            except TimeoutError:
                await self._save(boundary=True)

    def _lines(self, batch: Sequence[Event]) -> list[bytes]:
        at = self._clock()
        lines = []
        if not self._number:
            lines.append(header_line(self.header))
            self._number = 1
        for event in batch:
            lines.append(_line(self._number, at, event))
            self._number += 1
        return lines

    async def _save(self, lines: Sequence[bytes] = (), *, boundary: bool) -> bool:
        """Write these and all unwritten events; at a boundary, wait until they are on the disk. False if that
        fails.

        Keeps everything that may not be on the disk, and writes all of it again after a failure.
        """
        async with self._saving:
            self._unsaved += lines
            if not self._unsaved:
                return True
            try:
                await self._write(boundary=boundary)
            except Exception as error:
                if not isinstance(error, OSError):
                    log.exception("the session can't be saved by a bug")
                await self._give_up(error)
                return False
            if boundary:
                self._tell("")
            return True

    async def _write(self, *, boundary: bool) -> None:
        if self._file is None:
            await self._open()
        await _write_whole(self._file, b"".join(self._unsaved[self._written :]))
        self._written = len(self._unsaved)
        if not (boundary or self._is_beginning):
            return
        await self._file.flush()
        await asyncio.to_thread(_sync, self._file.fileno())
        began, self._is_beginning = self._is_beginning, False
        if began:
            await asyncio.to_thread(beginning_file(self.path).replace, self.path)
        self._size += sum(map(len, self._unsaved))
        self._unsaved.clear()
        self._written = 0
        if began:
            await asyncio.to_thread(sync_folder, self.path.parent)

    async def _open(self) -> None:
        """Open the file and cut off what a failed attempt left there."""
        self._is_beginning = not await asyncio.to_thread(os.path.lexists, self.path)
        self._file = await self._opener(beginning_file(self.path) if self._is_beginning else self.path)
        found = 0 if self._is_beginning else os.fstat(self._file.fileno()).st_size
        if self._size and not found:
            self._unsaved.insert(0, header_line(self.header))
        self._size = min(self._size, found)
        await self._file.truncate(self._size)

    async def _give_up(self, error: Exception) -> None:
        """Close the file: the next attempt opens it again."""
        await self._close_file()
        self._written = 0
        reason = (error.strerror if isinstance(error, OSError) else "") or str(error)
        self._tell(
            f"The session can't be saved ({reason}): {self.path}. "
            "It continues in memory and is saved as soon as possible."
        )
        if self._retrying is None or self._retrying.done():
            self._retrying = asyncio.create_task(self._write_again(), name="journal, once more")

    def _tell(self, problem: str) -> None:
        if problem != self._problem:
            if self._problem:
                self._on_over(self._problem)
            self._on_problem(problem or "The session is saved again.")
        self._problem = problem

    async def _close_file(self) -> None:
        file, self._file = self._file, None
        if file is not None:
            try:
                await file.close()
            except OSError:
                pass


def _line(number: int, at: float, event: Event) -> bytes:
    """The event as a line. An event that can't be encoded, such as a call whose arguments are nested a
    thousand levels deep, must not hold up the others."""
    try:
        return event_line(number, at, event)
    except (RecursionError, TypeError, ValueError) as error:
        log.warning("an event can't be written whole: %s", error)
        if isinstance(event, ToolStarted | ToolFinished):
            return event_line(number, at, replace(event, arguments={}))
        return event_line(number, at, Notice(turn=0, text="Something here could not be saved."))


def _sync(descriptor: int) -> None:
    """Wait for the disk. Raises OSError, also if the file was deleted."""
    os.fdatasync(descriptor)
    if not os.fstat(descriptor).st_nlink:
        raise FileNotFoundError(errno.ENOENT, "its file was removed")


async def _write_whole(file: JournalFile, data: bytes) -> None:
    """Write everything: a single write may write only a part. Raises OSError."""
    rest = memoryview(data)
    while rest:
        written = await file.write(bytes(rest))
        if written <= 0:
            raise OSError("nothing was written")
        rest = rest[written:]
