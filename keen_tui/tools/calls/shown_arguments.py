"""The arguments of a call of any tool, as a person reads them. Pure."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, Final

from keen_tui.text.sanitize import clean
from keen_tui.tools.process.bounded_output import cleaned

_LONGEST_VALUE: Final = 80


def arguments_shown(arguments: Mapping[str, Any]) -> Iterator[str]:
    """Arguments as lines, `name: value`; a text of several lines goes below its name."""
    for name, value in arguments.items():
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, indent=2)
        text = cleaned(text)
        if "\n" in text:
            yield f"{clean(str(name))}:"
            yield from (f"  {line}" for line in text.split("\n"))
        else:
            yield f"{clean(str(name))}: {text}"


def arguments_in_short(arguments: Mapping[str, Any]) -> str:
    """`path: a.py, line: 12`, in one line; long values are cut."""
    return clean(", ".join(f"{name}: {_in_short(value)}" for name, value in arguments.items()))


def _in_short(value: object) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= _LONGEST_VALUE else f"{text[:_LONGEST_VALUE]}…"
