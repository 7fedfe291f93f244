"""Where a setting stands in the text of a TOML file: no parser tells that."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

from keen_tui.system.paths import text_of

_TABLE: Final = re.compile(r"\s*\[\s*([^\[\]]+?)\s*\]\s*(#.*)?")
_KEY: Final = re.compile(r"""\s*((?:[\w-]+|"[^"]*"|'[^']*')(?:\s*\.\s*(?:[\w-]+|"[^"]*"|'[^']*'))*)\s*=""")


def line_of(text: str, name: str, *, in_comments: bool = False) -> int:
    """The line, from 1 on, where a dotted name ("keys.retry") is set, or its table begins; 0: not seen.

    With `in_comments` it may stand in one: `# name = value`. The table is one that is really there.
    """
    table, begin = "", 0
    for number, whole in enumerate(text.splitlines(), start=1):
        line = whole.removeprefix("#") if in_comments else whole
        if opened := _TABLE.fullmatch(whole):
            table = _plain(opened[1])
            begin = number if table == name else begin
        elif (key := _KEY.match(line)) and name == f"{table}.{_plain(key[1])}".lstrip("."):
            return number
    return begin


def uncommented(text: str, name: str) -> str:
    """The text with the line `# name = value` of a setting that is nowhere set taken out of its comment.

    Whether it is TOML then is for the caller to see: such a line may be prose.
    """
    lines = text.splitlines(keepends=True)
    found = line_of(text, name, in_comments=True)
    if line_of(text, name) or not found or not lines[found - 1].startswith("#"):
        return text
    lines[found - 1] = lines[found - 1].removeprefix("#").lstrip(" ")
    return "".join(lines)


def place_of(file: Path, name: str) -> str:
    """The file, and the line where the setting stands, or what it is part of, if that can be seen: for a
    sentence."""
    try:
        text = text_of(file)
    except (OSError, ValueError):
        text = ""
    line = 0
    while name and not line:
        line, name = line_of(text, name), name.rpartition(".")[0]
    return f"{file}, line {line}" if line else str(file)


def _plain(name: str) -> str:
    """A dotted name without blanks and quotes."""
    return ".".join(part.strip().strip("\"'") for part in name.split("."))
