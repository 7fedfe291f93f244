"""Markdown tables: columns as wide as their cells, narrowed if the row is too short for them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

from rich.cells import cell_len
from rich.segment import Segment

from keen_tui.frontends.tui.look.themes import Styles
from keen_tui.frontends.tui.transcript.blocks.lines import Line, Runs, wrap
from keen_tui.frontends.tui.transcript.markdown.inline import inline_runs

if TYPE_CHECKING:
    from markdown_it.token import Token

BETWEEN: Final = 3
"""Empty cells between two columns."""
NARROWEST: Final = 4


class Cell(NamedTuple):
    runs: Runs
    align: str


def table_rows(tokens: Sequence[Token], styles: Styles) -> tuple[list[Cell], list[list[Cell]]]:
    """The head and the body of a table's tokens."""
    rows: list[list[Cell]] = []
    in_head = False
    align = ""
    for token in tokens:
        match token.type:
            case "thead_open" | "thead_close":
                in_head = token.type == "thead_open"
            case "tr_open":
                rows.append([])
            case "th_open" | "td_open":
                align = str(token.attrs.get("style", "")).removeprefix("text-align:")
            case "inline" if rows:
                role = "soft" if in_head else "text"
                rows[-1].append(Cell(inline_runs(token.children or (), styles, role=role), align))
    return (rows[0], rows[1:]) if rows else ([], [])


def table_columns(tokens: Sequence[Token]) -> tuple[int, ...]:
    """The cells that each column of a table would like to have."""
    widths: list[int] = []
    column = 0
    for token in tokens:
        if token.type == "tr_open":
            column = 0
        elif token.type == "inline":
            if column == len(widths):
                widths.append(1)
            wanted = sum(cell_len(child.content) for child in token.children or ())
            widths[column] = max(widths[column], wanted)
            column += 1
    return tuple(widths)


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
