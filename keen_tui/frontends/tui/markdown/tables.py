"""Markdown tables: columns as wide as their cells, narrowed if the row is too short for them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from rich.cells import cell_len
from rich.segment import Segment

from keen_tui.frontends.tui.look.themes import Styles
from keen_tui.frontends.tui.markdown.inline import inline_runs
from keen_tui.frontends.tui.rows.lines import Line, Runs, wrap
from keen_tui.text.markdown import MarkdownBlock

BETWEEN: Final = 3
"""Empty cells between two columns."""
NARROWEST: Final = 4


class Cell(NamedTuple):
    runs: Runs
    align: str


def table_rows(table: MarkdownBlock, styles: Styles) -> tuple[list[Cell], list[list[Cell]]]:
    """The head and the body of a table."""
    head, *body = table.blocks
    return _cells(table, head, styles, "soft"), [_cells(table, row, styles, "text") for row in body]


def _cells(table: MarkdownBlock, row: MarkdownBlock, styles: Styles, role: str) -> list[Cell]:
    return [
        Cell(inline_runs(cell.inline, styles, role=role), align)
        for cell, align in zip(row.blocks, table.columns, strict=False)
    ]


def table_columns(table: MarkdownBlock) -> tuple[int, ...]:
    """The cells that each column of a table would like to have."""
    columns = zip(*(row.blocks for row in table.blocks), strict=False)
    return tuple(max(1, *map(_wanted, column)) for column in columns)


def _wanted(cell: MarkdownBlock) -> int:
    return sum(cell_len(text) for kind, text in cell.inline if kind in ("text", "code", "html"))


def draw_table(
    head: Sequence[Cell],
    body: Sequence[Sequence[Cell]],
    natural: Sequence[int],
    cells: int,
    styles: Styles,
    rule: str,
) -> list[Line]:
    """The rows of a table with columns of about `natural` width; an empty `head` draws no head."""
    widths = _fitted(natural, cells - BETWEEN * (len(natural) - 1))
    lines: list[Line] = []
    if head:
        lines += _row(head, widths)
        across = sum(widths) + BETWEEN * (len(widths) - 1)
        lines.append(Line((Segment(rule * across, styles("edge")),), skip=across))
    for row in body:
        lines += _row(row, widths)
    return lines


def _row(row: Sequence[Cell], widths: Sequence[int]) -> list[Line]:
    """One table row. Long cells make it several rows high."""
    columns = [wrap(cell.runs, width) for cell, width in zip(row, widths, strict=False)]
    height = max((len(column) for column in columns), default=1)
    return [
        Line(tuple(_across(row, columns, widths, number)), joint=None if number == 0 else " ")
        for number in range(height)
    ]


def _across(
    row: Sequence[Cell], columns: Sequence[list[Line]], widths: Sequence[int], number: int
) -> list[Segment]:
    pieces: list[Segment] = []
    for column, (cell, lines, width) in enumerate(zip(row, columns, widths, strict=False)):
        line = lines[number] if number < len(lines) else Line()
        room = width - line.cells
        left = {"right": room, "center": room // 2}.get(cell.align, 0)
        gap = BETWEEN if column < len(widths) - 1 else 0
        pieces += (Segment(" " * left), *line.segments, Segment(" " * (room - left + gap)))
    return pieces


def _fitted(natural: Sequence[int], cells: int) -> list[int]:
    """`natural` with the widest columns cut until their sum is at most `cells`."""
    widths = list(natural)
    while sum(widths) > cells:
        widest = max(range(len(widths)), key=widths.__getitem__)
        if widths[widest] <= NARROWEST:
            break
        second = max((width for index, width in enumerate(widths) if index != widest), default=0)
        target = max(min(second, widths[widest] - 1), NARROWEST)
        widths[widest] = max(target, widths[widest] - (sum(widths) - cells))
    return widths
