"""A diff in two columns: how it was, how it is."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import zip_longest
from typing import NamedTuple

from rich.segment import Segment

from keen_tui.display import DiffDisplay, DiffLine
from keen_tui.ui.glyphs import Glyphs
from keen_tui.ui.highlight import Coloured, highlight_hunk
from keen_tui.ui.themes import Styles
from keen_tui.ui.tool_views.diff import draw_hunks, draw_row
from keen_tui.ui.transcript.lines import Line


class Half(NamedTuple):
    """One row of one column."""

    sign: str
    number: int
    code: Coloured


def draw_side_by_side(
    display: DiffDisplay, width: int, styles: Styles, glyphs: Glyphs, ground: str
) -> list[Line]:
    """Both columns have the same width, with a blank between them; what belongs together is level."""
    columns = (width - 1) // 2, width - 1 - (width - 1) // 2
    grown = 0

    def draw(hunk: Sequence[DiffLine]) -> Iterator[Line]:
        nonlocal grown
        for pair in _pairs(hunk, highlight_hunk(hunk, display.path), grown):
            yield from _level(pair, columns, styles, ground)
        grown += _growth(hunk)

    return draw_hunks(display, width, styles, glyphs, ground, draw)


def _pairs(
    hunk: Sequence[DiffLine], coloured: Sequence[Coloured], grown: int
) -> Iterator[tuple[Half | None, Half | None]]:
    """What stands side by side. `grown` is the number of lines that the rows before this hunk added."""
    old: list[Half] = []
    new: list[Half] = []
    for row, code in zip(hunk, coloured, strict=True):
        half = Half(row.sign, row.number, code)
        if row.sign == "-":
            old.append(half)
        elif row.sign == "+":
            new.append(half)
        else:
            yield from zip_longest(old, new)
            grown += len(new) - len(old)
            old, new = [], []
            yield half._replace(number=row.number - grown), half
    yield from zip_longest(old, new)


def _level(
    pair: tuple[Half | None, Half | None], columns: tuple[int, int], styles: Styles, ground: str
) -> Iterator[Line]:
    plain = styles("text", on=ground)
    sides = [
        list(draw_row(*half, cells, styles, ground)) if half else []
        for half, cells in zip(pair, columns, strict=True)
    ]
    for rows in zip_longest(*sides, fillvalue=Line()):
        left, right = (line.filled(cells, plain) for line, cells in zip(rows, columns, strict=True))
        yield Line((*left.segments, Segment(" ", plain), *right.segments))


def _growth(hunk: Sequence[DiffLine]) -> int:
    return sum({"+": 1, "-": -1, " ": 0}[row.sign] for row in hunk)
