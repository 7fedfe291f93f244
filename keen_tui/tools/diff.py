"""The difference of two texts as display data."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import SequenceMatcher

from keen_tui.display import DiffDisplay, DiffLine

CONTEXT = 3
"""Unchanged lines around a change."""

MOST_ROWS = 600
"""Rows of a diff that are shown; the rest is counted."""

_MOST_COMPARED = 4_000
"""Lines of the changed middle that are compared one by one; a larger middle counts as replaced."""

Opcode = tuple[str, int, int, int, int]


def diff_display(path: str, before: str, after: str) -> DiffDisplay:
    """What changes from `before` to `after`, line by line."""
    old, new = before.splitlines(), after.splitlines()
    hunks: list[tuple[DiffLine, ...]] = []
    added = removed = rows = left_out = 0
    for group in _groups(old, new):
        hunk = _rows(group, old, new)
        added += sum(row.sign == "+" for row in hunk)
        removed += sum(row.sign == "-" for row in hunk)
        shown = hunk[: max(MOST_ROWS - rows, 0)]
        rows += len(shown)
        left_out += len(hunk) - len(shown)
        if shown:
            hunks.append(tuple(shown))
    return DiffDisplay(
        path=path,
        hunks=tuple(hunks),
        added=added,
        removed=removed,
        total_lines=len(new),
        left_out=left_out,
    )


def _groups(old: Sequence[str], new: Sequence[str]) -> list[list[Opcode]]:
    """Runs of changes with their context, as SequenceMatcher.get_grouped_opcodes gives them."""
    start = _common(old, new)
    end = min(_common(old[::-1], new[::-1]), min(len(old), len(new)) - start)
    middle = _middle(old[start : len(old) - end], new[start : len(new) - end])
    opcodes = [(tag, a + start, b + start, c + start, d + start) for tag, a, b, c, d in middle]
    matcher: SequenceMatcher[str] = SequenceMatcher()
    matcher.opcodes = [  # type: ignore[attr-defined]  # grouping is all that is asked of it
        *([("equal", 0, start, 0, start)] if start else []),
        *opcodes,
        *([("equal", len(old) - end, len(old), len(new) - end, len(new))] if end else []),
    ]
    return [list(group) for group in matcher.get_grouped_opcodes(CONTEXT)]


def _common(old: Sequence[str], new: Sequence[str]) -> int:
    count = 0
    for one, other in zip(old, new, strict=False):
        if one != other:
            break
        count += 1
    return count


def _middle(old: Sequence[str], new: Sequence[str]) -> list[Opcode]:
    if not old and not new:
        return []
    if len(old) + len(new) > _MOST_COMPARED:
        return [("replace", 0, len(old), 0, len(new))]
    return list(SequenceMatcher(None, old, new, autojunk=False).get_opcodes())


def _rows(group: Sequence[Opcode], old: Sequence[str], new: Sequence[str]) -> list[DiffLine]:
    rows: list[DiffLine] = []
    for tag, old_from, old_to, new_from, new_to in group:
        if tag == "equal":
            numbered = enumerate(new[new_from:new_to], new_from + 1)
            rows += (DiffLine(sign=" ", number=number, text=text) for number, text in numbered)
            continue
        gone = enumerate(old[old_from:old_to], old_from + 1)
        rows += (DiffLine(sign="-", number=number, text=text) for number, text in gone)
        come = enumerate(new[new_from:new_to], new_from + 1)
        rows += (DiffLine(sign="+", number=number, text=text) for number, text in come)
    return rows
