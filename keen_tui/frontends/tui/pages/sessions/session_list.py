"""The list of sessions: one row each, or the places that a search found under their sessions."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from pathlib import Path

from rich.cells import cell_len, set_cell_size
from rich.text import Text

from keen_tui.domain.reports import SavedSession, SearchHit
from keen_tui.frontends.tui.look.cells import cut, cut_path
from keen_tui.frontends.tui.look.glyphs import Glyphs
from keen_tui.frontends.tui.look.themes import Styles
from keen_tui.frontends.tui.pages.row_list import RowList
from keen_tui.frontends.tui.pages.sessions.lines import (
    SessionHeading,
    SessionLine,
    identity,
    shown_title,
    when,
)
from keen_tui.frontends.tui.widgets.row_widget import GAP, cut_row, indented, spread
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


class SessionList(RowList[SessionLine]):
    """Draws only the lines in view. `now` is the time of day in seconds."""

    head = 1
    around = 2
    page = 10
    mark_from = 6
    mark_edge = _RIGHT_EDGE

    def __init__(self, styles: Styles, glyphs: Glyphs, *, now: Callable[[], float] = time.time) -> None:
        super().__init__(styles, glyphs, self._row, key=identity, id="sessions-list")
        self._now = now
        self._on_screen = ""
        self._folders = False

    @property
    def row_of_chosen(self) -> int:
        """The row of this widget on which the chosen line is drawn."""
        return self.place - self._first + self.head

    def can_be_chosen(self, line: SessionLine) -> bool:
        return isinstance(line, SavedSession | SearchHit)

    def show(
        self,
        lines: Sequence[SessionLine],
        choose: SessionLine = None,
        *,
        to_top: bool = False,
        on_screen: str = "",
        folders: bool = False,
        empty: str = "",
    ) -> None:
        """Draw these lines, or `empty` where there are none. `on_screen` is the id of the open session; with
        `folders` that of each session is told."""
        self._on_screen, self._folders, self.empty = on_screen, folders, empty
        self.set_lines(lines, choose, to_top=to_top)

    def rows(self, width: int, height: int) -> list[Text]:
        if not self.lines:
            return [Text(), Text(), *super().rows(width, height)]
        rows = super().rows(width, height - self.head)
        above = self.counted(0, self._first)
        mark = Text(f"{self.glyphs.up} {above:,} above" if above else "", self.look("soft"))
        return [spread(Text(), mark, width - _RIGHT_EDGE), *rows]

    def on_resize(self) -> None:
        self._first = 0
        self.changed()

    def _row(self, line: SessionLine, cells: int, chosen: bool) -> Text:
        width = cells + 1 + MARGIN
        match line:
            case SavedSession():
                return self._session(line, width, chosen)
            case SessionHeading(session=session):
                return indented(self._heading(session, width - 2 - _RIGHT_EDGE), 1)
            case SearchHit():
                return self._hit(line, width)
            case None:
                return Text()

    def _session(self, session: SavedSession, width: int, chosen: bool) -> Text:
        """`● title   notes        folder   2 h ago   12 turns   18.2 kB`."""
        look, here = self.look, session.id == self._on_screen
        facts = self._facts(session, width)
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
        left = Text.assemble(
            " ",
            (self.glyphs.running if here else " ", look("accent")),
            " ",
            (title, look("text" if said else "dim", bold=chosen)),
            (GAP + notes if notes else "", look("dim")),
        )
        return spread(left, facts, width - 1 - _RIGHT_EDGE, self.glyphs.more)

    def _notes(self, session: SavedSession, *, here: bool) -> list[str]:
        notes = ["forked"] if session.forked_from else []
        notes += ["open elsewhere"] if session.in_use and not here else []
        return [*notes, "can't be opened"] if session.problem else notes

    def _facts(self, session: SavedSession, width: int) -> Text:
        """Columns of fixed width. On a narrow terminal the size gives way to the folder, then all but the
        time to the title."""
        dim, soft = self.look("dim"), self.look("soft")
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

    def _hit(self, hit: SearchHit, width: int) -> Text:
        """`turn 12   … text before **words** text after`."""
        look, more = self.look, self.glyphs.more
        room = width - TEXT_EDGE - _TURN_CELLS - _RIGHT_EDGE
        before = tail_of(clean(hit.before), max(room // 2 - cell_len(clean(hit.words)), room // 4), more)
        row = Text.assemble(
            (f"turn {hit.turn}".ljust(_TURN_CELLS), look("dim")),
            (before, look("soft")),
            (clean(hit.words), look("text", bold=True)),
            (clean(hit.after), look("soft")),
        )
        return indented(cut_row(row, room + _TURN_CELLS, more), TEXT_EDGE - 1)


def tail_of(text: str, cells: int, more: str = "…") -> str:
    """The end of `text` in at most `cells`; where something is lost it begins with `more`."""
    if cell_len(text) <= cells:
        return text
    tail = text[-cells:]
    while tail and cell_len(tail) > cells - cell_len(more):
        tail = tail[1:]
    return more + tail
