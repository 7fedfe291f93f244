"""Code on its own background, with syntax colours."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate
from typing import Final, NamedTuple, TypeAlias

from rich.segment import Segment
from rich.style import Style

from keen_tui.frontends.tui.look.themes import Styles
from keen_tui.frontends.tui.rows.lazy_lines import CopiedText, LazyLines
from keen_tui.frontends.tui.rows.lines import (
    Line,
    Runs,
    code_pieces,
    cut_into,
    sliced,
)
from keen_tui.text.highlighting import Coloured

PAD: Final = 2
"""Empty cells between the edge of the background and the code."""

_GROUP: Final = 32
"""Rows of one long line that are drawn together."""


_NARROWEST: Final = 2
"""The fewest cells into which any character fits."""


CharacterRange: TypeAlias = tuple[int, int]
"""The characters of a line from the first position up to the second."""


class Emphasis(NamedTuple):
    """Highlighted characters of a line: with the background of a role, or underlined if backgrounds can't be
    seen."""

    spans: Sequence[CharacterRange]
    ground: str


class CodeLine(NamedTuple):
    """A line of code with the background of a role.

    `first` is the decoration before its first row; the first `skip` characters of it aren't copied. `rest` is
    the decoration before the other rows.
    """

    coloured: Coloured
    first: Runs
    rest: Runs
    ground: str
    skip: int
    mark: Emphasis | None = None


class _Group(NamedTuple):
    """Rows of a line: the positions of the cuts, from the beginning of the first row to the end of the
    last."""

    line: int
    ends: Sequence[int]

    @property
    def height(self) -> int:
        return len(self.ends) - 1


def code_block(
    texts: Sequence[str], colours: Callable[[int], Coloured], cells: int, styles: Styles, *, ground: str
) -> LazyLines:
    """Code on a background `cells` wide, drawn when it is read. `colours` returns a line with its colours."""
    pad = (Segment(" " * PAD, styles("text", on=ground)),)

    def line(number: int) -> CodeLine:
        return CodeLine(colours(number), pad, pad, ground, PAD)

    return lazy_code(texts, line, cells - 2 * PAD, cells, styles)


def lazy_code(
    texts: Sequence[str],
    line: Callable[[int], CodeLine],
    cells: int,
    width: int,
    styles: Styles,
    *,
    says: Callable[[int], str] = lambda _: "",
) -> LazyLines:
    """Lines of code, drawn when they become visible: code in `cells`, on rows of `width`.

    `line` returns the coloured line with a number; until then only the `texts` of the lines are read. `says`
    returns the text that is copied before the code of a line.
    """
    cells = max(cells, _NARROWEST)
    groups = [group for number, text in enumerate(texts) for group in _groups(number, text, cells)]

    def draw(number: int) -> list[Line]:
        group = groups[number]
        return _rows(line(group.line), group.ends, width, styles)

    def say(number: int) -> CopiedText:
        group, text = groups[number], texts[groups[number].line]
        start, end = group.ends[0], group.ends[-1]
        said = text[start:end]
        if start == 0:
            said = says(group.line) + said
        return CopiedText("" if start else "\n", said if end < len(text) else said.rstrip())

    return LazyLines([group.height for group in groups], draw, say)


def code_rows(line: CodeLine, cells: int, width: int, styles: Styles) -> list[Line]:
    """The rows of a line."""
    text = "".join(text for text, _ in line.coloured)
    groups = _groups(0, text, max(cells, _NARROWEST))
    return [row for group in groups for row in _rows(line, group.ends, width, styles)]


def code_height(text: str, cells: int) -> int:
    """The number of rows of a line of code."""
    return sum(group.height for group in _groups(0, text, max(cells, _NARROWEST)))


def _rows(line: CodeLine, ends: Sequence[int], width: int, styles: Styles) -> list[Line]:
    first, *rest = cut_into(_marked(line, styles), ends)
    rows = [_below(first, line) if ends[0] else _first(first, line), *(_below(row, line) for row in rest)]
    return [row.filled(width, styles("text", on=line.ground)) for row in rows]


def code_runs(coloured: Coloured, styles: Styles, ground: str) -> list[Segment]:
    """One coloured line on the background `ground`; comments are italic."""
    return [Segment(text, styles(role, on=ground, italic=role == "comment")) for text, role in coloured]


def _marked(line: CodeLine, styles: Styles) -> list[Segment]:
    """The runs of a line with its highlights, which are plain text: syntax colours need their own
    background."""
    runs = code_runs(line.coloured, styles, line.ground)
    if line.mark is None:
        return runs
    style = Style(underline=True) if styles.plain else styles("text", on=line.mark.ground)
    marked: list[Segment] = []
    position = 0
    for start, end in line.mark.spans:
        marked += sliced(runs, position, start)
        marked += (Segment(run.text, (run.style or style) + style) for run in sliced(runs, start, end))
        position = end
    return [*marked, *sliced(runs, position, sys.maxsize)]


def _first(row: Line, line: CodeLine) -> Line:
    return row.behind(line.first)._replace(skip=line.skip, joint=None)


def _below(row: Line, line: CodeLine) -> Line:
    return row.behind(line.rest)._replace(joint="")


def _groups(number: int, text: str, cells: int) -> Iterator[_Group]:
    """The rows of a line in groups: one group, or several for a long line."""
    if len(text) <= cells and text.isascii():
        yield _Group(number, (0, len(text)))
        return
    ends = [0, *accumulate(map(len, code_pieces(text, cells)))]
    for first in range(0, len(ends) - 1, _GROUP):
        yield _Group(number, ends[first : first + _GROUP + 1])
