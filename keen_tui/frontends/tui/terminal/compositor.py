"""What Textual does to paint a change, cut down to what changed."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final, TypeAlias, TypeGuard, cast

from rich.console import RenderableType
from textual._compositor import ChopsUpdate, Compositor, ReflowResult
from textual.geometry import Region, Size
from textual.messages import Update
from textual.screen import Screen
from textual.strip import Strip
from textual.widget import Widget

from keen_tui.frontends.tui.terminal.strip_widget import StripWidget

PATIENCE: Final = 0.1
"""Seconds after which a layout is painted although a widget hasn't handled its new size."""

RowRanges: TypeAlias = list[tuple[int, int]]
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
        self._changed: tuple[Region, ...] = ()
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

    def render_partial_update(self) -> ChopsUpdate | None:
        self._changed = tuple(self._dirty_regions)
        try:
            return super().render_partial_update()
        finally:
            self._changed = ()

    def _get_renders(self, crop: Region | None = None) -> Iterable[tuple[Region, Region, list[Strip]]]:
        wanted: defaultdict[int, RowRanges] = defaultdict(list)
        for y, left, right in self._regions_to_spans(self._changed or (crop or self.size.region,)):
            wanted[y].append((left, right))
        for widget, (region, clip) in self.visible_widgets.items():
            for seen in _taken(wanted, region.intersection(clip)):
                strips = widget.render_lines(seen.translate((-region.x, -region.y)))
                yield (
                    region,
                    seen,
                    cast("list[Strip]", [_AcyclicStrip(strip) for strip in _filling(strips, seen)]),
                )


def paint_frugally(screen: Screen[Any]) -> FrugalCompositor:
    """Give a new screen this compositor."""
    screen._compositor = compositor = FrugalCompositor()
    return compositor


def _waits_for_size(widget: Widget) -> TypeGuard[StripWidget]:
    return isinstance(widget, StripWidget) and widget.waits_for_size


class _AcyclicStrip:
    """A strip, as far as painting asks for it.

    Textual's own `divide` keeps a strip that stays whole among its own pieces: a cycle, so that every row
    ever painted waits for the garbage collector.
    """

    __slots__ = ("_strip",)

    def __init__(self, strip: Strip) -> None:
        self._strip = strip

    def divide(self, cuts: Iterable[int]) -> Sequence[Strip]:
        cuts = [cut for cut in cuts if cut <= self._strip.cell_length]
        return [self._strip] if cuts == [self._strip.cell_length] else self._strip.divide(cuts)


def _filling(strips: Sequence[Strip], region: Region) -> Iterator[Strip]:
    """The strips, with blanks where they are short: amid a resize a widget may still have its old size."""
    for y in range(region.height):
        strip = strips[y] if y < len(strips) else Strip.blank(region.width)
        yield strip.extend_cell_length(region.width)


def _taken(wanted: dict[int, RowRanges], region: Region) -> Iterator[Region]:
    """The rows of the region in which something is wanted, run by run. It is not wanted any more then."""
    left, right = region.column_span
    first = None
    for y in region.line_range:
        spans = wanted.get(y)
        if spans and any(start < right and left < end for start, end in spans):
            wanted[y] = [*_without(spans, left, right)]
            first = y if first is None else first
        elif first is not None:
            yield Region(region.x, first, region.width, y - first)
            first = None
    if first is not None:
        yield Region(region.x, first, region.width, region.bottom - first)


def _without(spans: RowRanges, left: int, right: int) -> Iterator[tuple[int, int]]:
    """The spans without the columns from `left` up to `right`."""
    for start, end in spans:
        if start < left:
            yield start, min(end, left)
        if right < end:
            yield max(start, right), end
