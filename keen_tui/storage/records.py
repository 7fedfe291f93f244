"""The lines of a session file: writes events as lines and reads them back.

A line is one JSON object: `n` (counts from 0), `at` (seconds since the epoch), `type`, then the fields of
`events.as_record`. The first line has type `session`.
"""

from __future__ import annotations

import json
import typing
from collections.abc import Mapping
from functools import cache
from typing import Any

from msgspec import Struct, ValidationError, convert, structs, to_builtins
from msgspec.structs import replace

from keen_tui.domain import events
from keen_tui.domain.event_records import LAID_FLAT, as_record, event_type
from keen_tui.domain.events import Event
from keen_tui.domain.models import Identity
from keen_tui.memory.pending import PendingState

SCHEMA = 1


class Header(Struct, frozen=True, kw_only=True):
    """The first line of a session file."""

    id: str
    workspace: str
    began: float
    model: str = ""
    program: str = ""
    forked_from: str = ""
    schema: int = SCHEMA


_NO_HEADER = Header(id="", workspace="", began=0.0)


class Record(Struct, frozen=True):
    """One line with an event."""

    number: int
    at: float
    event: Event


def header_line(header: Header) -> bytes:
    """The first line of a file."""
    return _line({"n": 0, "at": header.began, "type": "session", **to_builtins(header)})


def event_line(number: int, at: float, event: Event) -> bytes:
    """An event as a line. Any text can be written, lone surrogates included."""
    return _line({"n": number, "at": round(at, 3), **as_record(event)})


def parsed_header(record: Mapping[str, Any]) -> Header | None:
    """The header, or None if the record isn't one. Ignores fields of the wrong type."""
    schema = record.get("schema")
    if record.get("type") != "session" or type(schema) is not int:
        return None
    given = {name: record[name] for name, kind in _header_kinds().items() if type(record.get(name)) is kind}
    return replace(_NO_HEADER, **given)


def parsed_event(record: Mapping[str, Any]) -> Event | None:
    """The event of a record; None for types that this version doesn't know.

    Raises:
        ValueError: a field is missing or has the wrong type.
    """
    kind = _kinds().get(record.get("type", ""))
    if kind is None:
        return None
    try:
        return convert(_nested(kind, record), kind)
    except ValidationError as error:
        raise ValueError(f"no valid {record.get('type')}") from error


def pending_text(identity: Identity, pending: PendingState) -> str:
    """Pending state as a JSON document, with its identity."""
    document = {"schema": SCHEMA, "identity": identity, "pending": pending}
    return json.dumps(to_builtins(document))


def parsed_pending(text: bytes) -> tuple[Identity, PendingState]:
    """Identity and pending state. Raises ValueError."""
    try:
        document = json.loads(text)
        if document["schema"] != SCHEMA:
            raise ValueError("another schema")
        return convert(document["identity"], Identity), convert(document["pending"], PendingState)
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise ValueError("no valid pending state") from error


def _line(record: Mapping[str, Any]) -> bytes:
    text = json.dumps(record, ensure_ascii=False, separators=(",", ":"))
    return text.encode("utf-8", "surrogatepass") + b"\n"


@cache
def _header_kinds() -> dict[str, type]:
    """The type of each field of a header."""
    return {each.name: type(getattr(_NO_HEADER, each.name)) for each in structs.fields(Header)}


@cache
def _kinds() -> dict[str, type[Event]]:
    members = typing.get_args(events.OwnEvent)  # those of sub-agents are in files of their own
    return {event_type(kind): kind for kind in members}


def _nested(kind: type[Event], record: Mapping[str, Any]) -> Mapping[str, Any]:
    """The record with its flattened fields nested again. Ignores names that the type doesn't know."""
    flat = LAID_FLAT.get(kind)
    if flat is None:
        return record
    inner = {**record, "facts": [*map(_told_apart, record["facts"])]} if record.get("facts") else record
    return {**record, flat: inner}


def _told_apart(fact: Any) -> Any:
    """Give a kind to facts from before facts had one: only a file has a path."""
    if not isinstance(fact, dict) or "kind" in fact:
        return fact
    return {**fact, "kind": "FileChanged" if "path" in fact else "CommandFailed"}
