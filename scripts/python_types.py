"""Writes docs/guide/python-types.md: the public types with their fields, from their docstrings.

python -m scripts.python_types
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import msgspec

import keen_tui

PAGE: Final = Path(__file__).parents[1] / "docs" / "guide" / "python-types.md"
_HEAD: Final = """# Python types

The types that [`keen_tui`](python.md) exports, with their fields. `python -m scripts.python_types` writes
this page from the docstrings; the events are in [the schema of `stream-json`](../stream-json.schema.json).
"""


def text() -> str:
    """The whole page."""
    return "\n".join((_HEAD, *(part for name in keen_tui.__all__ for part in _type(getattr(keen_tui, name)))))


def _type(found: object) -> Iterator[str]:
    if not (inspect.isclass(found) and issubclass(found, msgspec.Struct)):
        return
    yield f"## {found.__name__}\n"
    yield f"{' '.join((inspect.getdoc(found) or '').split())}\n"
    yield "| field | type | default |\n|---|---|---|"
    for field in msgspec.structs.fields(found):
        hint = str(_annotation(found, field.name)).replace("|", "\\|")
        yield f"| `{field.name}` | {hint} | {_default(field)} |"
    yield ""


def _annotation(found: type, name: str) -> object:
    """The type of a field as it is written, there or in a base class."""
    written = (vars(base).get("__annotations__", {}) for base in found.__mro__)
    return next(each[name] for each in written if name in each)


def _default(field: msgspec.structs.FieldInfo) -> str:
    return "" if field.required else f"`{field.default!r}`"


if __name__ == "__main__":
    PAGE.write_text(text(), encoding="utf-8")
