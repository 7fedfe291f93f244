"""Paints rows of the document as strips, with the block cursor, the selection, and the mark that counts the
rows below."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple, Protocol

from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from keen_tui.frontends.tui.rows.lines import BLANK, Line, sliced
from keen_tui.frontends.tui.rows.lru_cache import Recent
from keen_tui.frontends.tui.terminal.strip_widget import filled_strip
from keen_tui.frontends.tui.transcript.document import Document, Place

_NARROW: Final = 40
"""Columns below which the mark has only a number, so that the bar of the cursor stays visible."""
STRIPS_KEPT: Final = 512
"""Strips that are kept: they are large, so about as many as the screen shows."""


class Mark(NamedTuple):
    """Characters of a row from `first` up to `last` that are painted with `style` over their own."""

    first: int
    last: int
    style: Style


class Marker(Protocol):
    """Marks characters of rows."""

    @property
    def has_marks(self) -> bool:
        """False: no row has a mark."""

    def marks(self, place: Place) -> Sequence[Mark]:
        """The marks for a row."""


class Painter:
    """Paints rows of one document in its look, with the marks of `markers`; the last one is on top."""

    def __init__(self, document: Document, markers: Sequence[Marker]) -> None:
        self._document = document
        self._markers = markers
        self._strips: Recent[tuple[int, int, bool], tuple[Line, Strip]] = Recent(STRIPS_KEPT)

    def forget(self) -> None:
        """Forget all strips, because the look changed."""
        self._strips.clear()

    def blank(self, cells: int) -> Strip:
        return Strip.blank(cells, self._base)

    def rows(self, blocks: Iterable[tuple[int, range]], cursor: range) -> list[Strip]:
        """The rows of blocks at these offsets. `cursor`: the blocks that the cursor is on."""
        markers = [each for each in self._markers if each.has_marks]
        rows: list[Strip] = []
        for index, offsets in blocks:
            entry, lines = self._document.entries[index], self._document.lines(index)
            height, has_cursor = len(lines), index in cursor
            for offset in offsets:
                row = offset - entry.gap
                line = lines[row] if 0 <= row < height else BLANK
                marks = [mark for each in markers for mark in each.marks(Place(index, offset))]
                if marks:
                    rows.append(self._painted(_marked(self._with_cursor(line, row, has_cursor), marks)))
                else:
                    rows.append(self._row((entry.serial, row, has_cursor), line))
        return rows

    def _row(self, key: tuple[int, int, bool], line: Line) -> Strip:
        """A row without marks. `key`: the serial number of its block, its number there, and whether the
        cursor is on it."""
        kept = self._strips.get(key)
        if kept is None or kept[0] != line:
            _, row, has_cursor = key
            kept = line, self._painted(self._with_cursor(line, row, has_cursor))
            self._strips.keep(key, kept)
        return kept[1]

    def with_mark(self, strip: Strip, below: int, key: str) -> Strip:
        """The last row in view, with the number of rows below it and the key that leads there."""
        look = self._document.look
        words = f" {look.glyphs.down} {below:,} " + ("" if look.width < _NARROW else "below  ")
        pieces = [Segment(words, look.styles("text", on="raised"))]
        if look.width >= _NARROW:
            pieces.append(Segment(f"{key} ", look.styles("text", on="raised", bold=True)))
        mark = Strip(pieces)
        start = max(look.width - 2 - mark.cell_length, 0)
        end = start + mark.cell_length
        return Strip.join([strip.crop(0, start), mark, strip.crop(end, look.width)])

    @property
    def _base(self) -> Style:
        return self._document.look.styles("text", on="background")

    def _painted(self, line: Line) -> Strip:
        return filled_strip(line.segments, self._document.look.width, self._base)

    def _with_cursor(self, line: Line, row: int, has_cursor: bool) -> Line:
        """A row of the cursor's block: all of them have the bar, and the first one is raised."""
        if not has_cursor or row < 0:
            return line
        look = self._document.look
        bar = Segment(look.glyphs.bar, look.styles("accent"))
        rest = sliced(line.segments, 1, len(line.text))
        if row > 0:
            return line._replace(segments=(bar, *rest))
        raised = look.styles("text", on="raised")
        return line._replace(segments=(bar, *_on(rest, raised))).filled(look.width, raised)


def _marked(line: Line, marks: Sequence[Mark]) -> Line:
    """The row with marks; where they overlap, a later one wins."""
    for first, last, style in marks:
        inside = (
            Segment(segment.text, (segment.style or Style.null()) + style)
            for segment in sliced(line.segments, first, last)
        )
        before, after = sliced(line.segments, 0, first), sliced(line.segments, last, len(line.text))
        line = line._replace(segments=(*before, *inside, *after))
    return line


def _on(segments: tuple[Segment, ...], ground: Style) -> tuple[Segment, ...]:
    """The same text on another background."""
    on = Style(bgcolor=ground.bgcolor, reverse=ground.reverse)
    return tuple(Segment(segment.text, (segment.style or Style.null()) + on) for segment in segments)
