"""The difference of two texts as display data."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from itertools import accumulate, islice

from keen_tui.domain.display import DiffDisplay, DiffLine
from keen_tui.text.lines import cut, line_count, line_ends, lines_with_ends
from keen_tui.text.unclosed import Unclosed

CONTEXT = 3
"""Unchanged lines around a change."""

MOST_ROWS = 600
"""Rows of a diff that are shown where nothing else is said; the rest is counted."""

LONGEST_ROW = 2_000
"""Characters of a row that are shown."""

_MOST_COMPARED = 4_000
"""Lines of the changed middle that are compared one by one; a larger middle counts as replaced."""

_PIECE = 1 << 16
"""Characters that are compared in one go."""

HunkContexts = tuple[tuple[str, str], ...]
"""What the old and the new text of each hunk begin inside of."""

Opcode = tuple[str, int, int, int, int]
"""As difflib has them: what to do, and the lines from and to in the old and in the new text."""


def diff_display(path: str, before: str, after: str, *, most_rows: int = MOST_ROWS) -> DiffDisplay:
    """What changes from `before` to `after`, line by line; a line ending is part of its line."""
    head, tail = _unshown_ends(before, after)
    skipped = line_ends(before[:head])
    old = lines_with_ends(before[head : len(before) - tail])
    new = lines_with_ends(after[head : len(after) - tail])
    groups = _groups(old, new)
    hunks: list[tuple[DiffLine, ...]] = []
    room = most_rows
    for group in groups:
        hunk = tuple(islice(_rows(group, old, new, skipped), room))
        room -= len(hunk)
        if hunk:
            hunks.append(hunk)
    changes = [opcode for group in groups for opcode in group if opcode[0] != "equal"]
    added = sum(new_to - new_from for *_, new_from, new_to in changes)
    removed = sum(old_to - old_from for _, old_from, old_to, *_ in changes)
    unchanged = sum(to - start for group in groups for tag, start, to, *_ in group if tag == "equal")
    return DiffDisplay(
        path=path,
        hunks=tuple(hunks),
        added=added,
        removed=removed,
        total_lines=skipped + len(new) + line_count(after[len(after) - tail :]),
        left_out=added + removed + unchanged - (most_rows - room),
        opened=_opened(path, (before, old, head), (after, new, head), groups[: len(hunks)]),
    )


_Side = tuple[str, Sequence[str], int]
"""A text, its lines that were compared, and the offset of the first of them."""


def _opened(path: str, old: _Side, new: _Side, groups: Sequence[Sequence[Opcode]]) -> HunkContexts:
    """What each group begins inside of; nothing where that is said of none."""
    before = _opened_at(path, old, [group[0][1] for group in groups])
    after = _opened_at(path, new, [group[0][3] for group in groups])
    opened = tuple(zip(before, after, strict=True))
    return opened if any(map(any, opened)) else ()


def _opened_at(path: str, side: _Side, lines: Sequence[int]) -> list[str]:
    text, compared, offset = side
    unclosed = Unclosed(text, path)
    ends = list(accumulate(map(len, compared), initial=offset))
    return [unclosed.at(ends[line]) for line in lines]


def _unshown_ends(before: str, after: str) -> tuple[int, int]:
    """Characters at the beginning and at the end that both texts share and no hunk shows: whole lines, but
    for those that may be context. It spares most of a large file from being taken apart."""
    head = _shared(before, after, from_end=False)
    rest = min(len(before), len(after)) - head
    for _ in range(CONTEXT + 1):
        head = before.rfind("\n", 0, max(head, 0))
    head += 1
    tail = len(before) - min(_shared(before, after, from_end=True), rest)
    for _ in range(CONTEXT + 1):
        tail = before.find("\n", tail) + 1 or len(before)
    return head, len(before) - tail


def _shared(one: str, other: str, *, from_end: bool) -> int:
    """How many characters are the same from the beginning on, or up to the end."""

    def piece(text: str, start: int, length: int) -> str:
        if from_end:
            return text[max(len(text) - start - length, 0) : max(len(text) - start, 0)]
        return text[start : start + length]

    most = min(len(one), len(other))
    same, step = 0, _PIECE
    while step:
        while same < most and piece(one, same, step) == piece(other, same, step):
            same += step
        step //= 2
    return min(same, most)


def _groups(old: Sequence[str], new: Sequence[str]) -> list[list[Opcode]]:
    """Runs of changes with their context. What both texts begin and end with is not compared."""
    head = _common(old, new)
    tail = min(_common(old[::-1], new[::-1]), min(len(old), len(new)) - head)
    start, end = max(head - CONTEXT, 0), max(tail - CONTEXT, 0)
    groups = _compared(old[start : len(old) - end], new[start : len(new) - end], head - start, tail - end)
    return [
        [(tag, a + start, b + start, c + start, d + start) for tag, a, b, c, d in group] for group in groups
    ]


def _compared(old: Sequence[str], new: Sequence[str], head: int, tail: int) -> list[list[Opcode]]:
    """Grouped opcodes of two texts, of which the first `head` and the last `tail` lines are the same."""
    if len(old) + len(new) <= _MOST_COMPARED:
        # Its autojunk stays on: without it, lines that repeat all the time cost minutes.
        matcher = SequenceMatcher(None, old, new)
        return [list(group) for group in matcher.get_grouped_opcodes(CONTEXT)]
    old_end, new_end = len(old) - tail, len(new) - tail
    opcodes = (
        ("equal", 0, head, 0, head),
        ("replace", head, old_end, head, new_end),
        ("equal", old_end, len(old), new_end, len(new)),
    )
    return [[opcode for opcode in opcodes if opcode[1] < opcode[2] or opcode[3] < opcode[4]]]


def _common(old: Sequence[str], new: Sequence[str]) -> int:
    """How many lines are the same from the beginning on."""
    count = 0
    for one, other in zip(old, new, strict=False):
        if one != other:
            break
        count += 1
    return count


def _rows(
    group: Sequence[Opcode], old: Sequence[str], new: Sequence[str], skipped: int
) -> Iterator[DiffLine]:
    """The rows of a hunk; `skipped` lines stand before the first of `old` and `new`."""
    for tag, old_from, old_to, new_from, new_to in group:
        if tag == "equal":
            for index in range(new_from, new_to):
                yield DiffLine(sign=" ", number=skipped + index + 1, text=_shown(new[index]))
            continue
        for index in range(old_from, old_to):
            yield DiffLine(sign="-", number=skipped + index + 1, text=_shown(old[index]))
        for index in range(new_from, new_to):
            yield DiffLine(sign="+", number=skipped + index + 1, text=_shown(new[index]))


def _shown(line: str) -> str:
    return cut(line.rstrip("\r\n"), LONGEST_ROW)
