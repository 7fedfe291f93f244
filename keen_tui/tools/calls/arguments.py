"""Checks the arguments from a model against the tool's declaration."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, TypeVar

import msgspec

from keen_tui.domain.errors import ToolFailure
from keen_tui.domain.messages import ToolSpec
from keen_tui.text.sanitize import clean

_WHOLE = re.compile(r"\s*-?[0-9]{1,18}\s*")

_LONGEST_MENTION = 500
"""The most characters of an argument in the target of a call."""

_TYPES: Mapping[str, tuple[type, str]] = {
    "string": (str, "a string"),
    "integer": (int, "a whole number"),
    "boolean": (bool, "true or false"),
    "array": (list, "a list"),
}


def checked(spec: ToolSpec, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments, complete and with the declared types; null counts as missing.

    Whole numbers may come as text or with `.0`, as some models send them.

    Raises:
        ToolFailure: an argument is unknown, missing or of the wrong type; the message says which.
    """
    properties: Mapping[str, Mapping[str, Any]] = spec.parameters["properties"]
    given = {name: value for name, value in arguments.items() if value is not None}
    if unknown := sorted(map(str, given.keys() - properties.keys())):
        raise ToolFailure(f"{spec.name} has no argument {unknown[0]!r}. It takes: {', '.join(properties)}.")
    for name in spec.parameters["required"]:
        if name not in given:
            raise ToolFailure(f"{spec.name} needs the argument {name!r}.")
    return {name: _typed(spec, name, value, properties[name]["type"]) for name, value in given.items()}


Item = TypeVar("Item")


def converted(tool: str, name: str, value: object, type: type[Item]) -> Item:
    """A nested argument, converted to that type.

    Raises:
        ToolFailure: it doesn't fit the type; the message says where.
    """
    try:
        return msgspec.convert(value, type)
    except msgspec.ValidationError as error:
        raise ToolFailure(f"{tool}: {name}: {str(error).replace('`', '')}.") from error


def _typed(spec: ToolSpec, name: str, value: object, wanted: str) -> object:
    kind, words = _TYPES[wanted]
    if kind is int:
        value = whole(value)
    if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
        raise ToolFailure(f"{spec.name}: {name} must be {words}, not {value!r:.80}.")
    if isinstance(value, str) and not _is_whole(value):
        raise ToolFailure(f"{spec.name}: {name} contains a lone surrogate (half a character). Send it again.")
    return value


def whole(value: object) -> object:
    """A whole number that came as text or with `.0`; everything else unchanged."""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, str) and _WHOLE.fullmatch(value):
        return int(value)
    return value


def _is_whole(text: str) -> bool:
    """Whether the text has no half characters (lone surrogates)."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def mentioned(arguments: Mapping[str, Any], *names: str) -> str:
    """The texts of these arguments in one clean line, whatever the model sent; "" for none."""
    texts = (arguments.get(name) for name in names)
    return clean(" in ".join(text[:_LONGEST_MENTION] for text in texts if isinstance(text, str) and text))
