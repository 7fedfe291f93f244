"""The list of a page: one line is always chosen, and in view."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import chain
from typing import Generic, TypeVar

from rich.text import Text
from textual import events
from textual.message import Message

from keen_tui.frontends.tui.look.glyphs import Glyphs
from keen_tui.frontends.tui.look.themes import Styles
from keen_tui.frontends.tui.widgets.row_widget import RowWidget, cut_row, indented, spread

Line = TypeVar("Line")


class RowList(RowWidget, Generic[Line]):
    """Draws the lines around the chosen one.

    Args:
        draw: the row of a line behind the cell of the bar, for a number of cells, and whether it is chosen.
        key: what a line stands for, though something else about it may have changed.
        empty: what stands where there are no lines.
        edges: the cells to the left and to the right of the rows.
    """

    head = 0
    """Rows above the lines."""
    around = 0
    """Rows that stay in view beyond the chosen one, in a list of `around_from` rows or more."""
    around_from = 6
    page = 0
    """Lines that are a page; 0: as many as are in view."""
    mark_from = 3
    """Rows from which on the last one says how many lines are below; 0: never."""
    mark_edge = 2
    """Cells to the right of what it says."""
    wheel = 3
    """Lines that the wheel of the mouse moves."""

    class Moved(Message):
        """Another line was chosen."""

    class Clicked(Message):
        """A line was chosen with the mouse."""

    def __init__(
        self,
        styles: Styles,
        glyphs: Glyphs,
        draw: Callable[[Line, int, bool], Text],
        *,
        key: Callable[[Line], object] = lambda line: line,
        id: str | None = None,
        empty: str = "",
        edges: tuple[int, int] = (0, 2),
    ) -> None:
        super().__init__(styles, glyphs, id=id)
        self.lines: Sequence[Line] = ()
        self.empty = empty
        self.place = 0
        self._draw = draw
        self._key = key
        self._edges = edges
        self._first = 0
        self._room = 1

    @property
    def chosen(self) -> Line | None:
        """The line that keys act on."""
        return self.lines[self.place] if self.lines and self.can_be_chosen(self.lines[self.place]) else None

    @property
    def line(self) -> Line:
        """The chosen line of a list that always has one."""
        return self.lines[self.place]

    def can_be_chosen(self, line: Line) -> bool:
        """Whether a line is more than a heading or a blank row."""
        return line is not None

    def set_lines(self, lines: Sequence[Line], choose: Line | None = None, *, to_top: bool = False) -> None:
        """Draw these lines. The chosen one stays it, or `choose` or the first is chosen; where it has gone,
        the next one takes its place."""
        wanted = self.chosen if choose is None else choose
        self.lines = lines
        if to_top:
            self.place, self._first = self._nearest(0), 0
        else:
            self.place = self._place_of(wanted)
        self.changed()

    def _place_of(self, wanted: Line | None) -> int:
        key = None if wanted is None else self._key(wanted)
        same = (at for at, line in enumerate(self.lines) if key is not None and self._key(line) == key)
        return next(same, self._nearest(self.place))

    def move(self, step: int) -> None:
        """Choose a line further up or down; those that can't be chosen are passed over."""
        place, towards = self.place, 1 if step > 0 else -1
        for _ in range(abs(step)):
            beyond = place + towards
            while 0 <= beyond < len(self.lines) and not self.can_be_chosen(self.lines[beyond]):
                beyond += towards
            if not 0 <= beyond < len(self.lines):
                break
            place = beyond
        self._choose(place)

    def move_page(self, pages: int) -> None:
        """Choose a line a page further up or down."""
        self.move(pages * (self.page or max(self._room - 1, 1)))

    def rows(self, width: int, height: int) -> list[Text]:
        if not self.lines:
            return [indented(Text(self.empty, self.look("soft")), 4)]
        view = self.in_view(height)
        rows = [self.drawn(place, width) for place in view]
        below = self.counted(view.stop)
        if below and self.has_mark(view):
            mark = Text(f"{self.glyphs.down} {below:,} below", self.look("soft"))
            rows[-1] = spread(rows[-1], mark, width - self.mark_edge, self.glyphs.more)
        return rows

    def has_mark(self, view: range) -> bool:
        """Whether the last row says how many lines are below; not while it is the chosen one."""
        return bool(self.mark_from) and len(view) >= self.mark_from and self.place != view[-1]

    def counted(self, first: int, last: int | None = None) -> int:
        """How many of these lines count as lines out of view."""
        return sum(map(self.can_be_chosen, self.lines[first:last]))

    def in_view(self, room: int) -> range:
        """The places of the lines that have room."""
        self._room = room = max(room, 1)
        around = self.around if room >= self.around_from else 0
        first = min(self._first, max(self.place - around, 0))
        first = max(first, self.place - room + 1 + around)
        self._first = max(min(first, len(self.lines) - room), 0)
        return range(self._first, min(self._first + room, len(self.lines)))

    def drawn(self, place: int, width: int) -> Text:
        """The row of a line; the chosen one is raised, with a bar at its left."""
        left, right = self._edges
        is_chosen, cells = place == self.place, width - left - right
        bar = (self.glyphs.bar if is_chosen else " ", self.look("accent"))
        row = Text.assemble(bar, self._draw(self.lines[place], cells - 1, is_chosen))
        raised = self.look("text", on="raised")
        if is_chosen:
            row.stylize_before(raised)
        row = cut_row(row, cells, self.glyphs.more)
        if is_chosen:
            row.append(" " * (cells - row.cell_len), raised)
        return indented(row, left)

    def on_click(self, event: events.Click) -> None:
        place = self._first + event.y - self.head
        if event.y >= self.head and place < len(self.lines) and self.can_be_chosen(self.lines[place]):
            self._choose(place)
            self.post_message(self.Clicked())

    def on_mouse_scroll_down(self) -> None:
        self.move(self.wheel)

    def on_mouse_scroll_up(self) -> None:
        self.move(-self.wheel)

    def _choose(self, place: int) -> None:
        if place != self.place:
            self.place = place
            self.changed()
            self.post_message(self.Moved())

    def _nearest(self, place: int) -> int:
        """The first line from `place` on that can be chosen, else the last before it."""
        place = min(place, len(self.lines))
        places = chain(range(place, len(self.lines)), range(place - 1, -1, -1))
        return next((at for at in places if self.can_be_chosen(self.lines[at])), 0)
