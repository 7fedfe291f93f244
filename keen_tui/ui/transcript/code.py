"""Code on its own ground, with syntax colours."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from typing import Final, NamedTuple, TypeAlias

from rich.segment import Segment
from rich.style import Style

from keen_tui.ui.highlight import Coloured, highlight
from keen_tui.ui.highlight import safe_code as safe_code
from keen_tui.ui.themes import Styles
from keen_tui.ui.transcript.lazy_lines import LazyLines, Said
from keen_tui.ui.transcript.lines import Line, Runs, code_pieces, sliced, wrap_code

PAD: Final = 2
"""Blank cells between the edge of the ground and the code."""

_GROUP: Final = 32
"""Rows of one long line that are drawn together."""


_NARROWEST: Final = 2
"""Cells that any character fits into."""


Span: TypeAlias = tuple[int, int]
"""Characters of a line from the first up to the second."""


class Mark(NamedTuple):
    """What stands out in a line: on the ground of a role, or underlined where grounds can't be seen."""

    spans: Sequence[Span]
    ground: str


class CodeLine(NamedTuple):
    """A line of code on the ground of a role.

    `first` is the decoration before its first row, of which only so many characters as `skip` says are not
    copied; `rest` stands before the rows below it.
    """

    coloured: Coloured
    first: Runs
    rest: Runs
    ground: str
    skip: int
    mark: Mark | None = None


class _Group(NamedTuple):
    """Rows of a line: its characters from `start` up to `end`."""

    line: int
    start: int
    end: int
    height: int


def code_lines(
    code: str, cells: int, styles: Styles, *, ground: str, language: str = "", path: str = ""
) -> list[Line]:
    """The rows of a piece of code, `cells` wide; lines that are too long are wrapped."""
    plain = styles("text", on=ground)
    pad = (Segment(" " * PAD, plain),)
    return [
        row.behind(pad).filled(cells, plain)
        for coloured in highlight(safe_code(code), language, path)
        for row in wrap_code(code_runs(coloured, styles, ground), cells - 2 * PAD)
    ]


def lazy_code(
    texts: Sequence[str],
    line: Callable[[int], CodeLine],
    cells: int,
    width: int,
    styles: Styles,
    *,
    says: Callable[[int], str] = lambda _: "",
) -> LazyLines:
    """Lines of code, drawn where they are seen: code in so many `cells`, on rows of that `width`.

    `line` gives the line of a number, coloured; only the `texts` of all lines are looked at before. `says`
    is what is copied before the code of a line.
    """
    cells = max(cells, _NARROWEST)
    groups = [group for number, text in enumerate(texts) for group in _groups(number, text, cells)]

    def draw(number: int) -> list[Line]:
        group = groups[number]
        return code_rows(line(group.line), cells, width, styles, group.start, group.end)

    def say(number: int) -> Said:
        group, text = groups[number], texts[groups[number].line]
        said = text[group.start : group.end]
        if group.start == 0:
            said = says(group.line) + said
        return Said("" if group.start else "\n", said if group.end < len(text) else said.rstrip())

    return LazyLines([group.height for group in groups], draw, say)


def code_rows(
    line: CodeLine, cells: int, width: int, styles: Styles, start: int = 0, end: int = sys.maxsize
) -> list[Line]:
    """The rows of a line, or of its characters from `start` up to `end`."""
    runs = sliced(_marked(line, styles), start, end)
    first, *rest = wrap_code(runs, max(cells, _NARROWEST))
    rows = [_below(first, line) if start else _first(first, line), *(_below(row, line) for row in rest)]
    return [row.filled(width, styles("text", on=line.ground)) for row in rows]


def code_height(text: str, cells: int) -> int:
    """The rows that a line of code is broken into."""
    return sum(group.height for group in _groups(0, text, max(cells, _NARROWEST)))


def code_runs(coloured: Coloured, styles: Styles, ground: str) -> list[Segment]:
    """One coloured line on `ground`; comments are italic."""
    return [Segment(text, styles(role, on=ground, italic=role == "comment")) for text, role in coloured]


def _marked(line: CodeLine, styles: Styles) -> list[Segment]:
    """The runs of a line with what stands out in it. That is plain text: syntax colours need their ground."""
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
    """The rows of a line: all of them, or for a long one some at a time."""
    if len(text) <= cells and text.isascii():
        yield _Group(number, 0, len(text), 1)
        return
    pieces = list(code_pieces(text, cells))
    start = 0
    for first in range(0, len(pieces), _GROUP):
        some = pieces[first : first + _GROUP]
        end = start + sum(map(len, some))
        yield _Group(number, start, end, len(some))
        start = end
