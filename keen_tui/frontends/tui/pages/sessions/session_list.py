"""The list of sessions: one row each, or the places that a search found under their sessions."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from pathlib import Path

from rich.cells import cell_len, set_cell_size
from rich.text import Text
from textual import events
from textual.message import Message

from keen_tui.domain.reports import SavedSession, SearchHit
from keen_tui.frontends.tui.look.cells import cut, cut_path
from keen_tui.frontends.tui.look.glyphs import Glyphs
from keen_tui.frontends.tui.look.themes import Styles
from keen_tui.frontends.tui.pages.sessions.lines import (
    SessionHeading,
    SessionLine,
    can_be_chosen,
    same_thing,
    shown_title,
    when,
)
from keen_tui.frontends.tui.widgets.row_widget import GAP, RowWidget, cut_row, indented, spread
from keen_tui.system.paths import home_relative
from keen_tui.system.work_tree_records import tree_label
from keen_tui.text.sanitize import clean
from keen_tui.text.units import counted, size

TEXT_EDGE = 4
MARGIN = 2
"""Columns right of a raised row."""
_RIGHT_EDGE = 4
"""Columns right of all texts."""
_WHEN_CELLS = 10
_TURNS_CELLS = 13
_SIZE_CELLS = 11
_FOLDER_CELLS = 26
_FOLDER_CELLS_WHEN_NARROW = 18
_TURN_CELLS = 11
_WIDE = 106
_NARROW = 70
_LOW = 6
"""Rows of the list up to which nothing is given to marks and margins."""


class SessionList(RowWidget):
    """Shows the lines around the chosen one, and draws only those. `now` is the time of day in seconds."""

    class Clicked(Message):
        """A line was chosen with the mouse."""

    def __init__(self, styles: Styles, glyphs: Glyphs, *, now: Callable[[], float] = time.time) -> None:
        super().__init__(styles, glyphs, id="sessions-list")
        self._now = now
        self._lines: Sequence[SessionLine] = ()
        self._place = 0
        self._first = 0
        self._on_screen = ""
        self._folders = False
        self._empty = ""

    @property
    def chosen(self) -> SessionLine:
        """The line that enter takes, None where there is none."""
        line = self._lines[self._place] if self._lines else None
        return line if can_be_chosen(line) else None

    @property
    def count(self) -> int:
        """How many lines there are."""
        return len(self._lines)

    @property
    def row_of_chosen(self) -> int:
        """The row of this widget on which the chosen line is drawn."""
        return self._place - self._first + 1

    def show(
        self,
        lines: Sequence[SessionLine],
        *,
        on_screen: str,
        folders: bool,
        empty: str,
        choose: SessionLine = None,
        to_top: bool = False,
    ) -> None:
        """Draw these lines, or `empty` where there are none. `on_screen` is the id of the open session.

        `choose` is the line to choose, without one that which was; `to_top` chooses the first. Where the
        chosen one has gone, its place is taken by the next.
        """
        wanted = choose or self.chosen
        self._lines, self._on_screen, self._folders, self._empty = lines, on_screen, folders, empty
        places = (place for place, line in enumerate(lines) if same_thing(line, wanted))
        if to_top:
            self._place, self._first = self._nearest(0), 0
        else:
            self._place = next(places, self._nearest(self._place))
        self.changed()

    def move(self, step: int) -> None:
        """Choose a line further up or down; those that can't be chosen are passed over."""
        place, towards = self._place, 1 if step > 0 else -1
        for _ in range(abs(step)):
            beyond = place + towards
            while 0 <= beyond < len(self._lines) and not can_be_chosen(self._lines[beyond]):
                beyond += towards
            if not 0 <= beyond < len(self._lines):
                break
            place = beyond
        if place != self._place:
            self._place = place
            self.changed()

    def rows(self, width: int, height: int) -> list[Text]:
        if not self._lines:
            return [Text()] * 2 + [indented(Text(self._empty, self.look("soft")), TEXT_EDGE)]
        room = height - 1
        self._first = self._first_in_view(room)
        shown = range(self._first, min(self._first + room, len(self._lines)))
        view = [self._row(place, width) for place in shown]
        above, below = self._choosable(0, shown.start), self._choosable(shown.stop)
        if below and height > _LOW:
            mark = Text(f"{self.glyphs.down} {below:,} below", self.look("soft"))
            view[-1] = spread(view[-1], mark, width - _RIGHT_EDGE, self.glyphs.more)
        mark = Text(f"{self.glyphs.up} {above:,} above" if above else "", self.look("soft"))
        return [spread(Text(), mark, width - _RIGHT_EDGE), *view]

    def on_resize(self) -> None:
        self._first = 0
        self.changed()

    def on_click(self, event: events.Click) -> None:
        place = self._first + event.y - 1
        if event.y > 0 and place < len(self._lines) and can_be_chosen(self._lines[place]):
            self._place = place
            self.changed()
            self.post_message(self.Clicked())

    def on_mouse_scroll_down(self) -> None:
        self.move(3)

    def on_mouse_scroll_up(self) -> None:
        self.move(-3)

    def _nearest(self, place: int) -> int:
        """The first line from `place` on that can be chosen, else the last before it."""
        last = len(self._lines)
        behind = (each for each in range(min(place, last), last) if can_be_chosen(self._lines[each]))
        before = (each for each in range(min(place, last) - 1, -1, -1) if can_be_chosen(self._lines[each]))
        return next(behind, next(before, 0))

    def _choosable(self, first: int, last: int | None = None) -> int:
        return sum(map(can_be_chosen, self._lines[first:last]))

    def _first_in_view(self, room: int) -> int:
        """The line to begin with: the chosen one is in view, with some around it."""
        margin = 2 if room >= _LOW else 0
        first = min(self._first, max(self._place - margin, 0))
        first = max(first, self._place - room + 1 + margin)
        return max(min(first, len(self._lines) - room), 0)

    def _row(self, place: int, width: int) -> Text:
        line = self._lines[place]
        on = "raised" if place == self._place else None
        match line:
            case SavedSession():
                row = self._session(line, width, on)
            case SessionHeading(session=session):
                return indented(self._heading(session, width - 2 - _RIGHT_EDGE), 2)
            case SearchHit():
                row = self._hit(line, width, on)
            case None:
                return Text()
        if on is None:
            return row
        bar = (self.glyphs.bar, self.look("accent", on=on))
        row = Text.assemble(bar, row[1:], " " * (width - MARGIN - row.cell_len))
        return Text.assemble(row, style=self.look("text", on=on))

    def _session(self, session: SavedSession, width: int, on: str | None) -> Text:
        """`● title   notes        folder   2 h ago   12 turns   18.2 kB`."""
        look, here = self.look, session.id == self._on_screen
        facts = self._facts(session, width, on)
        notes = GAP.join(self._notes(session, here=here)) if width >= _NARROW else ""
        room = (
            width
            - TEXT_EDGE
            - _RIGHT_EDGE
            - facts.cell_len
            - (len(notes) + len(GAP) if notes else 0)
            - len(GAP)
        )
        title = cut(shown_title(session), max(room, 8), self.glyphs.more)
        said = session.title and not session.problem
        mark = (self.glyphs.running, look("accent", on=on)) if here else (" ", look("dim", on=on))
        left = Text.assemble(
            "  ", mark, " ", (title, look("text" if said else "dim", on=on, bold=bool(on))),
            (GAP + notes if notes else "", look("dim", on=on)),
        )  # fmt: skip
        return spread(left, facts, width - _RIGHT_EDGE, self.glyphs.more)

    def _notes(self, session: SavedSession, *, here: bool) -> list[str]:
        notes = ["forked"] if session.forked_from else []
        notes += ["open elsewhere"] if session.in_use and not here else []
        return [*notes, "can't be opened"] if session.problem else notes

    def _facts(self, session: SavedSession, width: int, on: str | None) -> Text:
        """Columns of fixed width. On a narrow terminal the size gives way to the folder, then all but the
        time to the title."""
        dim, soft = self.look("dim", on=on), self.look("soft", on=on)
        facts = Text()
        if self._folders and width >= _NARROW:
            cells = _FOLDER_CELLS if width >= _WIDE else _FOLDER_CELLS_WHEN_NARROW
            facts.append(self._folder(session.workspace, cells), soft)
        facts.append(when(session.last_used, self._now()).rjust(_WHEN_CELLS), dim)
        if width < _NARROW:
            return facts
        facts.append(counted(session.turns, "turn").rjust(_TURNS_CELLS), dim)
        if not self._folders or width >= _WIDE:
            facts.append(size(session.size).rjust(_SIZE_CELLS), dim)
        return facts

    def _folder(self, folder: Path, cells: int) -> str:
        words = tree_label(folder) or home_relative(folder)
        shown = cut_path(clean(words), cells - len(GAP), self.glyphs.more)
        return set_cell_size(shown, cells)

    def _heading(self, session: SavedSession, width: int) -> Text:
        look = self.look
        title = Text(shown_title(session), look("text" if session.title else "dim", bold=True))
        facts = Text.assemble(
            (self._folder(session.workspace, _FOLDER_CELLS_WHEN_NARROW), look("soft")),
            (when(session.last_used, self._now()).rjust(_WHEN_CELLS), look("dim")),
        )
        return spread(title, facts, width, self.glyphs.more)

    def _hit(self, hit: SearchHit, width: int, on: str | None) -> Text:
        """`turn 12   … text before **words** text after`."""
        look, more = self.look, self.glyphs.more
        room = width - TEXT_EDGE - _TURN_CELLS - _RIGHT_EDGE
        before = tail_of(clean(hit.before), max(room // 2 - cell_len(clean(hit.words)), room // 4), more)
        row = Text.assemble(
            (f"turn {hit.turn}".ljust(_TURN_CELLS), look("dim", on=on)),
            (before, look("soft", on=on)),
            (clean(hit.words), look("text", on=on, bold=True)),
            (clean(hit.after), look("soft", on=on)),
        )
        return indented(cut_row(row, width - TEXT_EDGE - _RIGHT_EDGE, more), TEXT_EDGE)


def tail_of(text: str, cells: int, more: str = "…") -> str:
    """The end of `text` in at most `cells`; where something is lost it begins with `more`."""
    if cell_len(text) <= cells:
        return text
    tail = text[-cells:]
    while tail and cell_len(tail) > cells - cell_len(more):
        tail = tail[1:]
    return more + tail
