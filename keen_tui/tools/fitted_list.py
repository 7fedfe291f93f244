"""Names with their descriptions, one a line, in as many bytes as a request has for them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from keen_tui.settings.added.definition_files import LONGEST_DESCRIPTION

_LENGTHS: Final = (LONGEST_DESCRIPTION, 500, 250, 120, 60, 0)
"""Characters of a description; the first length at which all lines fit is used for all of them."""


def fitted_list(described: Sequence[tuple[str, str]], most_bytes: int) -> list[str]:
    """The lines for these names and descriptions, in their order. Same input, same bytes."""
    for length in _LENGTHS:
        lines = [_line(name, text, length) for name, text in described]
        if sum(map(_bytes, lines)) <= most_bytes:
            return lines
    kept, room = [], most_bytes
    for line in lines:
        room -= _bytes(line)
        if room < 0:
            break
        kept.append(line)
    return [*kept, f"- and {len(lines) - len(kept)} more, not named here"]


def _line(name: str, text: str, length: int) -> str:
    shown = text if len(text) <= length else f"{text[:length].rstrip()}…"
    return f"- {name}: {shown}" if length else f"- {name}"


def _bytes(line: str) -> int:
    return len(line.encode("utf-8", "replace")) + 1
