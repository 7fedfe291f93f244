"""A diff in two columns: how it was, how it is."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import zip_longest
from typing import TypeAlias

from rich.segment import Segment

from keen_tui.domain.display import DiffDisplay, DiffLine
from keen_tui.frontends.tui.look.glyphs import Glyphs
from keen_tui.frontends.tui.look.themes import Styles
from keen_tui.frontends.tui.markdown.code import code_height, code_rows
from keen_tui.frontends.tui.rows.lazy_lines import LazyLines
from keen_tui.frontends.tui.rows.lines import Line
from keen_tui.frontends.tui.tool_views.diff import HunkRow, code_cells, code_line, draw_hunks, hunk_rows

Pair: TypeAlias = tuple[HunkRow | None, HunkRow | None]


def has_two_sides(display: DiffDisplay) -> bool:
    """Whether both columns would have text: not for a new file, nor for a removed one."""
    signs = {row.sign for hunk in display.hunks for row in hunk}
    return " " in signs or len(signs) > 1


def draw_side_by_side(
    display: DiffDisplay, width: int, styles: Styles, glyphs: Glyphs, ground: str
) -> LazyLines:
    """Both columns have the same width, with a blank between them; what belongs together is level."""
    columns = (width - 1) // 2, width - 1 - (width - 1) // 2
    grown = 0

    def draw(hunk: Sequence[DiffLine], opened: tuple[str, str]) -> LazyLines:
        nonlocal grown
        pairs = list(_pairs(hunk_rows(hunk, display.path, opened), grown))
        grown += _growth(hunk)
        heights = [max(map(_height, pair, columns)) for pair in pairs]
        return LazyLines(heights, lambda number: list(_level(pairs[number], columns, styles, ground)))

    return draw_hunks(display, width, styles, glyphs, ground, draw)


def _pairs(hunk: Sequence[HunkRow], grown: int) -> Iterator[Pair]:
    """Yields the pairs of rows that are shown side by side. `grown` is the number of lines that the hunks
    before this one added."""
    old: list[HunkRow] = []
    new: list[HunkRow] = []
    for row in hunk:
        if row.sign == "-":
            old.append(row)
        elif row.sign == "+":
            new.append(row)
        else:
            yield from zip_longest(old, new)
            grown += len(new) - len(old)
            old, new = [], []
            yield row._replace(number=row.number - grown), row
    yield from zip_longest(old, new)


def _height(half: HunkRow | None, width: int) -> int:
    return code_height(half.text, code_cells(width)) if half else 0


def _level(pair: Pair, columns: tuple[int, int], styles: Styles, ground: str) -> Iterator[Line]:
    plain = styles("text", on=ground)
    sides = [
        code_rows(code_line(half, styles, ground), code_cells(width), width, styles) if half else ()
        for half, width in zip(pair, columns, strict=True)
    ]
    for rows in zip_longest(*sides, fillvalue=Line()):
        left, right = (line.filled(cells, plain) for line, cells in zip(rows, columns, strict=True))
        yield Line((*left.segments, Segment(" ", plain), *right.segments))


def _growth(hunk: Sequence[DiffLine]) -> int:
    return sum({"+": 1, "-": -1, " ": 0}[row.sign] for row in hunk)
