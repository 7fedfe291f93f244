"""A diff: line number, sign and code, on a ground that tells added and removed rows apart."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Final, NamedTuple

from rich.segment import Segment

from keen_tui.domain.display import DiffDisplay, DiffLine
from keen_tui.frontends.tui.look.glyphs import Glyphs
from keen_tui.frontends.tui.look.themes import Styles
from keen_tui.frontends.tui.markdown.code import CharacterRange, CodeLine, Emphasis, lazy_code
from keen_tui.frontends.tui.markdown.highlight import hunk_colours
from keen_tui.frontends.tui.rows.lazy_lines import LazyLines, joined, one_row
from keen_tui.frontends.tui.rows.lines import Line
from keen_tui.frontends.tui.tool_views.changed_words import ChangedWords
from keen_tui.text.highlighting import Coloured
from keen_tui.text.units import counted

NUMBER_CELLS: Final = 5
_GROUNDS: Final = {"+": "add-wash", "-": "del-wash"}
_MARKS: Final = {"+": "add-mark", "-": "del-mark"}
_ROLES: Final = {"+": "add", "-": "del", " ": "text"}


DrawHunk = Callable[[Sequence[DiffLine], tuple[str, str]], LazyLines]
"""Draws the rows of a hunk; the second value is what its old and its new text begin inside of."""


class HunkRow(NamedTuple):
    """A row of a diff, whose colours and changed words are looked up once it is seen."""

    sign: str
    number: int
    text: str
    colour: Callable[[], Coloured]
    changed: Callable[[], Sequence[CharacterRange]]


def hunk_rows(hunk: Sequence[DiffLine], path: str, opened: tuple[str, str]) -> list[HunkRow]:
    colours = hunk_colours(hunk, path, opened)
    texts = [colours.text(place) for place in range(len(hunk))]
    words = ChangedWords([row.sign for row in hunk], texts)
    return [
        HunkRow(
            row.sign,
            row.number,
            texts[place],
            partial(colours.__getitem__, place),
            partial(words.__getitem__, place),
        )
        for place, row in enumerate(hunk)
    ]


def draw_diff(display: DiffDisplay, width: int, styles: Styles, glyphs: Glyphs, ground: str) -> LazyLines:
    """The removed and the added rows one below the other."""

    def draw(hunk: Sequence[DiffLine], opened: tuple[str, str]) -> LazyLines:
        rows = hunk_rows(hunk, display.path, opened)
        texts = [row.text for row in rows]
        return lazy_code(
            texts,
            lambda row: code_line(rows[row], styles, ground),
            code_cells(width),
            width,
            styles,
            says=lambda row: f"{rows[row].sign} ",
        )

    return draw_hunks(display, width, styles, glyphs, ground, draw)


def draw_hunks(
    display: DiffDisplay, width: int, styles: Styles, glyphs: Glyphs, ground: str, draw: DrawHunk
) -> LazyLines:
    """All hunks as `draw` draws one, with a row between them that counts what is left out."""
    parts: list[LazyLines] = []
    before: DiffLine | None = None
    for number, hunk in enumerate(display.hunks):
        if before is not None and hunk:
            between = max(hunk[0].number - before.number - 1, 0)
            parts.append(one_row(_left_out(between, width, styles, glyphs, ground)))
        parts.append(draw(hunk, display.opened_before(number)))
        before = hunk[-1] if hunk else before
    if display.left_out:
        parts.append(one_row(_left_out(display.left_out, width, styles, glyphs, ground)))
    return joined(*parts)


def code_cells(width: int) -> int:
    """The cells for code in a row of that width."""
    return width - NUMBER_CELLS - 4


def code_line(row: HunkRow, styles: Styles, ground: str) -> CodeLine:
    """One row of a diff, which takes as many rows of the screen as its code needs."""
    on, role = _GROUNDS.get(row.sign, ground), _ROLES[row.sign]
    numbered = Segment(f"{row.number or '':>{NUMBER_CELLS}} ", styles("dim", on=on))
    sign = Segment(f"{row.sign} ", styles(role, on=on, bold=True))
    blank = Segment(" " * (NUMBER_CELLS + 3), styles("text", on=on))
    coloured = row.colour()
    if styles.plain and row.sign != " ":
        # Without grounds the sign's colour must do: the whole row takes it.
        coloured = [(text, role) for text, _ in coloured]
    # The sign is no decoration: a diff is copied with its signs.
    mark = Emphasis(row.changed(), _MARKS[row.sign]) if row.sign in _MARKS else None
    return CodeLine(coloured, (numbered, sign), (blank,), on, len(numbered.text), mark)


def _left_out(count: int, width: int, styles: Styles, glyphs: Glyphs, ground: str) -> Line:
    text = f"{glyphs.more:>{NUMBER_CELLS}} {counted(count, 'line') if count else ''}".rstrip()
    line = Line((Segment(text, styles("dim", on=ground)),), skip=len(text))
    return line.filled(width, styles("text", on=ground))
