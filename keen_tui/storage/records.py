"""The lines of a session file: what is written of an event, and how it becomes an event again.

A line is one JSON object: `n` (counts from 0), `at` (seconds since the epoch), `type`, then the fields of
`events.as_record`. The first line has type `session`.
"""

from __future__ import annotations

import json
import types
import typing
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, fields, replace
from functools import cache
from typing import Any

from keen_tui import events
from keen_tui.display import Display
from keen_tui.events import Event, ToolFinished, Usage, as_record, event_type
from keen_tui.memory.pending import PendingState
from keen_tui.models import Identity

if typing.TYPE_CHECKING:
    from cattrs import Converter

SCHEMA = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Header:
    """The first line of a session file."""

    id: str
    workspace: str
    began: float
    model: str = ""
    program: str = ""
    forked_from: str = ""
    schema: int = SCHEMA


@dataclass(frozen=True, slots=True)
class Record:
    """One line that held an event."""

    number: int
    at: float
    event: Event


def header_line(header: Header) -> bytes:
    """The first line of a file."""
    return _line({"n": 0, "at": header.began, "type": "session", **asdict(header)})


def event_line(number: int, at: float, event: Event) -> bytes:
    """An event as a line. Any text can be written, lone surrogates included."""
    return _line({"n": number, "at": round(at, 3), **as_record(event)})


def parsed_header(record: Mapping[str, Any]) -> Header | None:
    """The header, or None when the record is something else. Fields of another kind are left out."""
    schema = record.get("schema")
    if record.get("type") != "session" or type(schema) is not int:
        return None
    header = Header(id="", workspace="", began=0.0, schema=schema)
    known = {each.name: type(getattr(header, each.name)) for each in fields(Header)}
    given = {name: record[name] for name, kind in known.items() if type(record.get(name)) is kind}
    return replace(header, **given)


def parsed_event(record: Mapping[str, Any]) -> Event | None:
    """The event of a record; None for types that this version does not know.

    Raises:
        ValueError: a field is missing or of the wrong kind.
    """
    kind = _kinds().get(record.get("type", ""))
    if kind is None:
        return None
    try:
        return _converter().structure(_nested(kind, record), kind)
    except Exception as error:  # cattrs raises groups of many kinds
        raise ValueError(f"no valid {record.get('type')}") from error


def pending_text(identity: Identity, pending: PendingState) -> str:
    """Pending state as a JSON document, with what it belongs to."""
    return json.dumps({"schema": SCHEMA, "identity": asdict(identity), "pending": asdict(pending)})


def parsed_pending(text: bytes) -> tuple[Identity, PendingState]:
    """Identity and pending state. Raises ValueError."""
    try:
        document = json.loads(text)
        if document["schema"] != SCHEMA:
            raise ValueError("another schema")
        identity = _converter().structure(document["identity"], Identity)
        return identity, _converter().structure(document["pending"], PendingState)
    except Exception as error:
        raise ValueError("no valid pending state") from error


def _line(record: Mapping[str, Any]) -> bytes:
    text = json.dumps(record, ensure_ascii=False, separators=(",", ":"))
    return text.encode("utf-8", "surrogatepass") + b"\n"


@cache
def _kinds() -> dict[str, type[Event]]:
    members = typing.get_args(events.Event)
    return {event_type(kind): kind for kind in members}


_FLAT: Mapping[type, str] = {ToolFinished: "result", Usage: "tokens"}
"""Fields whose own fields `as_record` lays flat into the record."""


def _nested(kind: type[Event], record: Mapping[str, Any]) -> Mapping[str, Any]:
    """The record with what was laid flat put back. Names that a type does not know are passed over."""
    flat = _FLAT.get(kind)
    return record if flat is None else {**record, flat: record}


@cache
def _converter() -> Converter:
    from cattrs import Converter  # noqa: PLC0415 - only where a session is read

    converter = Converter(detailed_validation=False)
    displays = {kind.__name__: kind for kind in typing.get_args(Display)}

    def structured_display(value: Any, _: Any) -> Any:
        return None if value is None else converter.structure(value, displays[value["kind"]])

    def is_display(kind: Any) -> bool:
        members = set(typing.get_args(kind)) - {types.NoneType}
        return bool(members) and members <= set(displays.values()) and len(members) > 1

    converter.register_structure_hook_func(is_display, structured_display)
    for primitive in (str, int, bool):
        converter.register_structure_hook(primitive, _exactly(primitive))
    converter.register_structure_hook(float, _number)
    return converter


def _exactly(kind: type) -> Callable[[Any, Any], Any]:
    def checked(value: Any, _: Any) -> Any:
        if type(value) is not kind:
            raise ValueError(f"{value!r} is no {kind.__name__}")
        return value

    return checked


def _number(value: Any, _: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError(f"{value!r} is no number")
    return float(value)
