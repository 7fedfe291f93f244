"""Names with their descriptions, one a line, in as many bytes as a request has for them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from keen_tui.settings.added.definition_files import LONGEST_DESCRIPTION

_LENGTHS: Final = (LONGEST_DESCRIPTION, 500, 250, 120)
"""Characters of a description; the first length at which all lines fit is used for all of them. With fewer
than the last the model can't tell what a thing is for."""


def fitted_list(described: Sequence[tuple[str, str]], most_bytes: int) -> tuple[list[str], int]:
    """The lines for these names and descriptions, in their order, and how many at the end didn't fit. Same
    input, same bytes."""
    for length in _LENGTHS:
        lines = [_line(name, text, length) for name, text in described]
        if sum(map(_bytes, lines)) <= most_bytes:
            return lines, 0
    kept, room = [], most_bytes
    for line in lines:
        room -= _bytes(line)
        if room < 0:
            break
        kept.append(line)
    return kept, len(lines) - len(kept)


def _line(name: str, text: str, length: int) -> str:
    shown = text if len(text) <= length else f"{text[:length].rstrip()}…"
    return f"- {name}: {shown}"


def _bytes(line: str) -> int:
    return len(line.encode("utf-8", "replace")) + 1
