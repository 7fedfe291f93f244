"""The row of a session in a list, without reading the whole file."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, BinaryIO, cast

from keen_tui.domain.errors import StorageFailed
from keen_tui.domain.reports import SavedSession
from keen_tui.storage.paths import private_opener, require_regular
from keen_tui.storage.reading import has_record
from keen_tui.storage.records import SCHEMA, Header, parsed_header
from keen_tui.text.units import first_line

_HEAD = 65_536
"""Bytes at the beginning in which the header and the first message must be."""

_FIRST_LOOK = 8_192
"""Bytes that are read first; they are nearly always enough."""

_STRETCH = 65_536
"""Bytes that are read at once, backwards from the end, to find the newest turn."""

_OVERLAP = 64
"""Bytes after a stretch that are read too: the beginning of a turn may cross its end."""

_TURN_BEGINS = b'"type":"turn_started","turn":'
_TURN = re.compile(_TURN_BEGINS + rb"(\d{1,9})")
_TITLE_LENGTH = 120

_FIRST_WORDS = re.compile(
    r'"type":"turn_started","turn":\d+,"attempt":\d+,"text":("(?:[^"\\]|\\u[0-9a-f]{4}|\\[^u]){0,2000})'
)
"""The beginning of a first message whose line is too long to be read whole."""


def glance(path: Path, *, in_use: bool = False) -> SavedSession:
    """The row of the session. Damage isn't an error; a session that can't be opened has a `problem`."""
    try:
        with _opened(path) as file:
            status = os.fstat(file.fileno())
            size, changed = status.st_size, status.st_mtime_ns / 1e9
            header, title = _beginning(path, file)
            turns = _newest_turn(file, size)
        is_empty = header.schema <= SCHEMA and (size <= _HEAD or not title) and not has_record(path)
    except (OSError, StorageFailed) as error:
        return _row(path, Header(id=path.stem, workspace="", began=0.0), problem=str(error))
    problem = (
        f"It was written by a newer Keen TUI (format {header.schema}). Update to open it."
        if header.schema > SCHEMA
        else ""
    )
    return _row(
        path, header, title=own_title(path) or title, last_used=changed, turns=turns, size=size,
        in_use=in_use, problem=problem, is_empty=is_empty,
    )  # fmt: skip


def own_title(path: Path) -> str:
    """The title that the user gave, "" for none."""
    file = title_file(path)
    try:
        require_regular(file)
        return file.read_text("utf-8", "replace").strip()[:_TITLE_LENGTH]
    except (OSError, StorageFailed):
        return ""


def title_file(path: Path) -> Path:
    """The file with the user's title of a session, so that lists needn't read the whole session file."""
    return path.with_suffix(".title")


def _row(
    path: Path, header: Header, *, title: str = "", last_used: float = 0.0, turns: int = 0, size: int = 0,
    in_use: bool = False, problem: str = "", is_empty: bool = False,
) -> SavedSession:  # fmt: skip
    return SavedSession(
        id=path.stem,
        title=title,
        workspace=Path(header.workspace),
        began=header.began,
        last_used=last_used,
        turns=turns,
        size=size,
        in_use=in_use,
        forked_from=header.forked_from,
        problem=problem,
        is_empty=is_empty,
    )


def _opened(path: Path) -> BinaryIO:
    """The file, unbuffered. Raises OSError, or StorageFailed if it isn't a plain file."""
    try:
        return cast(BinaryIO, open(path, "rb", buffering=0, opener=private_opener))
    except OSError:
        require_regular(path)
        raise


def _beginning(path: Path, file: BinaryIO) -> tuple[Header, str]:
    """The header and the first words."""
    head = file.read(_FIRST_LOOK)
    is_all = len(head) < _FIRST_LOOK
    header, title = _header_and_words(path, head if is_all else head.rpartition(b"\n")[0])
    if title is None and not is_all:
        header, title = _header_and_words(path, head + file.read(_HEAD - _FIRST_LOOK))
    return header, title or ""


def _header_and_words(path: Path, head: bytes) -> tuple[Header, str | None]:
    header = Header(id=path.stem, workspace="", began=0.0)
    for line in head.split(b"\n"):
        record = _record(line)
        header = parsed_header(record) or header
        text = record.get("text")
        if record.get("type") == "turn_started" and isinstance(text, str):
            return header, first_line(text)
    return header, None


def _record(line: bytes) -> Mapping[str, Any]:
    """The record in the line; empty if the line is no record."""
    try:
        record = json.loads(line)
    except (ValueError, RecursionError):
        record = _cut_off_message(line)
    return record if isinstance(record, dict) else {}


def _cut_off_message(line: bytes) -> dict[str, Any] | None:
    """The known part of a first message whose line was cut off."""
    found = _FIRST_WORDS.search(line.decode("utf-8", "ignore"))
    return {"type": "turn_started", "text": json.loads(f'{found[1]}"')} if found else None


def _newest_turn(file: BinaryIO, size: int) -> int:
    """The number of the newest turn, 0 if there is none."""
    end = size
    while end > 0:
        start = max(end - _STRETCH, 0)
        file.seek(start)
        stretch = file.read(end - start + _OVERLAP)
        place = stretch.rfind(_TURN_BEGINS)
        if place >= 0:
            found = _TURN.match(stretch, place)
            return int(found[1]) if found else 0
        end = start
    return 0
