"""Values of JSON that may be of any type, read as what they should be. For every API."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def text_of(value: object) -> str:
    """The value if it is text, else ""."""
    return value if isinstance(value, str) else ""


def object_of(value: object) -> Mapping[str, Any]:
    """The value if it is an object, else an empty one."""
    return value if isinstance(value, Mapping) else {}


def objects_of(value: object) -> list[Mapping[str, Any]]:
    """The objects in the value if it is a list, else none."""
    return [each for each in value if isinstance(each, Mapping)] if isinstance(value, list) else []


def count_of(group: object, name: str) -> int | None:
    """A field of an object if it is a whole number and not negative, else None."""
    value = object_of(group).get(name)
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None
