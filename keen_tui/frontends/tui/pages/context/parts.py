"""The table of the context view: one row a part of the next request, all on one scale."""

from __future__ import annotations

from collections.abc import Sequence

from rich.text import Text
from textual import events
from textual.message import Message

from keen_tui.domain.reports import ContextPart
from keen_tui.frontends.tui.look.cells import meter
from keen_tui.frontends.tui.look.glyphs import Glyphs
from keen_tui.frontends.tui.look.themes import Styles
from keen_tui.frontends.tui.pages.context.columns import (
    RIGHT_MARGIN,
    TEXT_EDGE,
    Columns,
    PolicyView,
    columns_of,
    thousands,
)
from keen_tui.frontends.tui.widgets.row_widget import GAP, RowWidget, cut_row, indented, spread
from keen_tui.text.sanitize import clean
from keen_tui.text.units import size

_TOKEN_CELLS = 6
_BYTES_FROM = 34
"""Cells at the left from which there is room for the bytes."""
_HEAD = 2
_FOOT = 2
_MARGIN = 2
_LOW = 6
_ROOMY_FROM = 14


class PartTable(RowWidget):
    """Shows the rows around the chosen part; column heads and total always stay in view."""

    class Picked(Message):
        """A part was chosen with the mouse."""

    def __init__(self, styles: Styles, glyphs: Glyphs, view: PolicyView) -> None:
        super().__init__(styles, glyphs, id="context-parts")
        self._view = view
        self._spaced = lines_of(view.report.parts)
        self._place = _first_choice(view.report.parts)
        self._first = 0
        self._lines: list[int | None] = []

    @property
    def chosen(self) -> ContextPart | None:
        """The part that is looked at."""
        parts = self._view.report.parts
        return parts[self._place] if parts else None

    @property
    def wanted_height(self) -> int:
        """Rows that show everything."""
        return _HEAD + len(self._spaced) + _FOOT

    def show(self, view: PolicyView) -> None:
        """Draw this report; the part that was chosen stays it."""
        before = _key(self.chosen)
        self._view, self._spaced = view, lines_of(view.report.parts)
        keys = [_key(part) for part in view.report.parts]
        self._place = keys.index(before) if before in keys else _first_choice(view.report.parts)
        self.changed()

    def move(self, step: int) -> None:
        """Choose a part further up or down."""
        self._place = min(max(self._place + step, 0), max(len(self._view.report.parts) - 1, 0))
        self.changed()

    def rows(self, width: int, height: int) -> list[Text]:
        columns = columns_of(width, self._view.chosen)
        parts = self._view.report.parts
        self._lines = self._spaced if self._roomy(height) else list(range(len(parts)))
        room = max(height - _HEAD - (_FOOT if self._roomy(height) else 1), 1)
        self._first = self._first_in_view(room)
        shown = self._lines[self._first : self._first + room]
        above = sum(place is not None for place in self._lines[: self._first])
        below = sum(place is not None for place in self._lines[self._first + room :])
        body = [Text() if place is None else self._part(place, columns, width) for place in shown]
        blank = [Text()] if self._roomy(height) else []
        rule = Text(self.glyphs.rule * (width - TEXT_EDGE - RIGHT_MARGIN), self.look("edge"))
        return [
            self._heads(columns, above),
            indented(rule, TEXT_EDGE),
            *body,
            *blank,
            self._total(columns, below),
        ]

    def _roomy(self, height: int) -> bool:
        """Whether there is room for blank lines: all fits with them, or much would be cut anyway."""
        few = len(self._view.report.parts) + _HEAD + 1 <= height
        return self.wanted_height <= height or (height >= _ROOMY_FROM and not few)

    def _first_in_view(self, room: int) -> int:
        """The line to begin with: the chosen part is in view, with a margin where there is room for it."""
        at = self._lines.index(self._place) if self._place in self._lines else 0
        margin = _MARGIN if room >= _LOW else 0
        first = min(self._first, max(at - margin, 0))
        first = max(first, at - room + 1 + margin)
        return max(min(first, len(self._lines) - room), 0)

    def _heads(self, columns: Columns, above: int) -> Text:
        look = self.look
        hidden = Text(f"{self.glyphs.up} {above} above", look("soft")) if above else Text()
        left = self.fact(Text("part", look("dim")), hidden)
        figures = [Text("tokens".rjust(columns.cells), look("dim")) for _ in columns.policies]
        return columns.row(self._left(left, Text("bytes", look("dim")), columns), figures)

    def _total(self, columns: Columns, below: int) -> Text:
        look, totals, chosen = self.look, self._view.report.totals, self._view.chosen
        hidden = Text(f"{self.glyphs.down} {below} below", look("soft")) if below else Text()
        left = self.fact(Text("total", look("text", bold=True)), hidden)
        figures = []
        for policy in columns.policies:
            style = look("text", bold=True) if policy == chosen else look("soft")
            count = thousands(totals[policy].tokens, self.glyphs)
            figures.append(Text(count.rjust(columns.cells), style))
        amount = Text(size(totals[chosen].bytes), look("text", bold=True))
        return columns.row(self._left(left, amount, columns), figures)

    def _part(self, place: int, columns: Columns, width: int) -> Text:
        part, look = self._view.report.parts[place], self.look
        chosen = place == self._place
        pending = part.kind == "pending"
        title = Text(clean(part.title), look("text", bold=chosen))
        count = self._view.size(part).bytes
        amount = Text(size(count) if count else self.glyphs.none, look("soft" if count else "dim"))
        left = self._left(self.fact(title, Text(clean(part.label), look("dim"))), amount, columns)
        figures = [self._figure(part, policy, columns.cells, chosen) for policy in columns.policies]
        row = columns.row(left, figures, more=self.glyphs.more)
        bar = (self.glyphs.bar if chosen else " ", look("accent"))
        mark = (self.glyphs.look if pending else " ", look("wait"))
        row = Text.assemble(bar, " ", mark, " ", row[TEXT_EDGE:])
        if not chosen:
            return row
        row.pad_right(max(width - row.cell_len, 0))
        return Text.assemble(row, style=look("text", on="raised"))

    def _left(self, what: Text, amount: Text, columns: Columns) -> Text:
        """The left part of a row: what it is, and its bytes where there is room for them."""
        room = columns.left_end - TEXT_EDGE
        if columns.left_end < _BYTES_FROM:
            return indented(cut_row(what, room, self.glyphs.more), TEXT_EDGE)
        gap = len(GAP) - 1
        return indented(spread(what, indented(amount, gap), room, self.glyphs.more), TEXT_EDGE)

    def _figure(self, part: ContextPart, policy: int, cells: int, bold: bool) -> Text:
        """The meter and the tokens of a part under one policy."""
        look, view = self.look, self._view
        count = part.sizes[policy].tokens
        words = thousands(count, self.glyphs).rjust(_TOKEN_CELLS)
        chosen = policy == view.chosen
        style = look("text" if chosen else "soft", bold=bold and chosen)
        meter_cells = cells - _TOKEN_CELLS - 1
        if not count:
            return Text(words.rjust(cells), look("dim"))
        filled, track = meter(count / view.largest, meter_cells, self.glyphs)
        role = ("wait" if part.kind == "pending" else "accent") if policy == view.in_use else "soft"
        return Text.assemble((filled, look(role)), (track, look("track")), " ", (words, style))

    def on_click(self, event: events.Click) -> None:
        line = self._first + event.y - _HEAD
        place = self._lines[line] if event.y >= _HEAD and line < len(self._lines) else None
        if place is not None:
            self.move(place - self._place)
            self.post_message(self.Picked())


def lines_of(parts: Sequence[ContextPart]) -> list[int | None]:
    """The places of the parts with None for blank lines: between what stays, the past, and what is now."""
    lines: list[int | None] = []
    for place in range(len(parts)):
        if place and _group(parts, place) != _group(parts, place - 1):
            lines.append(None)
        lines.append(place)
    return lines


def _group(parts: Sequence[ContextPart], place: int) -> str:
    part = parts[place]
    if part.kind in ("compacted", "turn"):
        behind = parts[place + 1] if place + 1 < len(parts) else None
        waits = behind is not None and behind.kind == "pending" and behind.turn == part.turn
        return "now" if waits else "past"
    if part.kind in ("pending", "draft"):
        return "now"
    return "frame" if part.kind == "frame" else "always"


def _first_choice(parts: Sequence[ContextPart]) -> int:
    """The newest finished turn, else the newest one, else the first part."""
    turns = [place for place, part in enumerate(parts) if part.kind == "turn"]
    return max(turns, key=lambda place: (_group(parts, place) == "past", place), default=0)


def _key(part: ContextPart | None) -> tuple[str, str, int] | None:
    return (part.kind, part.title, part.turn) if part else None
