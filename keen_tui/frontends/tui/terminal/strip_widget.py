"""Widgets that are painted row by row, and after a change only the rows that look different."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import Self

from rich.segment import Segment
from textual.geometry import Region, Size
from textual.strip import Strip
from textual.widget import Widget

_FAILED = "This can't be drawn; keen.log says why."

_log = logging.getLogger(__name__)


class StripWidget(Widget):
    """Shows the rows that its subclass says in `strips`. It must have neither a border nor padding.

    Textual's own way keeps a copy of each row for its place on the screen, which is made anew as soon as the
    row moves or anything else in the widget changes. Here a row that looks as before is the very same strip
    as before, wherever it stands, and what Textual once made of that (its escape sequences) is still there.
    """

    _is_stale = True

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._painted: list[Strip] = []
        self._painted_size = Size(0, 0)

    def strips(self) -> Iterable[Strip]:
        """The rows from the top, as many as the widget is high."""
        raise NotImplementedError

    def refresh(
        self, *regions: Region, repaint: bool = True, layout: bool = False, recompose: bool = False
    ) -> Self:
        self._is_stale = True
        return super().refresh(*regions, repaint=repaint, layout=layout, recompose=recompose)

    def refresh_changed(self) -> None:
        """Have those rows painted that look different than before."""
        if self._is_stale or not self._fits:
            self.refresh()
            return
        before, self._painted = self._painted, self._repainted()
        changed = [old is not new for old, new in zip(before, self._painted, strict=True)]
        if any(changed):
            regions = [Region(0, first, self.size.width, count) for first, count in _runs(changed)]
            super().refresh(*regions)

    def render_lines(self, crop: Region) -> list[Strip]:
        if self._is_stale or not self._fits:
            self._painted = self._repainted()
            self._is_stale = False
        rows = self._painted[crop.y : crop.bottom]
        if crop.column_span == (0, self.size.width):
            return rows
        return [row.crop(crop.x, crop.right) for row in rows]

    def render_line(self, y: int) -> Strip:
        return self.render_lines(Region(0, y, self.size.width, 1))[0]

    @property
    def _fits(self) -> bool:
        """Whether the rows are those for the size that the widget has now."""
        return self._painted_size == self.size and len(self._painted) == self.size.height

    def _drawn_or_words(self) -> list[Strip]:
        """What the subclass says; where it fails there is a word in its place, and the rest goes on."""
        try:
            return list(self.strips())
        except Exception:
            _log.exception("%s can't be drawn", type(self).__name__)
            width, height = self.size
            words = Strip([Segment(_FAILED, self.rich_style)]).adjust_cell_length(width, self.rich_style)
            return [words, *[Strip.blank(width, self.rich_style)] * (height - 1)][:height]

    def _repainted(self) -> list[Strip]:
        """The rows as they are now; one that looks as before at the same place is the one from before."""
        self._painted_size = self.size
        filters = self.get_line_filters()
        ground = self.background_colors[1]
        rows = self._drawn_or_words()
        for each in filters:
            rows = [row.apply_filter(each, ground) for row in rows]
        before = self._painted
        if len(rows) != len(before):
            return rows
        return [old if old is new or old == new else new for old, new in zip(before, rows, strict=True)]


def _runs(changed: Iterable[bool]) -> Iterator[tuple[int, int]]:
    """First row and number of rows for each run of changed ones."""
    for is_changed, run in groupby(enumerate(changed), key=lambda row: row[1]):
        if is_changed:
            rows = list(run)
            yield rows[0][0], len(rows)
