"""What Textual does to paint a change, cut down to what changed."""

from __future__ import annotations

import asyncio
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from operator import itemgetter
from typing import Any, Final, NamedTuple, TypeAlias, TypeGuard

from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.segment import Segment
from textual._compositor import Compositor, CompositorUpdate, ReflowResult
from textual.geometry import Region, Size
from textual.messages import Update
from textual.screen import Screen
from textual.strip import Strip
from textual.widget import Widget

from keen_tui.frontends.tui.terminal.strip_widget import StripWidget

PATIENCE: Final = 0.1
"""Seconds after which a layout is painted although a widget hasn't handled its new size."""

Span: TypeAlias = tuple[int, int]
"""Columns of a row, from the first up to the second."""


class FrugalCompositor(Compositor):
    """Asks for rows only where something is painted again, and those in front only.

    Textual's own asks every widget on the screen for every row it has, however little changed and whatever
    lies over it: a key in the composer costs as much as a new screen. This is private to Textual, like the
    attribute of a screen that holds its compositor; tests compare what is painted with a screen painted anew.
    """

    is_held = False
    """While it is, nothing is painted: the terminal keeps the picture that it shows."""

    def __init__(self) -> None:
        super().__init__()
        self._waiting: set[StripWidget] = set()
        """Widgets that haven't handled the message about their new size yet."""
        self._end_of_waiting: asyncio.TimerHandle | None = None

    def reflow(self, parent: Widget, size: Size) -> ReflowResult:
        """Lay out the screen. Textual would paint it at once, and again when slow widgets have drawn
        themselves for their new sizes. Here it is painted only then."""
        result = super().reflow(parent, size)
        self._full_map_invalidated = False  # as it is, Textual would lay out everything once more to look
        late = [each for each in result.resized | result.shown if _waits_for_size(each)]
        self._waiting = {*self._waiting, *late} & self.widgets
        if late:
            loop = asyncio.get_running_loop()
            loop.call_soon(self._ask, late)  # by then Textual has sent the messages
            self._end_of_waiting = self._end_of_waiting or loop.call_later(PATIENCE, self._stop_waiting)
        return result

    def render_update(
        self, full: bool = False, screen_stack: list[Screen[Any]] | None = None, simplify: bool = False
    ) -> RenderableType | None:
        if self.is_held or (self._waiting and not full):
            return None
        return super().render_update(full, screen_stack, simplify)

    def _ask(self, widgets: Iterable[StripWidget]) -> None:
        """Have each widget report when it has handled the messages in its queue."""
        for widget in widgets:
            widget.call_later(self._handled, widget)

    def _handled(self, widget: StripWidget) -> None:
        if widget in self._waiting:
            self._waiting.remove(widget)
            if not self._waiting:
                self._stop_waiting()

    def _stop_waiting(self) -> None:
        """Paint the screen where it has changed."""
        self._waiting.clear()
        if self._end_of_waiting:
            self._end_of_waiting.cancel()
            self._end_of_waiting = None
        if self.root is not None:
            self.root.post_message(Update(self.root))

    def render_full_update(self, simplify: bool = False) -> Any:
        """The whole screen. `simplify` makes no difference."""
        self._dirty_regions.clear()
        return self._picture([self.size.region])

    def render_partial_update(self) -> Any:
        """What has changed, or None."""
        changed = [*self._dirty_regions]
        self._dirty_regions.clear()
        return self._picture(changed) if changed else None

    def render_strips(self, size: Size | None = None) -> list[Strip]:
        """The rows of the screen."""
        return self._picture([(size or self.size).region]).rows()

    def _picture(self, regions: Iterable[Region]) -> _Picture:
        """What these regions of the screen show."""
        wanted = WantedCells(self._regions_to_spans(regions), self.cuts)
        pieces: list[_Piece] = []
        for widget, (region, clip) in self.visible_widgets.items():
            for seen in wanted.runs(region.intersection(clip)):
                strips = widget.render_lines(seen.translate((-region.x, -region.y)))
                for y, strip in zip(seen.line_range, _filling(strips, seen), strict=True):
                    for left, right in wanted.take(y, seen.column_span):
                        pieces.append(_Piece(y, left, strip.crop(left - seen.x, right - seen.x)))
            if not wanted:
                break
        return _Picture(pieces)


def paint_frugally(screen: Screen[Any]) -> FrugalCompositor:
    """Give a new screen this compositor."""
    screen._compositor = compositor = FrugalCompositor()
    return compositor


def _waits_for_size(widget: Widget) -> TypeGuard[StripWidget]:
    return isinstance(widget, StripWidget) and widget.waits_for_size


class _Piece(NamedTuple):
    """Part of a row of the screen, from column `x` on."""

    y: int
    x: int
    strip: Strip


class _Picture(CompositorUpdate):
    """Pieces of the screen, in any order."""

    def __init__(self, pieces: Sequence[_Piece]) -> None:
        self._pieces = pieces

    def render_segments(self, console: Console) -> str:
        return "".join(f"\x1b[{y + 1};{x + 1}H{strip.render(console)}" for y, x, strip in self._pieces)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """The whole screen, for a picture in a file."""
        for number, row in enumerate(self.rows()):
            if number:
                yield Segment.line()
            yield from row

    def rows(self) -> list[Strip]:
        """The pieces of each row together, from the top."""
        rows = groupby(sorted(self._pieces, key=itemgetter(0, 1)), key=itemgetter(0))
        return [Strip.join(piece.strip for piece in row) for _, row in rows]


def _filling(strips: Sequence[Strip], region: Region) -> Iterator[Strip]:
    """The strips, with blanks where they are short: amid a resize a widget may still have its old size."""
    for y in range(region.height):
        strip = strips[y] if y < len(strips) else Strip.blank(region.width)
        yield strip.extend_cell_length(region.width)


class WantedCells:
    """The cells of the screen that are still to be painted. Widgets take theirs, from the front to the back.

    Args:
        spans: a row, its first column, and the column after its last; in order.
        cuts: for each row of the screen the columns where widgets begin or end. Each span is widened up to
            them, so that only the edge of a widget cuts a wide character.
    """

    def __init__(self, spans: Iterable[tuple[int, int, int]], cuts: Sequence[Sequence[int]]) -> None:
        self._rows: dict[int, list[Span]] = {}
        for y, left, right in spans:
            if 0 <= y < len(cuts):
                self._add(y, *_widened(left, right, cuts[y]))

    def __bool__(self) -> bool:
        return bool(self._rows)

    def runs(self, region: Region) -> list[Region]:
        """The rows of a region in which cells may be wanted, with consecutive rows in one region."""
        left, right = region.column_span
        top, bottom = region.line_span
        runs: list[Region] = []
        for y, spans in self._rows.items():
            if top <= y < bottom and spans[0][0] < right and left < spans[-1][1]:
                before = runs[-1] if runs else None
                if before and before.bottom == y:
                    runs[-1] = before._replace(height=before.height + 1)
                else:
                    runs.append(Region(left, y, right - left, 1))
        return runs

    def take(self, y: int, columns: Span) -> list[Span]:
        """The wanted cells of a row between two columns. They aren't wanted any more then."""
        left, right = columns
        taken: list[Span] = []
        kept: list[Span] = []
        for start, end in self._rows[y]:
            kept += [(start, min(end, left)), (max(start, right), end)]
            taken.append((max(start, left), min(end, right)))
        self._rows[y] = [span for span in kept if span[0] < span[1]]
        if not self._rows[y]:
            del self._rows[y]
        return [span for span in taken if span[0] < span[1]]

    def _add(self, y: int, left: int, right: int) -> None:
        spans = self._rows.setdefault(y, [])
        if spans and left <= spans[-1][1]:
            spans[-1] = spans[-1][0], max(spans[-1][1], right)
        else:
            spans.append((left, right))


def _widened(left: int, right: int, cuts: Sequence[int]) -> Span:
    """The columns between the nearest cuts outside of these."""
    first = bisect_right(cuts, left) - 1
    last = bisect_left(cuts, right)
    return cuts[max(first, 0)], cuts[min(last, len(cuts) - 1)]
