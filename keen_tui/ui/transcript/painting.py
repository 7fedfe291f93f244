"""Rows of the document as strips for the screen: with the block cursor, selected text, and the mark
that says what is below."""

from __future__ import annotations

from typing import Final

from rich.segment import Segment
from rich.style import Style
from textual.cache import LRUCache
from textual.strip import Strip

from keen_tui.ui.transcript.document import Document, Place
from keen_tui.ui.transcript.lines import Line, sliced

STRIPS_KEPT: Final = 512
"""Strips are heavy: only about those on the screen are kept."""


class Painter:
    """Paints rows of one document in its look."""

    def __init__(self, document: Document) -> None:
        self._document = document
        self._strips: LRUCache[tuple[int, int, bool], tuple[Line, Strip]] = LRUCache(STRIPS_KEPT)

    def forget(self) -> None:
        """The look changed."""
        self._strips.clear()

    def blank(self, cells: int) -> Strip:
        return Strip.blank(cells, self._base)

    def strip(self, place: Place, *, has_cursor: bool, selected: tuple[int, int] | None) -> Strip:
        """The row at `place`; `selected` are the first and last selected character, -1: up to the end."""
        entry = self._document.entries[place.block]
        line = self._document.line(place)
        row = place.offset - entry.gap
        if selected is not None:
            return self._painted(self._selected(self._with_cursor(line, row, has_cursor), selected))
        key = (entry.serial, row, has_cursor)
        kept = self._strips.get(key)
        # While a text streams in, the rows of its finished parts stay the very same lines.
        if kept is not None and kept[0] is line:
            return kept[1]
        strip = self._painted(self._with_cursor(line, row, has_cursor))
        self._strips[key] = (line, strip)
        return strip

    def with_mark(self, strip: Strip, below: int) -> Strip:
        """The last row in view, with the rows below it and the key that goes there."""
        look = self._document.look
        mark = Strip(
            [
                Segment(f" {look.glyphs.down} {below:,} below  ", look.styles("text", on="raised")),
                Segment("end ", look.styles("text", on="raised", bold=True)),
            ]
        )
        start = max(look.width - 2 - mark.cell_length, 0)
        end = start + mark.cell_length
        return Strip.join([strip.crop(0, start), mark, strip.crop(end, look.width)])

    @property
    def _base(self) -> Style:
        return self._document.look.styles("text", on="background")

    def _painted(self, line: Line) -> Strip:
        segments = Segment.apply_style(line.segments, self._base)
        return Strip(segments).crop_extend(0, self._document.look.width, self._base)

    def _with_cursor(self, line: Line, row: int, has_cursor: bool) -> Line:
        """The rows of the cursor's block have the bar; the first one is raised."""
        if not has_cursor or row < 0:
            return line
        look = self._document.look
        bar = Segment(look.glyphs.bar, look.styles("accent"))
        rest = sliced(line.segments, 1, len(line.text))
        if row > 0:
            return line._replace(segments=(bar, *rest))
        raised = look.styles("text", on="raised")
        return line._replace(segments=(bar, *_on(rest, raised))).filled(look.width, raised)

    def _selected(self, line: Line, span: tuple[int, int]) -> Line:
        """The row with the characters of `span` on the ground of selected text."""
        length = len(line.text)
        first = min(max(span[0], line.skip), length)
        last = length if span[1] == -1 else max(min(span[1], length), first)
        chosen = _on(sliced(line.segments, first, last), self._document.look.styles("text", on="select"))
        before, after = sliced(line.segments, 0, first), sliced(line.segments, last, length)
        return line._replace(segments=(*before, *chosen, *after))


def _on(segments: tuple[Segment, ...], ground: Style) -> tuple[Segment, ...]:
    """The same text on another ground."""
    on = Style(bgcolor=ground.bgcolor, reverse=ground.reverse)
    return tuple(Segment(segment.text, (segment.style or Style.null()) + on) for segment in segments)
