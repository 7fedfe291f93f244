"""Lines as editors count them: ended by LF, CRLF or CR, and by nothing else."""

from __future__ import annotations

import re

LINE_END = re.compile(r"\r\n|\r|\n")
_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")


def lines_with_ends(text: str) -> list[str]:
    """The lines of a text, each with its ending; the last one may have none."""
    return _LINE.findall(text)


def lines_of(text: str) -> list[str]:
    """The lines of a text without their endings."""
    return [line.rstrip("\r\n") for line in lines_with_ends(text)]


def usual_ending(text: str) -> str:
    """The line ending that is there most often, "" when there is none."""
    found = LINE_END.findall(text)
    return max(("\r\n", "\n", "\r"), key=found.count) if found else ""


def cut(line: str, longest: int) -> str:
    """The line, or its beginning with a note of how much of it was left out."""
    left_out = len(line) - longest
    return line if left_out <= 0 else f"{line[:longest]}[{left_out} characters left out]"
