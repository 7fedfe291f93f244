"""Reads the descriptions of a function and of its arguments from its docstring. Pure."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Sequence

from msgspec import Struct

_SECTION = re.compile(r"[A-Z][\w ]*:")
_OF_ARGUMENTS = ("Args:", "Arguments:", "Parameters:")
_ARGUMENT = re.compile(r"(\w+)(?: *\([^)]*\))?: *(.*)")


class Described(Struct, frozen=True):
    """A docstring: `text` is all but the section of the arguments, `arguments` has the description of each by
    name."""

    text: str
    arguments: dict[str, str]


def described(docstring: str) -> Described:
    """Read a docstring whose indentation is removed. Arguments are below `Args:`, each as `name: words` or
    `name (type): words`; more indented lines continue the one before."""
    lines = docstring.splitlines()
    begins = next((number for number, line in enumerate(lines) if line in _OF_ARGUMENTS), None)
    if begins is None:
        return Described(docstring.strip(), {})
    inside = lines[begins + 1 :]
    length = next((number for number, line in enumerate(inside) if _SECTION.fullmatch(line)), len(inside))
    text = "\n".join((*lines[:begins], *inside[length:])).strip()
    return Described(text, _arguments(textwrap.dedent("\n".join(inside[:length])).splitlines()))


def _arguments(lines: Sequence[str]) -> dict[str, str]:
    found: dict[str, str] = {}
    name = ""
    for line in lines:
        if match := _ARGUMENT.fullmatch(line):
            name = match[1]
            found[name] = match[2]
        elif name and line.strip():
            found[name] = f"{found[name]} {line.strip()}".strip()
    return found
