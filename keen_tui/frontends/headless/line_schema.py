"""The JSON schema of the lines of `stream-json`, built from the types of the events and of the input."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, get_args

import msgspec
from msgspec import Struct

from keen_tui.domain.event_records import LAID_FLAT, event_type
from keen_tui.domain.events import (
    ImagesAttached,
    OwnEvent,
    ResourcesAttached,
    RunBegun,
    RunContinued,
    RunEnded,
    SessionOpened,
    SkillCalled,
)
from keen_tui.frontends.headless.input_lines import AnyInputLine, InputError
from keen_tui.frontends.headless.not_done import LeftBehind, RefusedCall
from keen_tui.frontends.headless.printer import SCHEMA, SUMMED_UP
from keen_tui.frontends.headless.run import SAVED_FIRST

_DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"
_PREFIX: Final = "#/$defs/"

_Part = dict[str, Any]

_TEXT: Final[_Part] = {"type": "string"}
_BYTES: Final[_Part] = {"type": "integer"}

_TOLD: Final[Mapping[type, tuple[str, _Part]]] = {
    ImagesAttached: ("images", {"type": "array", "items": _TEXT}),
    SkillCalled: (
        "skill",
        {"type": "object", "required": ["name", "bytes"], "properties": {"name": _TEXT, "bytes": _BYTES}},
    ),
    ResourcesAttached: (
        "resources",
        {
            "type": "array",
            "items": {
                "type": "object",
                "required": ["server", "uri", "bytes"],
                "properties": {"server": _TEXT, "uri": _TEXT, "bytes": _BYTES},
            },
        },
    ),
}
"""Fields whose content `event_records.as_told` leaves out: only names, addresses and sizes are printed."""

_SAVED: Final = (*SAVED_FIRST, RunBegun, RunContinued, RunEnded)
"""Events with the field `saved`: whether the session file holds them."""

_OF_AGENT: Final[_Part] = {
    "agent": {"type": "string", "description": 'The sub-agent whose event this is; "" or missing for none.'},
    "call": {"type": "string", "description": "The id of the call that began the sub-agent."},
}


def _list_of(kind: type[Struct]) -> _Part:
    fields = dict.fromkeys(kind.__struct_fields__, _TEXT)
    return {"type": "array", "items": {"type": "object", "required": list(fields), "properties": fields}}


_SO_FAR: Final = {"refused": _list_of(RefusedCall), "left_behind": _list_of(LeftBehind)}
"""Fields of `NotDone.record`."""


def schema_text() -> str:
    """The schema as JSON, indented."""
    return json.dumps(line_schema(), indent=2, ensure_ascii=False)


def line_schema() -> _Part:
    """The schema of a line. `$defs/output_line` is a line that Keen prints, `$defs/input_line` one that it
    reads with `--input stream-json`."""
    printed = _classes(OwnEvent)
    read = _classes(AnyInputLine)
    _, components = msgspec.json.schema_components(
        (*printed, InputError, *read), ref_template=f"{_PREFIX}{{name}}"
    )
    inputs = {_tag(each): components.pop(each.__name__) for each in read}
    outputs = {event_type(each): _record(each, components) for each in printed}
    outputs["input_error"] = _whole(components["InputError"])
    parts = {name: _whole(each) for name, each in components.items() if name not in _names(printed)}
    del parts["InputError"]
    definitions: _Part = {
        "output_line": {"oneOf": [_reference(name) for name in outputs]},
        "input_line": {"oneOf": [_reference(f"input_{name}") for name in inputs]},
        **outputs,
        **{f"input_{name}": each for name, each in inputs.items()},
        **_used(parts, (*outputs.values(), *inputs.values())),
    }
    return {
        "$schema": _DIALECT,
        "title": "Lines of keen-tui --output stream-json and --input stream-json",
        "description": f"Version {SCHEMA}. New events and new fields don't change the version.",
        "anyOf": [_reference("output_line"), _reference("input_line")],
        "$defs": definitions,
    }


def _classes(union: Any) -> list[type[Struct]]:
    """The classes of a union, in the order of the union."""
    return [each for each in get_args(union) if isinstance(each, type)]


def _names(classes: Sequence[type]) -> set[str]:
    return {each.__name__ for each in classes}


def _tag(line: type[Struct]) -> str:
    return str(line.__struct_config__.tag)


def _reference(name: str) -> _Part:
    return {"$ref": f"{_PREFIX}{name}"}


def _record(event: type[Struct], components: Mapping[str, _Part]) -> _Part:
    """The schema of an event as `stream-json` prints it."""
    schema = components[event.__name__]
    fields: _Part = dict(schema["properties"])
    if flat := LAID_FLAT.get(event):
        inner = fields.pop(flat)
        fields |= components[_target(inner)]["properties"]
    if event in _TOLD:
        name, told = _TOLD[event]
        fields[name] = told
    kind: _Part = {"type": {"const": event_type(event)}}
    extra: _Part = {"saved": {"type": "boolean"}} if event in _SAVED else {}
    extra |= {"schema": {"type": "integer"}} if event is SessionOpened else {}
    extra |= _SO_FAR if event in SUMMED_UP else {}
    return {
        "type": "object",
        "description": _one_line(schema.get("description", "")),
        "properties": {**kind, **_OF_AGENT, **_without_defaults(fields), **extra},
        "required": ["type", *fields],
    }


def _target(reference: _Part) -> str:
    """The name that a schema refers to, even if the reference is one of several choices."""
    found = reference.get("$ref") or next(each["$ref"] for each in reference["anyOf"] if "$ref" in each)
    return str(found).removeprefix(_PREFIX)


def _whole(schema: _Part) -> _Part:
    """The schema of an object in a printed line. All fields are required, since all are printed."""
    if "properties" not in schema:
        return schema
    fields = schema["properties"]
    described = {"description": _one_line(schema["description"])} if "description" in schema else {}
    return {
        "type": "object",
        **described,
        "properties": _without_defaults(fields),
        "required": list(fields),
    }


def _without_defaults(fields: _Part) -> _Part:
    """The schemas of fields without defaults, since all fields are printed."""
    return {
        name: {key: value for key, value in each.items() if key != "default"} for name, each in fields.items()
    }


def _used(parts: Mapping[str, _Part], lines: Sequence[_Part]) -> _Part:
    """The parts that the lines refer to, directly or through other parts."""
    found: _Part = {}
    wanted = list(lines)
    while wanted:
        for name in _references(wanted.pop()):
            if name in parts and name not in found:
                found[name] = parts[name]
                wanted.append(parts[name])
    return dict(sorted(found.items()))


def _references(value: Any) -> Iterator[str]:
    if isinstance(value, Mapping):
        if isinstance(target := value.get("$ref"), str):
            yield target.removeprefix(_PREFIX)
        for each in value.values():
            yield from _references(each)
    elif isinstance(value, list):
        for each in value:
            yield from _references(each)


def _one_line(text: str) -> str:
    return " ".join(text.split())
