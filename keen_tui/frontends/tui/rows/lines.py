"""One drawn row as a value, and text broken into rows."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple, TypeAlias

from rich.cells import cell_len, chop_cells
from rich.segment import Segment
from rich.style import Style
from rich.text import Text

Runs: TypeAlias = Sequence[Segment]
"""Styled pieces of text in order; a `\\n` in one is a line break."""

_WIDE = re.compile(
    "[\u3001-\u3029\u3041-\u3096\u30a0-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3\uff01-\uff60]+"
)
"""Characters of two cells each; most long words without spaces consist of them."""

_WORDS = re.compile(r"\s*\S+\s*|\s+")


class Line(NamedTuple):
    """One row of cells from the left edge.

    `joint` joins the row above and this one in copied text: None for a new line, a space or nothing where a
    long line was wrapped. The first `skip` characters and the last `trim` ones are decoration and never
    copied. `chip` marks the row with the key to press next. `hidden` is text that isn't drawn: the row stands
    for it, and copying the row copies that text.
    """

    segments: tuple[Segment, ...] = ()
    joint: str | None = None
    skip: int = 0
    chip: bool = False
    trim: int = 0
    hidden: str = ""

    @property
    def text(self) -> str:
        return "".join(segment.text for segment in self.segments)

    def copied(self, *, goes_on: bool = False) -> str:
        """The row's text for the clipboard. `goes_on`: the row below continues its last word, or its
        spaces."""
        text = self.text
        content = text[self.skip : len(text) - self.trim]
        return content if goes_on else content.rstrip()

    @property
    def cells(self) -> int:
        return cells_of(self.segments)

    @property
    def soft(self) -> bool:
        """True if this row continues a line that was too long."""
        return self.joint is not None

    def behind(self, prefix: Runs) -> Line:
        """This row moved right, after the decoration `prefix`."""
        added = sum(len(segment.text) for segment in prefix)
        return self._replace(segments=(*prefix, *self.segments), skip=self.skip + added)

    def filled(self, cells: int, style: Style) -> Line:
        """This row filled with spaces in `style` up to a width of `cells`."""
        missing = cells - self.cells
        if missing <= 0:
            return self
        blanks = Segment(" " * missing, style)
        return self._replace(segments=(*self.segments, blanks), trim=self.trim + missing)


BLANK = Line()


def cells_of(runs: Runs) -> int:
    """The cells that these pieces take."""
    texts = [run.text for run in runs]
    return sum(map(_measure("".join(texts)), texts))


def _measure(text: str) -> Callable[[str], int]:
    """The function that counts the cells of parts of a text. Printable ASCII has one cell per character."""
    return len if text.isascii() and text.isprintable() else cell_len


def wrap(runs: Runs, cells: int) -> list[Line]:
    """Break `runs` into rows of at most `cells`, between words if possible.

    Spaces at a break are dropped; a word that is longer than a row is broken anywhere.
    """
    plain = "".join(segment.text for segment in runs)
    cells = max(cells, 1)
    if plain and plain == plain.rstrip() and "\n" not in plain and cell_len(plain) <= cells:
        return [Line(tuple(run for run in runs if run.text))]
    cutter = _Cutter(runs)
    lines: list[Line] = []
    start = 0
    for paragraph in plain.split("\n"):
        joint: str | None = None
        for first, last, joint_after in _breaks(paragraph, cells):
            lines.append(Line(cutter.cut(start + first, start + last), joint=joint))
            joint = joint_after
        start += len(paragraph) + 1
    return lines


def cut_into(runs: Runs, ends: Sequence[int]) -> list[Line]:
    """The rows of a line that is cut at these positions, from the first position up to the last."""
    cutter = _Cutter(runs)
    return [
        Line(cutter.cut(start, end), joint="" if number else None)
        for number, (start, end) in enumerate(pairwise(ends))
    ]


def sliced(runs: Runs, first: int, last: int) -> tuple[Segment, ...]:
    """The characters from `first` up to `last` of `runs`."""
    return _Cutter(runs).cut(first, last)


def lines_to_text(lines: Iterable[Line]) -> Text:
    """The rows as one rich Text, for widgets that don't draw lines."""
    text = Text(no_wrap=True, end="")
    for number, line in enumerate(lines):
        if number:
            text.append("\n")
        for segment in line.segments:
            text.append(segment.text, segment.style)
    return text


class _Cutter:
    """Cuts pieces out of runs from front to back, and reads a run only if a piece needs it."""

    def __init__(self, runs: Runs) -> None:
        self._runs = runs
        self._number = 0
        self._position = 0

    def cut(self, first: int, last: int) -> tuple[Segment, ...]:
        """The characters from `first` up to `last`; `first` never decreases from call to call."""
        self._skip_to(first)
        pieces: list[Segment] = []
        position = self._position
        for number in range(self._number, len(self._runs)):
            text, style, _ = self._runs[number]
            end = position + len(text)
            if end > first and position < last:
                pieces.append(Segment(text[max(first - position, 0) : last - position], style))
            if end >= last:
                break
            position = end
        return tuple(pieces)

    def _skip_to(self, first: int) -> None:
        """Skip the runs that end before `first`."""
        while self._number < len(self._runs):
            end = self._position + len(self._runs[self._number].text)
            if end > first:
                break
            self._position = end
            self._number += 1


def _breaks(paragraph: str, cells: int) -> Iterator[tuple[int, int, str]]:
    """Rows of a paragraph: first and last character, and the joint to the row after."""
    if len(paragraph) <= cells and cell_len(paragraph) <= cells:
        yield 0, len(paragraph.rstrip()), " "
        return
    start = end = used = 0
    measure = _measure(paragraph)
    for match in _WORDS.finditer(paragraph):
        word = match[0].rstrip()
        blanks = len(match[0]) - len(word)
        width = measure(word)
        if used and used + width > cells:
            yield start, end, " "
            start, used = match.start(), 0
        end = match.start() + len(word)
        if width > cells:
            *full, rest = chopped(word, cells)
            broken = match.start()
            for piece in full:
                broken += len(piece)
                yield start, broken, ""
                start = broken
            used = measure(rest) + blanks
        else:
            used += measure(match[0])
    yield start, max(end, start), " "


def code_pieces(text: str, cells: int) -> Iterator[str]:
    """The rows of a line of code, at least one, with all its characters. Each row is as long as possible, or
    ends after a space in its second half."""
    start = 0
    while start < len(text):
        piece = _leading(text, start, cells)
        end = start + len(piece)
        blank = piece.rfind(" ") + 1
        if end < len(text) and blank > len(piece) // 2 and cell_len(text[start + blank]):
            piece = piece[:blank]
        yield piece
        start += len(piece)
    if not text:
        yield text


def _leading(text: str, start: int, cells: int) -> str:
    """As much of `text` from `start` on as fits into `cells`, at least one character."""
    some = cells + 1
    while True:
        part = text[start : start + some]
        if part.isascii():
            return part[:cells]
        pieces = chopped(part, cells)
        if len(pieces) > 1 or start + some >= len(text):
            return pieces[0] or part[:1]
        some *= 2  # some characters have no width


def chopped(text: str, cells: int) -> list[str]:
    """`text` in pieces of at most `cells`, at least one; characters without width are kept."""
    if cells > 1 and _WIDE.fullmatch(text):
        return [text[first : first + cells // 2] for first in range(0, len(text), cells // 2)]
    return chop_cells(text, cells) or [text]
