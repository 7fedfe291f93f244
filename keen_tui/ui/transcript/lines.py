"""One drawn row as a value, and text broken into rows."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import accumulate
from typing import NamedTuple, TypeAlias

from rich.cells import cell_len, chop_cells
from rich.segment import Segment
from rich.style import Style
from rich.text import Text

Runs: TypeAlias = Sequence[Segment]
"""Styled pieces of text in order; a `\\n` in one is a line break."""

_WORDS = re.compile(r"\s*\S+\s*|\s+")


class Line(NamedTuple):
    """One row of cells from the left edge.

    `joint` is what copied text has between the row above and this one: None for a new line, a blank or
    nothing where a long line was wrapped. The first `skip` characters are decoration and never copied.
    `chip` marks the row that shows the key to press next.
    """

    segments: tuple[Segment, ...] = ()
    joint: str | None = None
    skip: int = 0
    chip: bool = False

    @property
    def text(self) -> str:
        return "".join(segment.text for segment in self.segments)

    @property
    def cells(self) -> int:
        return cells_of(self.segments)

    @property
    def soft(self) -> bool:
        """True when this row only goes on with a line that was too long."""
        return self.joint is not None

    def behind(self, prefix: Runs) -> Line:
        """This row moved right, behind the decoration `prefix`."""
        added = sum(len(segment.text) for segment in prefix)
        return self._replace(segments=(*prefix, *self.segments), skip=self.skip + added)

    def filled(self, cells: int, style: Style) -> Line:
        """This row with blanks in `style` up to a width of `cells`."""
        missing = cells - self.cells
        if missing <= 0:
            return self
        return self._replace(segments=(*self.segments, Segment(" " * missing, style)))

    def restyled(self, style: Style) -> Line:
        """This row with all its text in `style`."""
        return self._replace(segments=tuple(Segment(segment.text, style) for segment in self.segments))


BLANK = Line()


def cells_of(runs: Iterable[Segment]) -> int:
    return sum(cell_len(segment.text) for segment in runs)


def wrap(runs: Runs, cells: int) -> list[Line]:
    """Break `runs` into rows of at most `cells`, between words where that is possible.

    Blanks at a break are dropped; a word that is longer than a row is broken anywhere.
    """
    plain = "".join(segment.text for segment in runs)
    cells = max(cells, 1)
    lines: list[Line] = []
    start = 0
    for paragraph in plain.split("\n"):
        joint: str | None = None
        for first, last, joint_after in _breaks(paragraph, cells):
            lines.append(Line(sliced(runs, start + first, start + last), joint=joint))
            joint = joint_after
        start += len(paragraph) + 1
    return lines


def wrap_code(runs: Runs, cells: int) -> list[Line]:
    """Break one line of code into rows of exactly its characters: nothing is dropped at a break."""
    plain = "".join(segment.text for segment in runs)
    lines: list[Line] = []
    start = 0
    for piece in chop_cells(plain, max(cells, 1)) or [""]:
        joint = "" if lines else None
        lines.append(Line(sliced(runs, start, start + len(piece)), joint=joint))
        start += len(piece)
    return lines


def sliced(runs: Runs, first: int, last: int) -> tuple[Segment, ...]:
    """The characters from `first` up to `last` of `runs`."""
    pieces: list[Segment] = []
    position = 0
    for segment in runs:
        end = position + len(segment.text)
        if end > first and position < last:
            text = segment.text[max(first - position, 0) : last - position]
            pieces.append(Segment(text, segment.style))
        if end >= last:
            break
        position = end
    return tuple(pieces)


def spread(left: Runs, right: Runs, cells: int) -> tuple[Segment, ...]:
    """`left` and `right` in one row of `cells`, with blanks between them."""
    return (*left, Segment(" " * max(cells - cells_of(left) - cells_of(right), 1)), *right)


def lines_to_text(lines: Iterable[Line]) -> Text:
    """The rows as one rich Text, for widgets that draw no lines of their own."""
    text = Text(no_wrap=True, end="")
    for number, line in enumerate(lines):
        if number:
            text.append("\n")
        for segment in line.segments:
            text.append(segment.text, segment.style)
    return text


def copied(lines: Iterable[tuple[Line, int, int | None]]) -> str:
    """The text of rows, each with the characters selected in it, without decoration and wraps."""
    pieces: list[str] = []
    for line, first, last in lines:
        content = line.text[max(first, line.skip) : last].rstrip()
        if pieces:
            pieces.append("\n" if line.joint is None else line.joint)
        pieces.append(content)
    return "".join(pieces)


def _breaks(paragraph: str, cells: int) -> list[tuple[int, int, str]]:
    """Rows of a paragraph: first and last character, and the joint to the row after."""
    if len(paragraph) <= cells and cell_len(paragraph) <= cells:
        return [(0, len(paragraph.rstrip()), " ")]
    rows: list[tuple[int, int, str]] = []
    start = end = used = 0
    for match in _WORDS.finditer(paragraph):
        word = match[0]
        width = cell_len(word.rstrip())
        if used and used + width > cells:
            rows.append((start, end, " "))
            start, used = match.start(), 0
        if width > cells:
            *full, rest = list(accumulate(chop_cells(word.rstrip(), cells), initial=""))[1:]
            for piece in full:
                rows.append((start, match.start() + len(piece), ""))
                start = match.start() + len(piece)
            used = cell_len(rest[start - match.start() :]) + len(word) - len(word.rstrip())
        else:
            used += cell_len(word)
        end = match.start() + len(word.rstrip())
    return [*rows, (start, max(end, start), " ")]
