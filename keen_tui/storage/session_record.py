"""The record of a saved session: an index in memory, and the results in the session file."""

from __future__ import annotations

import asyncio
import os
import threading
import time
from collections.abc import Awaitable, Callable, Sequence
from io import BufferedReader
from pathlib import Path

from keen_tui.domain.errors import StorageFailed
from keen_tui.domain.event_records import event_type
from keen_tui.domain.events import Event, ToolFinished
from keen_tui.domain.recorded import RecordedCall, RecordedTurn
from keen_tui.memory.call_index import CallIndex
from keen_tui.storage.paths import private_opener, require_regular
from keen_tui.storage.reading import LINES_AT_A_STRETCH, records_in

_BEGINNING = 200
"""Bytes at the beginning of a line that contain its type."""

_MARKS = tuple(f'"type":"{event_type(kind)}"'.encode() for kind in CallIndex.INDEXED)
"""The types of the lines that the index needs, as they appear in the file."""

_LinePlace = tuple[int, int] | bytes
"""The place of a line: its offset and length in the file, or the line itself while it can't be written."""


class FileRecord:
    """A session's turns and calls, from its file.

    The file is read at the first call; later calls read only the added part. Only the index stays in memory;
    it has no results.

    Args:
        path: the session file; it needn't exist yet.
        unsaved: waits until everything published is on the disk, and returns the lines that can't be written.
    """

    def __init__(self, path: Path, unsaved: Callable[[], Awaitable[Sequence[bytes]]]) -> None:
        self._path = path
        self._unsaved = unsaved
        self._lock = threading.Lock()
        self._forget()

    def note(self, event: Event) -> None:
        """Does nothing: the journal writes the event to the file."""

    async def turns(self) -> Sequence[RecordedTurn]:
        """All turns so far, oldest first. Raises StorageFailed."""
        unsaved = await self._unsaved()
        return await asyncio.to_thread(self._updated, unsaved)

    async def finished(self, calls: Sequence[RecordedCall]) -> Sequence[ToolFinished]:
        """The calls with their results, in that order. Raises StorageFailed."""
        found = await asyncio.to_thread(self._read, calls)
        if None in found:  # lines that could not be saved were taken back, and are written again
            with self._lock:
                self._forget()
            known = [call for turn in await self.turns() for call in turn.calls]
            is_same = all(call in known for call in calls)
            found = await asyncio.to_thread(self._read, calls) if is_same else [None]
        if None in found:
            raise StorageFailed(f"{self._path} has changed in the meantime.")
        return [event for event in found if event is not None]

    def _forget(self) -> None:
        self._index: CallIndex[_LinePlace] = CallIndex()
        self._seen: dict[int, int] = {}
        self._bytes = 0

    def _updated(self, unsaved: Sequence[bytes]) -> Sequence[RecordedTurn]:
        with self._lock:
            try:
                self._read_on()
            except FileNotFoundError:
                pass  # the file begins with the first line that can be written
            except OSError as error:
                raise self._unreadable(error) from error
            for line in unsaved:
                self._take(line, line)
            return self._index.turns

    def _read_on(self) -> None:
        """Read the whole lines that were added to the file."""
        if not os.path.lexists(self._path):
            return
        require_regular(self._path)
        with open(self._path, "rb", opener=private_opener) as file:
            if os.fstat(file.fileno()).st_size < self._bytes:
                self._forget()
            file.seek(self._bytes)
            for number, line in enumerate(file):
                if not line.endswith(b"\n"):
                    return
                self._take(line, (self._bytes, len(line)))
                self._bytes += len(line)
                if number % LINES_AT_A_STRETCH == 0:
                    time.sleep(0)

    def _take(self, line: bytes, place: _LinePlace) -> None:
        if not any(mark in line[:_BEGINNING] for mark in _MARKS) and line.startswith(b"{"):
            return
        for record, text in records_in(line):
            mark = hash(text)
            if self._seen.get(record.number) != mark and isinstance(record.event, CallIndex.INDEXED):
                self._seen[record.number] = mark
                self._index.take(record.event, record.at, place)

    def _read(self, calls: Sequence[RecordedCall]) -> Sequence[ToolFinished | None]:
        with self._lock:
            places = [self._index.place_of(call) for call in calls]
        try:
            with open(self._path, "rb", opener=private_opener) as file:
                lines = [_line_at(file, place) for place in places]
        except FileNotFoundError:
            lines = [place if isinstance(place, bytes) else b"" for place in places]
        except OSError as error:
            raise self._unreadable(error) from error
        return [_call_in(line, call) for line, call in zip(lines, calls, strict=True)]

    def _unreadable(self, error: OSError) -> StorageFailed:
        return StorageFailed(f"{self._path} can't be read: {error.strerror}.")


def _line_at(file: BufferedReader, place: _LinePlace) -> bytes:
    if isinstance(place, bytes):
        return place
    file.seek(place[0])
    return file.read(place[1])


def _call_in(line: bytes, call: RecordedCall) -> ToolFinished | None:
    """The call in its line; None if another line is there now. Lets other threads run first."""
    time.sleep(0)
    events = (record.event for record, _ in records_in(line))
    return next(
        (
            event
            for event in events
            if isinstance(event, ToolFinished) and (event.turn, event.name) == (call.turn, call.name)
        ),
        None,
    )
