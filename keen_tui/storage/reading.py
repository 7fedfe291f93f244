"""Reading a session file, whatever became of it: what is whole is kept in order, the rest is laid beside."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from keen_tui.errors import StorageFailed
from keen_tui.events import Event
from keen_tui.storage.paths import private_opener, require_regular
from keen_tui.storage.records import SCHEMA, Header, Record, parsed_event, parsed_header

_DECODER = json.JSONDecoder()


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionFile:
    """What a session file holds.

    `whole_bytes` is the size of the file when nothing in it is damaged, else None: then it must be mended
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
        """What could not be read, as a sentence; "" when nothing was damaged."""
        if not self.damage:
            return ""
        size = sum(map(len, self.damage))
        places = f"{len(self.damage)} damaged place{'s' if len(self.damage) > 1 else ''}"
        return (
            f"The session file had {places} ({size:,} bytes). The rest is here; "
            f"the damaged bytes lie in {damage_file(self.path).name} beside it."
        )


def read_session(path: Path) -> SessionFile:
    """Read the file. Damage is no error.

    Raises:
        StorageFailed: no plain file, unreadable, or written by a newer version.
    """
    require_regular(path)
    reading = _Reading(path)
    try:
        with open(path, "rb", opener=private_opener) as file:
            for line in file:
                reading.take(line)
    except OSError as error:
        raise StorageFailed(f"{path} can't be read: {error.strerror}.") from error
    return reading.result()


def mend(session: SessionFile) -> SessionFile:
    """Lay the damaged bytes beside the file, leave what is whole in it. Interrupted, it can be done again.

    Raises:
        StorageFailed: that can't be written; the file is as it was.
    """
    path = session.path
    new = path.with_name(f"{path.name}.mending")
    try:
        _keep_damage(session)
        with open(path, "rb", opener=private_opener) as old, open(new, "wb", opener=private_opener) as file:
            for line in old:
                file.writelines(_encoded(record) for record, _ in _whole_records(line)[0])
            file.flush()
            os.fsync(file.fileno())
            size = file.tell()
        new.replace(path)
        _sync_folder(path.parent)
    except OSError as error:
        raise StorageFailed(f"{path} is damaged and can't be mended: {error.strerror}.") from error
    return replace(session, whole_bytes=size)


def damage_file(path: Path) -> Path:
    """Where the damaged bytes of a session file are laid."""
    return path.with_name(f"{path.stem}.damaged")


class _Reading:
    """Takes the lines of a file in order."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._header: Header | None = None
        self._records: list[Record] = []
        self._seen: dict[int, int] = {}
        self._damage: list[bytes] = []
        self._bytes = 0
        self._whole = True
        self._next = 0

    def take(self, line: bytes) -> None:
        found, damage = _whole_records(line)
        self._bytes += len(line)
        self._damage += damage
        if damage or len(found) != 1 or not line.endswith(b"\n"):
            self._whole = False
        for record, event in found:
            if not self._is_repeated(record["n"], line if len(found) == 1 else _encoded(record)):
                self._take_record(record, event)

    def result(self) -> SessionFile:
        header = self._header or Header(id=self._path.stem, workspace="", began=0.0)
        return SessionFile(
            path=self._path,
            header=header,
            records=tuple(self._records),
            damage=tuple(self._damage),
            whole_bytes=self._bytes if self._whole else None,
            next_number=self._next,
        )

    def _take_record(self, record: Mapping[str, Any], event: Event | None) -> None:
        self._next = max(self._next, record["n"] + 1)
        if header := parsed_header(record):
            if header.schema > SCHEMA:
                raise StorageFailed(
                    f"{self._path} was written by a newer Keen TUI (format {header.schema}, this one knows "
                    f"{SCHEMA}). Update to open it; it was not changed."
                )
            self._header = self._header or header
        if event is not None:
            self._records.append(Record(record["n"], _time(record), event))

    def _is_repeated(self, number: int, line: bytes) -> bool:
        """Whether that very record was there before, as after a restored backup."""
        mark = hash(line)
        repeated = self._seen.get(number) == mark
        self._seen[number] = mark
        return repeated


def _whole_records(line: bytes) -> tuple[list[tuple[dict[str, Any], Event | None]], list[bytes]]:
    """The records of a line with their events (None: header, or a type not known here), and its damage."""
    records, rest = _salvaged(line)
    found: list[tuple[dict[str, Any], Event | None]] = []
    damage = [rest] if rest else []
    for record in records:
        try:
            found.append((record, parsed_event(record)))
        except ValueError:
            damage.append(_encoded(record))
    return found, damage


def _salvaged(line: bytes) -> tuple[list[dict[str, Any]], bytes]:
    """The records of a line, one where all is well, and the bytes that are none."""
    try:
        record = json.loads(line)
        if _is_record(record):
            return [record], b""
    except ValueError:
        pass
    return _dug_out(line)


def _dug_out(line: bytes) -> tuple[list[dict[str, Any]], bytes]:
    """Whole records among rubbish: two on one line, one behind the half of another, NULs around."""
    text = line.rstrip(b"\n").decode("utf-8", "surrogateescape")
    records: list[dict[str, Any]] = []
    damage: list[str] = []
    place = 0
    while place < len(text):
        start = text.find('{"n":', place)
        if start < 0:
            break
        try:
            record, end = _DECODER.raw_decode(text, start)
        except ValueError:
            record, end = None, start + 1
        if _is_record(record):
            damage.append(text[place:start])
            records.append(record)
        else:
            damage.append(text[place:end])
        place = end
    damage.append(text[place:])
    return records, "".join(damage).encode("utf-8", "surrogateescape")


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


def _encoded(record: Mapping[str, Any]) -> bytes:
    text = json.dumps(record, ensure_ascii=False, separators=(",", ":"))
    return text.encode("utf-8", "surrogatepass") + b"\n"


def _keep_damage(session: SessionFile) -> None:
    """Append the damaged pieces that are not kept yet."""
    file = damage_file(session.path)
    kept = file.read_bytes() if file.exists() else b""
    new = [piece for piece in session.damage if piece not in kept]
    if new:
        with open(file, "ab", opener=private_opener) as opened:
            opened.writelines(piece.rstrip(b"\n") + b"\n" for piece in new)
            opened.flush()
            os.fsync(opened.fileno())


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def lines_of(path: Path) -> Iterator[tuple[bytes, dict[str, Any]]]:
    """Each line that holds one record, with it; damaged ones are left out."""
    with open(path, "rb", opener=private_opener) as file:
        for line in file:
            for record in _salvaged(line)[0]:
                yield line, record
