"""Reads a session file, even a damaged one: whole records stay in order, and damaged bytes go to another
file."""

from __future__ import annotations

import gc
import json
import os
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from keen_tui.domain.errors import StorageFailed
from keen_tui.domain.events import Event
from keen_tui.storage.paths import private_opener, require_regular, sync_folder
from keen_tui.storage.records import SCHEMA, Header, Record, parsed_event, parsed_header

_DECODER = json.JSONDecoder()
_BEGINNING = '{"n":'


LINES_AT_A_STRETCH = 16
"""Lines after which other threads may continue at once: without this Python would let them wait for 5 ms."""

MANY_RECORDS = 5_000
"""Records from which on a session is frozen for the garbage collector, with everything else that exists
then."""

TAIL_TURNS = 20
"""Newest turns of a long session that are shown while the rest is read."""

TAIL_BYTES = 4_000_000
"""Bytes at the end of a file in which these turns must be."""


class SessionFile(Struct, frozen=True, kw_only=True):
    """The content of a session file.

    `whole_bytes` is the size of the file if nothing in it is damaged, else None: then it must be mended
    before anything is appended. `next_number` is the number of the next record.
    """

    path: Path
    header: Header
    records: tuple[Record, ...]
    damage: tuple[bytes, ...]
    whole_bytes: int | None
    next_number: int

    @property
    def skipped(self) -> str:
        """The damage, in sentences; "" for none."""
        if not self.damage:
            return ""
        size = sum(map(len, self.damage))
        places = f"{len(self.damage)} damaged place{'s' if len(self.damage) > 1 else ''}"
        is_mended = self.whole_bytes is not None
        kept = f"the damaged bytes are saved in {damage_file(self.path).name} beside it" if is_mended else ""
        found = f"The session file had {places} ({size:,} bytes). The rest is here"
        return f"{found}; {kept}." if kept else f"{found}. The file was left unchanged."


def read_session(path: Path) -> SessionFile:
    """Read the file. Damage isn't an error.

    Raises:
        StorageFailed: the file isn't a plain file, is unreadable, or was written by a newer version.
    """
    require_regular(path)
    reading = _Reading(path)
    try:
        with _no_collections(reading), open(path, "rb", opener=private_opener) as file:
            for number, line in enumerate(file):
                reading.take(line)
                if number % LINES_AT_A_STRETCH == 0:
                    time.sleep(0)
    except OSError as error:
        raise StorageFailed(f"{path} can't be read: {error.strerror}.") from error
    return reading.result()


def read_tail(path: Path) -> tuple[Event, ...]:
    """The events of the newest turns, at most `TAIL_TURNS`, or as many as fit into `TAIL_BYTES`.

    Raises:
        StorageFailed: the file isn't a plain file, or can't be read.
    """
    require_regular(path)
    try:
        with open(path, "rb", opener=private_opener) as file:
            size = file.seek(0, os.SEEK_END)
            file.seek(max(size - TAIL_BYTES, 0))
            tail = file.read()
    except OSError as error:
        raise StorageFailed(f"{path} can't be read: {error.strerror}.") from error
    begin = len(tail)
    for _ in range(TAIL_TURNS):
        begin = max(tail.rfind(b'"type":"turn_started"', 0, begin), 0)
    lines = tail[tail.rfind(b"\n", 0, begin) + 1 :].splitlines(keepends=True)
    pieces = (piece for line in lines for piece in _pieces(line)[0])
    return tuple(piece.event for piece in pieces if piece.event is not None)


def read_header(path: Path) -> Header:
    """The header alone. Raises StorageFailed like `read_session`."""
    require_regular(path)
    try:
        with open(path, "rb", opener=private_opener) as file:
            for line in file:
                for piece in _pieces(line)[0]:
                    if piece.event is None and (header := parsed_header(piece.record)):
                        return _supported(header, path)
    except OSError as error:
        raise StorageFailed(f"{path} can't be read: {error.strerror}.") from error
    return _no_header(path)


def has_record(path: Path) -> bool:
    """Whether the session has at least one whole record besides the header. Raises OSError."""
    with open(path, "rb", opener=private_opener) as file:
        found = (record for line in file for record, _ in _salvaged(line)[0])
        return any(record["type"] != "session" for record in found)


def mend(session: SessionFile) -> SessionFile:
    """Move the damaged bytes to another file, and leave the whole records. Safe to repeat after an
    interruption.

    Raises:
        StorageFailed: writing failed; the file is unchanged.
    """
    path = session.path
    new = path.with_name(f"{path.name}.mending")
    try:
        _keep_damage(session)
        with open(path, "rb", opener=private_opener) as old, open(new, "wb", opener=private_opener) as file:
            for line in old:
                file.writelines(piece.line for piece in _pieces(line)[0])
            file.flush()
            os.fsync(file.fileno())
            size = file.tell()
        new.replace(path)
        sync_folder(path.parent)
    except OSError as error:
        raise StorageFailed(f"{path} is damaged and can't be repaired: {error.strerror}.") from error
    return replace(session, whole_bytes=size)


def damage_file(path: Path) -> Path:
    """The file for the damaged bytes of a session file."""
    return path.with_name(f"{path.stem}.damaged")


@contextmanager
def _no_collections(reading: _Reading) -> Iterator[None]:
    """Read without garbage collection, which finds nothing here and takes a fifth of the time. A long session
    is frozen afterwards, because scanning it later would block the event loop."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            if reading.records > MANY_RECORDS:
                gc.freeze()
            gc.enable()


class _Reading:
    """Takes the lines of a file in order."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._texts = _SharedTexts()
        self._header: Header | None = None
        self._records: list[Record] = []
        self._seen: dict[int, int] = {}
        self._damage: list[bytes] = []
        self._bytes = 0
        self._whole = True
        self._next = 0

    @property
    def records(self) -> int:
        """The number of records so far."""
        return len(self._records)

    def take(self, line: bytes) -> None:
        pieces, damage = _pieces(line, self._texts)
        self._bytes += len(line)
        self._damage += damage
        if damage or len(pieces) != 1 or pieces[0].line != line:
            self._whole = False
        for record, event, text in pieces:
            if not self._is_repeated(record["n"], text):
                self._take_record(record, event)

    def result(self) -> SessionFile:
        return SessionFile(
            path=self._path,
            header=self._header or _no_header(self._path),
            records=tuple(self._records),
            damage=tuple(self._damage),
            whole_bytes=self._bytes if self._whole else None,
            next_number=self._next,
        )

    def _take_record(self, record: Mapping[str, Any], event: Event | None) -> None:
        self._next = max(self._next, record["n"] + 1)
        header = parsed_header(record) if event is None else None
        if header:
            self._header = self._header or _supported(header, self._path)
        if event is not None:
            self._records.append(Record(record["n"], _time(record), event))

    def _is_repeated(self, number: int, line: bytes) -> bool:
        """Whether the very same record came before, as after a restored backup."""
        mark = hash(line)
        repeated = self._seen.get(number) == mark
        self._seen[number] = mark
        return repeated


def _supported(header: Header, path: Path) -> Header:
    """The header. Raises StorageFailed if a newer version wrote it."""
    if header.schema > SCHEMA:
        raise StorageFailed(
            f"{path} was written by a newer Keen TUI (format {header.schema}, this one knows "
            f"{SCHEMA}). Update to open it; it was not changed."
        )
    return header


def _no_header(path: Path) -> Header:
    """A replacement for a lost header."""
    return Header(id=path.stem, workspace="", began=0.0)


class _Piece(NamedTuple):
    """A whole record with its event (None for the header, or an unknown type), and its line."""

    record: dict[str, Any]
    event: Event | None
    line: bytes


def _pieces(line: bytes, texts: _SharedTexts | None = None) -> tuple[list[_Piece], list[bytes]]:
    """The whole records of a line, normally one, and its damaged bytes. `texts` shares equal texts of earlier
    lines."""
    records, rest = _salvaged(line)
    pieces: list[_Piece] = []
    damage = [rest] if rest else []
    for record, text in records:
        if texts:
            texts.share(record)
        try:
            pieces.append(_Piece(record, parsed_event(record), text))
        except ValueError:
            damage.append(text.rstrip(b"\n"))
    return pieces, damage


def _salvaged(line: bytes) -> tuple[list[tuple[dict[str, Any], bytes]], bytes]:
    """The records of a line, each with its own bytes and a line end, and the remaining bytes."""
    try:
        text = line.decode("utf-8", "surrogatepass")
        record, end = _DECODER.raw_decode(text)
        if text[end:] in ("\n", "") and _is_record(record):
            return [(record, line if line.endswith(b"\n") else line + b"\n")], b""
    except (ValueError, RecursionError):
        pass
    return _dug_out(line)


def _dug_out(line: bytes) -> tuple[list[tuple[dict[str, Any], bytes]], bytes]:
    """Find whole records among rubbish: two on one line, one after half of another, NULs around them."""
    text = line.rstrip(b"\n").decode("utf-8", "surrogateescape")
    records: list[tuple[dict[str, Any], bytes]] = []
    damage: list[str] = []
    place = 0
    while (start := text.find(_BEGINNING, place)) >= 0:
        record, end = _record_at(text, start)
        damage.append(text[place:start])
        if record is None:
            damage.append(text[start:end])
        else:
            records.append((record, _bytes(text[start:end]) + b"\n"))
        place = end
    damage.append(text[place:])
    return records, _bytes("".join(damage))


def _record_at(text: str, start: int) -> tuple[dict[str, Any] | None, int]:
    """The record that begins at `start`, or None, and the position after it.

    A record is followed by another one, by nothing, or by NULs. Anything else means that it is a part of a
    record that was cut off, such as the arguments of a call.
    """
    try:
        _, end = _DECODER.raw_decode(text, start)
    except (ValueError, RecursionError):
        return None, start + 1
    if end < len(text) and not text.startswith((_BEGINNING, "\0"), end):
        return None, end
    try:
        record = json.loads(_bytes(text[start:end]))
    except ValueError:
        return None, end
    return (record if _is_record(record) else None), end


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


def _is_record(value: object) -> bool:
    return (
        isinstance(value, dict)
        and isinstance(value.get("type"), str)
        and isinstance(value.get("n"), int)
        and not isinstance(value["n"], bool)
        and value["n"] >= 0
    )


def _time(record: Mapping[str, Any]) -> float:
    at = record.get("at")
    return float(at) if isinstance(at, int | float) and not isinstance(at, bool) else 0.0


def _keep_damage(session: SessionFile) -> None:
    """Append the damaged bytes that aren't saved yet, each place on its own line."""
    if not session.damage:
        return
    with open(damage_file(session.path), "a+b", opener=private_opener) as file:
        file.seek(0)
        *kept, torn = file.read().split(b"\n")
        places = [place.rstrip(b"\n") for place in session.damage]
        file.writelines([b"\n"] if torn else [])
        file.writelines(place + b"\n" for place in places if place not in kept)
        file.flush()
        os.fsync(file.fileno())


def records_in(line: bytes) -> Iterator[tuple[Record, bytes]]:
    """The records of a line that hold an event, each with its own bytes; one unless the line is damaged."""
    for record, event, text in _pieces(line)[0]:
        if event is not None:
            yield Record(record["n"], _time(record), event), text


def lines_of(path: Path) -> Iterator[tuple[bytes, Event | None]]:
    """The line of each whole record after the header, with its event; None for unknown types."""
    with open(path, "rb", opener=private_opener) as file:
        for line in file:
            for piece in _pieces(line)[0]:
                if piece.record["type"] != "session":
                    yield piece.line, piece.event


class _SharedTexts:
    """Takes the records of a session in order, and shares equal texts of a turn. A tool's text for the model
    often equals its display, and the end of a turn repeats the reply. JSON decodes each of them separately,
    which costs a third of the memory of a long session."""

    def __init__(self) -> None:
        self._known: dict[str, str] = {}

    def share(self, record: dict[str, Any]) -> None:
        """Replace texts by equal ones that came earlier in this turn."""
        if record.get("type") == "turn_started":
            self._known.clear()
        for holder in (record, record.get("display"), record.get("arguments")):
            if isinstance(holder, dict):
                for name, value in holder.items():
                    if type(value) is str:
                        holder[name] = self._known.setdefault(value, value)
