"""The table of the context view: one row a part of the next request, all on one scale."""

from __future__ import annotations

from collections.abc import Sequence

from rich.text import Text

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
from keen_tui.frontends.tui.pages.row_list import RowList
from keen_tui.frontends.tui.widgets.row_widget import GAP, cut_row, indented, spread
from keen_tui.text.sanitize import clean
from keen_tui.text.units import size

_TOKEN_CELLS = 6
_BYTES_FROM = 34
"""Cells at the left from which there is room for the bytes."""
_FOOT = 2
_ROOMY_FROM = 14


class PartTable(RowList[ContextPart | None]):
    """Shows the rows around the chosen part; column heads and total always stay in view."""

    head = 2
    around = 2
    page = 10
    wheel = 0

    def __init__(self, styles: Styles, glyphs: Glyphs, view: PolicyView) -> None:
        super().__init__(styles, glyphs, self._part, key=_key, id="context-parts", edges=(0, 0))
        self.show(view)

    @property
    def wanted_height(self) -> int:
        """Rows that show everything."""
        return self.head + len(self._spaced) + _FOOT

    def show(self, view: PolicyView) -> None:
        """Draw this report; the part that was chosen stays it."""
        self._view, self._spaced = view, spaced(view.report.parts)
        stays = self.chosen and _key(self.chosen) in map(_key, view.report.parts)
        self.set_lines(self._spaced, self.chosen if stays else _first_choice(view.report.parts))

    def rows(self, width: int, height: int) -> list[Text]:
        roomy = self._roomy(height)
        lines = self._spaced if roomy else self._view.report.parts
        if len(lines) != len(self.lines):
            self.set_lines(lines)
        columns = columns_of(width, self._view.chosen)
        view = self.in_view(height - self.head - (_FOOT if roomy else 1))
        above, below = self.counted(0, view.start), self.counted(view.stop)
        body = [self.drawn(place, width) for place in view]
        rule = Text(self.glyphs.rule * (width - TEXT_EDGE - RIGHT_MARGIN), self.look("edge"))
        head = [self._heads(columns, above), indented(rule, TEXT_EDGE)]
        return [*head, *body, *([Text()] if roomy else []), self._total(columns, below)]

    def _roomy(self, height: int) -> bool:
        """Whether there is room for blank lines: all fits with them, or much would be cut anyway."""
        few = len(self._view.report.parts) + self.head + 1 <= height
        return self.wanted_height <= height or (height >= _ROOMY_FROM and not few)

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

    def _part(self, part: ContextPart | None, cells: int, chosen: bool) -> Text:
        if part is None:
            return Text()
        look, columns = self.look, columns_of(cells + 1, self._view.chosen)
        title = Text(clean(part.title), look("text", bold=chosen))
        count = self._view.size(part).bytes
        amount = Text(size(count) if count else self.glyphs.none, look("soft" if count else "dim"))
        left = self._left(self.fact(title, Text(clean(part.label), look("dim"))), amount, columns)
        figures = [self._figure(part, policy, columns.cells, chosen) for policy in columns.policies]
        row = columns.row(left, figures, more=self.glyphs.more)
        mark = (self.glyphs.look if part.kind == "pending" else " ", look("wait"))
        return Text.assemble(" ", mark, " ", row[TEXT_EDGE:])

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


def spaced(parts: Sequence[ContextPart]) -> list[ContextPart | None]:
    """The parts with None for blank lines: between what stays, the past, and what is now."""
    lines: list[ContextPart | None] = []
    for place, part in enumerate(parts):
        if place and _group(parts, place) != _group(parts, place - 1):
            lines.append(None)
        lines.append(part)
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


def _first_choice(parts: Sequence[ContextPart]) -> ContextPart | None:
    """The newest finished turn, else the newest one, else the first part."""
    turns = [place for place, part in enumerate(parts) if part.kind == "turn"]
    first = max(turns, key=lambda place: (_group(parts, place) == "past", place), default=0)
    return parts[first] if parts else None


def _key(part: ContextPart | None) -> object:
    return (part.kind, part.title, part.turn) if part else None
