"""A session at a glance, without reading all of it: what stands in a list of sessions."""

from __future__ import annotations

import json
import mmap
import re
from pathlib import Path
from typing import Any

from keen_tui.errors import StorageFailed
from keen_tui.history import SavedSession
from keen_tui.measures import first_line
from keen_tui.storage.paths import private_opener, require_regular
from keen_tui.storage.records import SCHEMA, Header, parsed_header

_HEAD = 65_536
"""Bytes from the beginning in which header and first message are looked for."""

_TURN = re.compile(rb'"type":"turn_started","turn":(\d{1,9})')
_TITLE_LENGTH = 120

_FIRST_WORDS = re.compile(
    r'"type":"turn_started","turn":\d+,"attempt":\d+,"text":("(?:[^"\\]|\\u[0-9a-f]{4}|\\[^u]){0,2000})'
)
"""How the line of a first message begins that is longer than what is looked into."""


def glance(path: Path, *, in_use: bool = False) -> SavedSession:
    """What a list says of the session. Damage is no error; what can't be opened has a `problem`."""
    try:
        require_regular(path)
        size, changed = path.stat().st_size, path.stat().st_mtime
        header, title, turns = _looked_into(path, size)
    except (OSError, StorageFailed) as error:
        return _row(path, Header(id=path.stem, workspace="", began=0.0), problem=str(error))
    problem = (
        f"It was written by a newer Keen TUI (format {header.schema}). Update to open it."
        if header.schema > SCHEMA
        else ""
    )
    return _row(
        path, header, title=own_title(path) or title, last_used=changed, turns=turns, size=size,
        in_use=in_use, problem=problem,
    )  # fmt: skip


def own_title(path: Path) -> str:
    """The title that the user gave, "" when there is none."""
    file = title_file(path)
    try:
        require_regular(file)
        return file.read_text("utf-8", "replace").strip()[:_TITLE_LENGTH]
    except (OSError, StorageFailed):
        return ""


def title_file(path: Path) -> Path:
    """Where the user's title of a session stands, so that lists need not read the whole file for it."""
    return path.with_suffix(".title")


def _row(path: Path, header: Header, *, title: str = "", last_used: float = 0.0, turns: int = 0,
         size: int = 0, in_use: bool = False, problem: str = "") -> SavedSession:  # fmt: skip
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
    )


def _looked_into(path: Path, size: int) -> tuple[Header, str, int]:
    """Header, first words and number of turns."""
    header, title = Header(id=path.stem, workspace="", began=0.0), ""
    if not size:
        return header, title, 0
    with open(path, "rb", opener=private_opener) as file:
        for record in _records(file.read(_HEAD)):
            header = parsed_header(record) or header
            text = record.get("text")
            if record.get("type") == "turn_started" and isinstance(text, str):
                title = first_line(text)
                break
        with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
            return header, title, _newest_turn(content)


def _records(head: bytes) -> list[dict[str, Any]]:
    records = []
    for line in head.split(b"\n"):
        try:
            record = json.loads(line)
        except (ValueError, RecursionError):
            record = _cut_off_message(line)
        if isinstance(record, dict):
            records.append(record)
    return records


def _cut_off_message(line: bytes) -> dict[str, Any] | None:
    """What can be told of a first message from the beginning of its line."""
    found = _FIRST_WORDS.search(line.decode("utf-8", "ignore"))
    return {"type": "turn_started", "text": json.loads(f'{found[1]}"')} if found else None


def _newest_turn(content: mmap.mmap) -> int:
    place = content.rfind(b'"type":"turn_started","turn":')
    found = _TURN.match(content, place) if place >= 0 else None
    return int(found[1]) if found else 0
