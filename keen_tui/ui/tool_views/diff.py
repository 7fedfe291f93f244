"""A diff: line number, sign and code, on a ground that tells added and removed rows apart."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final

from rich.segment import Segment

from keen_tui.display import DiffDisplay, DiffLine
from keen_tui.ui.glyphs import Glyphs
from keen_tui.ui.highlight import Coloured, highlight_hunk
from keen_tui.ui.measures import counted
from keen_tui.ui.themes import Styles
from keen_tui.ui.transcript.code import code_runs
from keen_tui.ui.transcript.lines import Line, wrap_code

NUMBER_CELLS: Final = 5
_GROUNDS: Final = {"+": "add-wash", "-": "del-wash"}
_ROLES: Final = {"+": "add", "-": "del", " ": "text"}


DrawHunk = Callable[[Sequence[DiffLine]], Iterable[Line]]


def draw_diff(display: DiffDisplay, width: int, styles: Styles, glyphs: Glyphs, ground: str) -> list[Line]:
    """The removed and the added rows one below the other."""

    def draw(hunk: Sequence[DiffLine]) -> Iterator[Line]:
        for row, coloured in zip(hunk, highlight_hunk(hunk, display.path), strict=True):
            yield from draw_row(row.sign, row.number, coloured, width, styles, ground)

    return draw_hunks(display, width, styles, glyphs, ground, draw)


def draw_hunks(
    display: DiffDisplay, width: int, styles: Styles, glyphs: Glyphs, ground: str, draw: DrawHunk
) -> list[Line]:
    """All hunks as `draw` draws one, with a row between them that counts what is left out."""
    lines: list[Line] = []
    before: DiffLine | None = None
    for hunk in display.hunks:
        if before is not None and hunk:
            between = max(hunk[0].number - before.number - 1, 0)
            lines.append(_left_out(between, width, styles, glyphs, ground))
        lines += draw(hunk)
        before = hunk[-1] if hunk else before
    if display.left_out:
        lines.append(_left_out(display.left_out, width, styles, glyphs, ground))
    return lines


def draw_row(
    sign: str, number: int, coloured: Coloured, width: int, styles: Styles, ground: str
) -> Iterator[Line]:
    """One row of a diff, `width` cells wide, on as many rows of the screen as its code needs."""
    on = _GROUNDS.get(sign, ground)
    plain = styles("text", on=on)
    if styles.plain and sign != " ":
        # Without grounds the sign's colour must do: the whole row takes it.
        coloured = [(text, _ROLES[sign]) for text, _ in coloured]
    numbered = (Segment(f"{number:>{NUMBER_CELLS}} ", styles("dim", on=on)),)
    signs = (Segment(f"{sign} ", styles(_ROLES[sign], on=on, bold=True)),)
    blank = (Segment(" " * (NUMBER_CELLS + 3), plain),)
    code = wrap_code(code_runs(coloured, styles, on), width - NUMBER_CELLS - 4)
    for part, line in enumerate(code):
        # The sign is no decoration: a diff is copied with its signs.
        first = line.behind(signs)._replace(skip=0).behind(numbered)
        yield (line.behind(blank) if part else first).filled(width, plain)


def _left_out(count: int, width: int, styles: Styles, glyphs: Glyphs, ground: str) -> Line:
    text = f"{glyphs.more:>{NUMBER_CELLS}} {counted(count, 'line') if count else ''}".rstrip()
    line = Line((Segment(text, styles("dim", on=ground)),), skip=len(text))
    return line.filled(width, styles("text", on=ground))
