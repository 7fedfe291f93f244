"""Draws the screen as an SVG picture: the same bytes on every machine."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from itertools import groupby
from typing import Any

from rich.cells import cell_len
from rich.color import ColorType
from rich.segment import Segment
from rich.style import Style
from textual.app import App

from tests.support.screen import strips_of

CELL, ROW = 8, 17
PAPER, _INK = "#101010", "#d0d0d0"
"""Colours for themes that leave them to the terminal."""
FONT = "'JetBrains Mono','DejaVu Sans Mono',Menlo,Consolas,monospace"


def picture(app: App[Any]) -> str:
    """The current screen as a picture."""
    rows = strips_of(app)
    width, height = max(row.cell_length for row in rows) * CELL, len(rows) * ROW
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
        f'font-family="{FONT}" font-size="13" shape-rendering="crispEdges">',
        "<style>text { white-space: pre }</style>",
        f'<rect width="{width}" height="{height}" fill="{PAPER}"/>',
    ]
    return "\n".join([*lines, *filter(None, drawn_rows(app)), "</svg>", ""])


def drawn_rows(app: App[Any]) -> list[str]:
    """The rows of the screen, each as a line of SVG elements."""
    return ["\n".join(_row(*each)) for each in enumerate(strips_of(app))]


def _row(number: int, segments: Iterable[Segment]) -> Iterable[str]:
    column, texts = 0, []
    for style, run in groupby(segments, key=lambda segment: segment.style or Style.null()):
        text = "".join(segment.text for segment in run)
        cells = cell_len(text)
        ink, paper = _colours(style)
        place = f'x="{column * CELL}" y="{number * ROW}"'
        if paper != PAPER:
            yield f'<rect {place} width="{cells * CELL}" height="{ROW}" fill="{paper}"/>'
        if text.strip():
            texts.append(_text(text, column, number, ink, style))
        column += cells
    yield from texts


def _text(text: str, column: int, number: int, ink: str, style: Style) -> str:
    shown = text.rstrip()
    column += cell_len(shown) - cell_len(shown.lstrip())
    shown = shown.lstrip()
    looks = [
        f'fill="{ink}"',
        'font-weight="bold"' if style.bold else "",
        'font-style="italic"' if style.italic else "",
        'text-decoration="underline"' if style.underline else "",
    ]
    place = f'x="{column * CELL}" y="{number * ROW + 13}" textLength="{cell_len(shown) * CELL}"'
    return f"<text {place} {' '.join(filter(None, looks))}>{escape(shown)}</text>"


def _colours(style: Style) -> Sequence[str]:
    ink, paper = _colour(style, "color", _INK), _colour(style, "bgcolor", PAPER)
    return (paper, ink) if style.reverse else (ink, paper)


def _colour(style: Style, name: str, otherwise: str) -> str:
    colour = getattr(style, name)
    if colour is None or colour.type is ColorType.DEFAULT:
        return otherwise
    return str(colour.get_truecolor(foreground=name == "color").hex)
