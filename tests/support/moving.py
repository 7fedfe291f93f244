"""Animated pictures: a sequence of screens as one SVG, with CSS and without scripts.

A row that doesn't change over several screens is drawn once. Viewers that prefer no motion show one chosen
screen.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import groupby

from msgspec import Struct

from tests.support.svg import CELL, FONT, ROW

_PAPER = re.compile(r'<rect [^>]*fill="(#[0-9a-f]{6})"/>\n?')
_COLOUR = re.compile(r'fill="(#[0-9a-f]{6})"')

Span = tuple[int, int]
"""The first frame that shows a row, and the first later one that doesn't."""


class Frame(Struct, frozen=True):
    """One screen: its rows as SVG elements, and its duration in seconds."""

    rows: tuple[str, ...]
    seconds: float


class Rows(Struct, frozen=True):
    """One drawing of one row, and when it is shown."""

    drawing: str
    spans: tuple[Span, ...]


def film(frames: Sequence[Frame], still: int, *, size: tuple[int, int], label: str) -> str:
    """The frames as an SVG that loops.

    `still` is the number of the frame for viewers that prefer no motion, `size` has columns and rows.
    """
    width, height = size[0] * CELL, size[1] * ROW
    frames, paper = _on_one_paper(frames)
    begins = _begins(frames)
    names: dict[tuple[Span, ...], str] = {}
    groups = []
    for rows in _drawn_once(frames):
        if rows.spans == ((0, len(frames)),):
            groups.append(rows.drawing)
            continue
        name = names.setdefault(rows.spans, f"f{len(names)}")
        is_still = any(first <= still < behind for first, behind in rows.spans)
        groups.append(f'<g class="{name}{" still" if is_still else ""}">{rows.drawing}</g>')
    colours, drawings = _with_classes("\n".join(groups))
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img" '
            f'aria-label="{label}" font-family="{FONT}" font-size="13" shape-rendering="crispEdges">',
            f"<title>{label}</title>",
            "<style>",
            "text { white-space: pre }",
            *colours,
            "g { opacity: 0 } .still { opacity: 1 }",
            "@media (prefers-reduced-motion: no-preference) {",
            f"g {{ animation: {begins[-1]:.1f}s step-end infinite }}",
            *(f".{name} {{ animation-name: {name} }}" for name in names.values()),
            "}",
            *(_keyframes(name, spans, begins) for spans, name in names.items()),
            "</style>",
            f'<rect width="{width}" height="{height}" fill="{paper}"/>',
            drawings,
            "</svg>",
            "",
        ]
    )


def _on_one_paper(frames: Sequence[Frame]) -> tuple[list[Frame], str]:
    """The frames without their most common background, and that background, which is drawn below all of
    them."""
    papers = Counter(colour for frame in frames for row in frame.rows for colour in _PAPER.findall(row))
    commonest = papers.most_common(1)[0][0]

    def without(row: str) -> str:
        return _PAPER.sub(lambda found: "" if found[1] == commonest else found[0], row)

    return [Frame(tuple(map(without, frame.rows)), frame.seconds) for frame in frames], commonest


def _begins(frames: Sequence[Frame]) -> list[float]:
    """The start of each frame, and the end of the last one, in seconds."""
    begins = [0.0]
    for frame in frames:
        begins.append(begins[-1] + frame.seconds)
    return begins


def _drawn_once(frames: Sequence[Frame]) -> Iterator[Rows]:
    for number in range(len(frames[0].rows)):
        spans: dict[str, list[Span]] = {}
        for drawing, same in groupby(range(len(frames)), key=lambda at: frames[at].rows[number]):
            shown = list(same)
            spans.setdefault(drawing, []).append((shown[0], shown[-1] + 1))
        yield from (Rows(drawing, tuple(when)) for drawing, when in spans.items() if drawing)


def _with_classes(drawings: str) -> tuple[list[str], str]:
    """Rules for the used colours, and the drawings with the classes of these rules."""
    colours = {colour: f"c{number}" for number, colour in enumerate(dict.fromkeys(_COLOUR.findall(drawings)))}
    rules = [f".{name} {{ fill: {colour} }}" for colour, name in colours.items()]
    return rules, _COLOUR.sub(lambda found: f'class="{colours[found[1]]}"', drawings)


def _keyframes(name: str, spans: Sequence[Span], begins: Sequence[float]) -> str:
    changes: dict[int, int] = {0: 0}
    for first, behind in spans:
        changes[first] = 1
        changes[behind] = 0
    changes.pop(len(begins) - 1, None)
    whole = begins[-1]
    steps = (f"{begins[at] / whole:.3%} {{ opacity: {shown} }}" for at, shown in sorted(changes.items()))
    return f"@keyframes {name} {{ {' '.join(steps)} }}"
