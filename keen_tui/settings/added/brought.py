"""The kinds of things that a project can bring, for the question whether they may be used.

A new kind is one reader that returns a `Brought`, and its line in `project.read_project`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from typing import Final

from msgspec import Struct

from keen_tui.text.disguise import revealed

_LONGEST: Final = 300
"""Characters of a value in the question; nobody reads more."""
MOST_ROWS: Final = 20
"""Rows of one kind in the question."""
_MOST_NAMES: Final = 5
"""Names that a sentence lists."""


class Brought(Struct, frozen=True, kw_only=True):
    """Everything of one kind that a project brings.

    `name` is that of the kind: "commands". `title` follows the folder's name in the question: "has commands
    of its own, in .keen/commands". `rows` are shown below it. The answer holds as long as `content` is the
    same: everything that can have an effect.
    """

    name: str
    title: str
    rows: tuple[str, ...]
    content: tuple[bytes, ...]


def digest_of(kinds: Iterable[Brought]) -> str:
    """One digest of all content. The length of each part goes before it, so that the end of one can't be
    taken for the beginning of the next."""
    digest = hashlib.sha256()
    for part in (part for kind in kinds for part in kind.content):
        digest.update(b"%d:" % len(part) + part)
    return digest.hexdigest()


def in_question(value: object, longest: int | None = _LONGEST) -> str:
    """A value as one row of the question can show it: nothing in it drives the terminal or looks like another
    row. Text over `longest` characters is cut."""
    if isinstance(value, list):
        return "[" + ", ".join(in_question(each, longest) for each in value) + "]"
    text = revealed(str(value)).replace("\n", "<U+000A>")
    return text if longest is None or len(text) <= longest else f"{text[:longest]}…"


def first_rows(rows: Sequence[str]) -> tuple[str, ...]:
    """The first rows, and how many more there are."""
    more = len(rows) - MOST_ROWS
    return (*rows[:MOST_ROWS], *([f"  and {more} more"] if more > 0 else []))


def first_names(names: Sequence[str], most: int = _MOST_NAMES) -> str:
    """The first names, as a list in a sentence, and how many more there are."""
    more = len(names) - most
    shown = ", ".join(map(in_question, names[:most]))
    return f"{shown} and {more} more" if more > 0 else shown
