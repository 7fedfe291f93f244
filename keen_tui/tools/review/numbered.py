"""A changed file as the model reads it: its hunks with line numbers, and the line ranges that they cover."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Iterator

from msgspec import Struct

from keen_tui.domain.display import DiffDisplay, DiffLine
from keen_tui.text.sanitize import clean

_HUNK = "@@ lines {} to {} @@"


class ReviewedFile(Struct, frozen=True, kw_only=True):
    """A changed file under review. `places` are the ranges of lines that its diff shows, ends included, in
    the new version; in the old one if nothing is left of the new. `rows` are the numbered lines."""

    path: str
    change: str
    places: tuple[tuple[int, int], ...]
    rows: tuple[str, ...]

    @property
    def text(self) -> str:
        """The numbered lines below the name of the file."""
        return "\n".join((f"=== {named(self.path)} ({self.change})", *self.rows))

    def covers(self, first: int, last: int) -> bool:
        """Whether one hunk shows all these lines."""
        return any(start <= first <= last <= end for start, end in self.places)

    @property
    def shown_places(self) -> str:
        """`10-22, 40-47`."""
        return ", ".join(f"{start}-{end}" for start, end in self.places)


def reviewed_file(path: str, change: str, diff: DiffDisplay) -> ReviewedFile:
    """The file for this diff."""
    by_old = not any(line.sign != "-" for hunk in diff.hunks for line in hunk)
    places = tuple(_place(hunk, by_old=by_old) for hunk in diff.hunks)
    rows = tuple(row for hunk in diff.hunks for row in _rows(hunk, by_old=by_old))
    return ReviewedFile(path=path, change=change, places=places or ((1, 1),), rows=rows)


def named(path: str) -> str:
    """A path on one line: quoted if it has line breaks or control characters, or looks quoted."""
    has_breaks = any(unicodedata.category(char) in ("Cc", "Zl", "Zp", "Cf") for char in path)
    return json.dumps(path) if has_breaks or path != path.strip() or path.startswith('"') else path


def _place(hunk: tuple[DiffLine, ...], *, by_old: bool) -> tuple[int, int]:
    numbers = [line.number for line in hunk if by_old or line.sign != "-"]
    return min(numbers), max(numbers)


def _rows(hunk: tuple[DiffLine, ...], *, by_old: bool) -> Iterator[str]:
    yield _HUNK.format(*_place(hunk, by_old=by_old))
    for line in hunk:
        number = line.number if by_old or line.sign != "-" else ""
        yield f"{number:>6} {line.sign}{clean(line.text, tabs=True, escapes=True)}".rstrip()
