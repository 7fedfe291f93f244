"""The part of what a tool shows that is seen without unfolding it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from keen_tui.domain.display import DiffDisplay, DiffLine
from keen_tui.frontends.tui.look.glyphs import Glyphs
from keen_tui.frontends.tui.look.themes import Styles
from keen_tui.frontends.tui.rows.lazy_lines import LazyLines
from keen_tui.frontends.tui.rows.lines import Line
from keen_tui.frontends.tui.tool_views.diff import draw_diff
from keen_tui.frontends.tui.tool_views.text import draw_text
from keen_tui.text.units import counted

_GROUND = "panel"
_ROW_CELLS = 4
"""A line of output is shown in so many rows at most."""


def diff_excerpt(
    display: DiffDisplay, most: int, width: int, styles: Styles, glyphs: Glyphs
) -> Sequence[Line]:
    """The first rows of a diff, `most` of them with the last one that says how many lines are left."""
    hunks = tuple(_first_lines(display.hunks, most))
    left = display.left_out + _lines(display.hunks) - _lines(hunks)
    drawn = draw_diff(replace(display, hunks=hunks, left_out=0), width, styles, glyphs, _GROUND)
    if not left and len(drawn) <= most:
        return drawn
    shown = drawn[: most - 1]
    # What long lines broken into several rows have cost is counted with the rest.
    hidden = left + len(drawn) - len(shown)
    more = draw_text(f"{glyphs.more} {counted(hidden, 'more line')}", width, styles, _GROUND, role="dim")
    return [*shown, *more]


def draw_output(output: str, width: int, styles: Styles) -> LazyLines:
    """All that a command printed; nothing where it printed nothing."""
    return draw_text(output, width, styles, _GROUND) if output.strip() else LazyLines([], lambda _: [])


def output_excerpt(output: str, most: int, width: int, styles: Styles, glyphs: Glyphs) -> Sequence[Line]:
    """The last rows of what a command printed, `most` of them with a first one that counts what is above."""
    lines = output.rstrip().split("\n")
    last = [line[-width * _ROW_CELLS :] for line in lines[-most:]]
    drawn = draw_output("\n".join(last), width, styles)
    if len(lines) <= most and len(drawn) <= most:
        return drawn
    shown = drawn[max(len(drawn) - most + 1, 0) :]
    hidden = len(lines) - len(last) + len(drawn) - len(shown)
    more = draw_text(f"{glyphs.more} {counted(hidden, 'line')} above", width, styles, _GROUND, role="dim")
    return [*more, *shown]


def _first_lines(hunks: Sequence[Sequence[DiffLine]], most: int) -> Iterator[tuple[DiffLine, ...]]:
    for hunk in hunks:
        if most <= 0:
            return
        yield tuple(hunk[:most])
        most -= len(hunk)


def _lines(hunks: Sequence[Sequence[DiffLine]]) -> int:
    return sum(map(len, hunks))
