"""Textual's way to paint a change, reduced to the part that changed."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby, starmap
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

_EMPTY: Final = Strip([])

ColumnSpan: TypeAlias = tuple[int, int]
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
        self._runs: Sequence[Sequence[VisibleRun]] = ()
        self._runs_of: object = None
        """The layout that they are of."""

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
        """The whole screen. `simplify` makes no difference: Textual uses it for smaller pictures in files."""
        self._dirty_regions.clear()
        return self._picture([self.size.region])

    def render_partial_update(self) -> Any:
        """Returns the changed parts of the screen, or None."""
        changed = [*self._dirty_regions]
        self._dirty_regions.clear()
        return self._picture(changed) if changed else None

    def render_strips(self, size: Size | None = None) -> list[Strip]:
        """The rows of the screen."""
        return self._picture([(size or self.size).region]).rows()

    def _picture(self, regions: Iterable[Region]) -> _Picture:
        """Returns the content of these regions. A run of cells is painted as a whole, so that a wide
        character is cut only at an edge that one can see."""
        rows = self._visible_runs()
        wanted: defaultdict[Layer, defaultdict[int, set[ColumnSpan]]] = defaultdict(lambda: defaultdict(set))
        for y, left, right in self._regions_to_spans(regions):
            for run in rows[y] if 0 <= y < len(rows) else ():
                if run.left < right and left < run.right:
                    wanted[run.layer][y].add((run.left, run.right))
        return _Picture(
            sorted(
                (piece for layer, runs in wanted.items() for piece in _pieces(layer, runs)),
                key=itemgetter(0, 1),
            )
        )

    def _visible_runs(self) -> Sequence[Sequence[VisibleRun]]:
        """The runs of each row of the screen. They are worked out once for a layout."""
        if self._runs_of is not self.visible_widgets:
            self._runs_of = self.visible_widgets
            self._runs = visible_runs(self.size, starmap(_layer, self.visible_widgets.items()))
        return self._runs


def paint_frugally(screen: Screen[Any]) -> FrugalCompositor:
    """Give a new screen this compositor."""
    screen._compositor = compositor = FrugalCompositor()
    return compositor


def _waits_for_size(widget: Widget) -> TypeGuard[StripWidget]:
    return isinstance(widget, StripWidget) and widget.waits_for_size


class _ScreenPiece(NamedTuple):
    """Part of a row of the screen, from column `x` on."""

    y: int
    x: int
    strip: Strip


class Layer(NamedTuple):
    """A widget, its region on the screen, and the part of it that isn't clipped."""

    widget: Widget
    region: Region
    seen: Region


class VisibleRun(NamedTuple):
    """Cells of a row in which one widget is in front: from the column `left` up to `right`."""

    left: int
    right: int
    layer: Layer


def visible_runs(size: Size, layers: Iterable[Layer]) -> list[list[VisibleRun]]:
    """The runs of each row of a screen with these layers, from the front to the back."""
    rows: list[list[VisibleRun]] = [[] for _ in range(size.height)]
    free: list[list[ColumnSpan]] = [[(0, size.width)] for _ in range(size.height)]
    for layer in layers:
        left, right = layer.seen.column_span
        for y in layer.seen.line_range:
            if not 0 <= y < size.height:
                continue
            kept: list[ColumnSpan] = []
            for start, end in free[y]:
                kept += [(start, min(end, left)), (max(start, right), end)]
                if max(start, left) < min(end, right):
                    rows[y].append(VisibleRun(max(start, left), min(end, right), layer))
            free[y] = [span for span in kept if span[0] < span[1]]
    return rows


def _layer(widget: Widget, place: tuple[Region, Region]) -> Layer:
    region, clip = place
    return Layer(widget, region, region.intersection(clip))


def _pieces(layer: Layer, runs: Mapping[int, Iterable[ColumnSpan]]) -> Iterator[_ScreenPiece]:
    """Yields the content of a widget in these runs of its rows. During a resize a widget may still have its
    old size; the cells that it lacks are empty."""
    widget, region, seen = layer
    for first, count in _consecutive(runs):
        rows = Region(seen.x, first, seen.width, count)
        strips = widget.render_lines(rows.translate((-region.x, -region.y)))
        for place, y in enumerate(rows.line_range):
            strip = strips[place] if place < len(strips) else _EMPTY
            for left, right in runs[y]:
                start, end = left - seen.x, right - seen.x
                is_whole = start == 0 and end == strip.cell_length
                yield _ScreenPiece(y, left, strip if is_whole else strip.crop_extend(start, end, None))


def _consecutive(numbers: Iterable[int]) -> Iterator[tuple[int, int]]:
    """Ascending numbers as runs: the first one, and how many."""
    for _, run in groupby(enumerate(numbers), key=lambda each: each[1] - each[0]):
        found = [number for _, number in run]
        yield found[0], len(found)


class _Picture(CompositorUpdate):
    """Pieces of the screen, from the top to the bottom and from left to right: where a terminal draws a
    character wider than Textual thinks, the next piece paints over what is too much."""

    def __init__(self, pieces: Sequence[_ScreenPiece]) -> None:
        self._pieces = pieces

    def render_segments(self, console: Console) -> str:
        return "".join(f"\x1b[{y + 1};{x + 1}H{strip.render(console)}" for y, x, strip in self._pieces)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """For a picture in a file, which is always of the whole screen."""
        for number, row in enumerate(self.rows()):
            if number:
                yield Segment.line()
            yield from row

    def rows(self) -> list[Strip]:
        """The pieces of each row together, from the top."""
        rows = groupby(self._pieces, key=itemgetter(0))
        return [Strip.join(piece.strip for piece in row) for _, row in rows]
