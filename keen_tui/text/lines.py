"""Lines as editors count them: ended by LF, CRLF or CR, and by nothing else."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import AnyStr

LINE_END = re.compile(r"\r\n|\r|\n")
_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")

_PIECE = 1 << 17
"""Characters or bytes that are looked at in one go: other threads wait as long as that takes."""


def lines_with_ends(text: str) -> list[str]:
    """The lines of a text, each with its ending; the last one may have none."""
    lines: list[str] = []
    for piece in pieces(text):
        lines += _LINE.findall(piece) if len(piece) <= _PIECE + 1 else [piece]
    return lines


def lines_of(text: str) -> list[str]:
    """The lines of a text without their endings."""
    return [line.rstrip("\r\n") for line in lines_with_ends(text)]


def pieces(text: AnyStr) -> Iterator[AnyStr]:
    """A text in runs of whole lines, none of them long; a line that is long is one by itself."""
    lf, cr = _ends_like(text)
    start = 0
    while start < len(text):
        end = start + _PIECE
        if end < len(text):
            end = max(text.rfind(lf, start, end), text.rfind(cr, start, end)) + 1
            if end == 0:
                end = _first_end(text, start + _PIECE) + 1
            if text[end - 1 : end + 1] == cr + lf:
                end += 1
        yield text[start:end]
        start = end


def line_ends(text: AnyStr) -> int:
    """How many lines are ended in a text."""
    return sum(_count_ends(text).values())


def line_count(text: AnyStr) -> int:
    """How many lines a text has; the last one may have no ending."""
    lf, cr = _ends_like(text)
    return line_ends(text) + (not text.endswith((lf, cr)) if text else 0)


def usual_ending(text: str) -> str:
    """The line ending that is there most often, "" when there is none."""
    count = _count_ends(text)
    return max(count, key=count.__getitem__) if any(count.values()) else ""


def endings(text: str) -> set[str]:
    """The kinds of line endings that are there."""
    return {ending for ending, count in _count_ends(text).items() if count}


def cut(line: str, longest: int) -> str:
    """The line, or its beginning with a note of how much of it was left out."""
    left_out = len(line) - longest
    return line if left_out <= 0 else f"{line[:longest]}[{left_out} characters left out]"


def _count_ends(text: AnyStr) -> dict[str, int]:
    lf, cr = _ends_like(text)
    both = text.count(cr + lf)
    return {"\r\n": both, "\n": text.count(lf) - both, "\r": text.count(cr) - both}


def _first_end(text: AnyStr, start: int) -> int:
    """Where the first line end behind `start` begins; the last character when there is none."""
    lf, cr = _ends_like(text)
    found = text.find(lf, start)
    end = found if found >= 0 else len(text) - 1
    before = text.find(cr, start, end)
    return before if before >= 0 else end


def _ends_like(text: AnyStr) -> tuple[AnyStr, AnyStr]:
    """LF and CR, of the same kind as the text."""
    lf, cr = ("\n", "\r") if isinstance(text, str) else (b"\n", b"\r")
    return lf, cr
