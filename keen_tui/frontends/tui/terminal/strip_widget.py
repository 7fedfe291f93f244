"""Widgets that are painted row by row, and after a change only the rows that look different."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import ClassVar, Self

from rich.segment import Segment
from rich.style import Style
from textual.color import Color
from textual.filter import LineFilter
from textual.geometry import NULL_SIZE, Region, Size
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

    waits_for_size: ClassVar = False
    """Whether it draws its rows anew when it handles the message about a new size. A new layout isn't painted
    before that."""

    _is_stale = True
    _is_idle = False

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._drawn: list[Strip] = []
        self._painted: list[Strip] = []
        """The drawn rows behind the line filters."""
        self._painted_size = NULL_SIZE
        self._may_differ = False
        self._style: Style | None = None
        self._backgrounds: tuple[Color, Color] | None = None

    @property
    def rich_style(self) -> Style:
        """The widget's style, kept until `refresh`. Textual works it out at each call, from the styles of all
        widgets around this one."""
        if self._style is None:
            self._style = super().rich_style
        return self._style

    @property
    def background_colors(self) -> tuple[Color, Color]:
        """As for `rich_style`."""
        if self._backgrounds is None:
            self._backgrounds = super().background_colors
        return self._backgrounds

    def strips(self) -> Iterable[Strip]:
        """The rows from the top, as many as the widget is high."""
        raise NotImplementedError

    def refresh(
        self, *regions: Region, repaint: bool = True, layout: bool = False, recompose: bool = False
    ) -> Self:
        self._is_stale = True
        self._style = self._backgrounds = None
        return super().refresh(*regions, repaint=repaint, layout=layout, recompose=recompose)

    def refresh_changed(self) -> None:
        """Repaint the rows that look different. They are compared when the widget has no more messages, so
        several changes cost one comparison. A widget that isn't shown is drawn when it is."""
        self._may_differ = True
        if self._painted_size:
            self.check_idle()

    def check_idle(self) -> None:
        # Textual looks right after `on_idle` anyway: another message would make it look once more.
        if not self._is_idle:
            super().check_idle()

    def on_idle(self) -> None:
        """Compare the rows, before Textual looks whether something must be painted again."""
        if not self._may_differ:
            return
        self._may_differ = False
        size = self.size
        if not size:  # it isn't shown, and is drawn when it is
            self._is_stale, self._painted_size = True, NULL_SIZE
            return
        if self._is_stale or self._painted_size != size:
            self.refresh()
            return
        before = self._painted
        self._repaint(size)
        changed = [old is not new for old, new in zip(before, self._painted, strict=True)]
        if any(changed):
            regions = [Region(0, first, size.width, count) for first, count in _runs(changed)]
            self._is_idle = True
            super().refresh(*regions)
            self._is_idle = False

    def render_lines(self, crop: Region) -> list[Strip]:
        size = self.size
        if self._is_stale or self._painted_size != size:
            self._drawn = []  # the line filters may have changed
            self._repaint(size)
            self._is_stale = self._may_differ = False
        else:
            self.on_idle()  # if there is something to compare, Textual's own look is still to come
        rows = self._painted[crop.y : crop.bottom]
        if crop.column_span == (0, size.width):
            return rows
        return [row.crop(crop.x, crop.right) for row in rows]

    def render_line(self, y: int) -> Strip:
        return self.render_lines(Region(0, y, self.size.width, 1))[0]

    def _repaint(self, size: Size) -> None:
        """Paint the rows as they are now. A strip that was drawn before, at whatever place, isn't filtered
        again. A row that looks as before at the same place is the strip from before."""
        before, filtered = self._painted, dict(zip(map(id, self._drawn), self._painted, strict=False))
        drawn, filters, ground = _drawn(self), self.get_line_filters(), self.background_colors[1]
        painted: list[Strip] = []
        for y, strip in enumerate(drawn):
            row = filtered.get(id(strip))
            if row is None:
                row = _filtered(strip, filters, ground)
            old = before[y] if y < len(before) else None
            painted.append(old if old is not None and old == row else row)
        self._drawn, self._painted = drawn, painted
        self._painted_size = Size(size.width, len(painted))


def filled_strip(segments: Iterable[Segment], width: int, ground: Style) -> Strip:
    """A row of exactly `width` cells on the style `ground`. The methods of a strip would make up to three
    strips on the way."""
    row = Segment.adjust_line_length([*segments], width)
    return Strip(Segment.apply_style(row, ground), width)


def _drawn(widget: StripWidget) -> list[Strip]:
    """Returns the strips of the widget. If drawing fails, a word takes their place, and the other widgets are
    still drawn."""
    try:
        return list(widget.strips())
    except Exception:
        _log.exception("%s can't be drawn", type(widget).__name__)
        (width, height), style = widget.size, widget.rich_style
        words = filled_strip([Segment(_FAILED)], width, style)
        return [words, *[Strip.blank(width, style)] * (height - 1)][:height]


def _filtered(strip: Strip, filters: Iterable[LineFilter], ground: Color) -> Strip:
    """The strip behind the filters: the very same one where they change nothing, which is nearly always so.
    Textual would make a new one for each filter."""
    for each in filters:
        segments = list(strip)
        if each.apply(segments, ground) != segments:
            strip = strip.apply_filter(each, ground)
    return strip


def _runs(changed: Iterable[bool]) -> Iterator[tuple[int, int]]:
    """First row and number of rows for each run of changed ones."""
    for is_changed, run in groupby(enumerate(changed), key=lambda row: row[1]):
        if is_changed:
            rows = list(run)
            yield rows[0][0], len(rows)
