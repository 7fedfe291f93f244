"""The parameters of a server's tool in a form that every model API accepts. Pure."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

from msgspec import Struct

from keen_tui.text.lines import cut
from keen_tui.text.sanitize import clean

MOST_BYTES: Final = 50_000
"""Bytes. Larger schemas are refused."""

_DEEPEST: Final = 40
_LONGEST_NOTE: Final = 500
_CHOICES: Final = ("anyOf", "oneOf", "allOf")


class SchemaRefused(ValueError):
    """A schema that the APIs wouldn't accept. The text says why, as the end of a sentence."""


class UsableSchema(Struct, frozen=True):
    """A JSON schema of type object. `note` tells the model which choices it has lost, "" for none."""

    value: Mapping[str, Any]
    note: str = ""


def usable_schema(given: object) -> UsableSchema:
    """The schema as an object with properties. At the top it has no choice between schemas, which the APIs
    refuse.

    Raises:
        SchemaRefused: it isn't the schema of an object, or it is too large or too deep.
    """
    if given is None or given is True:
        given = {}
    if not isinstance(given, Mapping):
        raise SchemaRefused("its parameters aren't a JSON schema")
    kind = given.get("type", "object")
    if kind != "object" and not (isinstance(kind, list) and "object" in kind):
        raise SchemaRefused("its parameters aren't an object")
    schema = {name: value for name, value in given.items() if name not in ("$schema", "$id")}
    schema["properties"] = _with_choices(schema, _properties(schema))
    for name in _CHOICES:
        schema.pop(name, None)
    schema["type"] = "object"
    required = [*_required(schema), *(name for part in _choices(given, "allOf") for name in _required(part))]
    schema.pop("required", None)
    if named := [name for name in dict.fromkeys(required) if name in schema["properties"]]:
        schema["required"] = named
    try:
        text = json.dumps(schema, allow_nan=False)
    except (TypeError, ValueError, RecursionError):
        raise SchemaRefused("its parameters can't be written as JSON") from None
    if len(text) > MOST_BYTES:
        raise SchemaRefused(f"its parameters have more than {MOST_BYTES:,} bytes")
    if _depth(schema) > _DEEPEST:
        raise SchemaRefused("its parameters are nested too deeply")
    return UsableSchema(_mended(schema), _note(given))


def _with_choices(schema: Mapping[str, Any], properties: Mapping[str, Any]) -> dict[str, Any]:
    """The properties, with those of the schemas that the top offers as choices. The server still checks which
    of them go together."""
    found = dict(properties)
    for name in _CHOICES:
        for choice in _choices(schema, name):
            found = {**_properties(choice), **found}
    return found


def _note(schema: Mapping[str, Any]) -> str:
    """Which properties go together, by the choices at the top; "" without choices."""
    notes = []
    for name, amount in (("oneOf", "exactly one"), ("anyOf", "at least one")):
        if groups := [", ".join(_required(each) or _properties(each)) for each in _choices(schema, name)]:
            listed = " | ".join(group or "a form that can't be shown here" for group in groups)
            notes.append(f"give {amount} of these groups of parameters: {listed}")
    return cut(clean("; ".join(notes)), _LONGEST_NOTE)


def _choices(schema: Mapping[str, Any], name: str) -> list[Mapping[str, Any]]:
    given = schema.get(name)
    return [each for each in given if isinstance(each, Mapping)] if isinstance(given, list) else []


def _properties(schema: Mapping[str, Any]) -> Mapping[str, Any]:
    properties = schema.get("properties")
    return properties if isinstance(properties, Mapping) else {}


def _required(schema: Mapping[str, Any]) -> list[str]:
    required = schema.get("required")
    return [name for name in required if isinstance(name, str)] if isinstance(required, list) else []


def _mended(value: Any) -> Any:
    """The schema with what some APIs refuse repaired: lists without items, booleans in place of schemas."""
    if isinstance(value, list):
        return [_mended(each) for each in value]
    if not isinstance(value, Mapping):
        return value
    mended = {str(name): _mended(each) for name, each in value.items()}
    properties = mended.get("properties")
    if isinstance(properties, dict):
        mended["properties"] = {
            name: each if isinstance(each, dict) else {} for name, each in properties.items()
        }
    if mended.get("type") == "array" and "items" not in mended and "prefixItems" not in mended:
        mended["items"] = {}
    return mended


def _depth(value: Any, limit: int = _DEEPEST + 1) -> int:
    if limit == 0 or not isinstance(value, Mapping | list):
        return 0
    inner = value.values() if isinstance(value, Mapping) else value
    return 1 + max((_depth(each, limit - 1) for each in inner), default=0)
