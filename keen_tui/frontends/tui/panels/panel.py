"""The base of both panels in the right column: a title, entries that keys walk through, a hairline."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from msgspec import Struct
from rich.text import Text
from textual import events, on
from textual.binding import Binding, BindingType
from textual.message import Message

from keen_tui.frontends.tui.look.glyphs import Glyphs
from keen_tui.frontends.tui.look.themes import Styles
from keen_tui.frontends.tui.panels.entries import EntryCache, PanelEntry, PlacedEntries, place_entries
from keen_tui.frontends.tui.widgets.row_widget import BLANK, MadeOfRows, RowWidget, spread

EDGE = 2
"""Columns from the hairline to the glyph; the right margin is as wide."""

_HEAD_ROWS = 3
"""A blank row, the title, a blank row."""


class PanelStyle(Struct, frozen=True):
    """The style of a panel's rows. `beat` alternates once a second."""

    look: Styles
    glyphs: Glyphs
    beat: bool = True

    @property
    def dot(self) -> Text:
        """The sign of what runs; it breathes with the clock."""
        return Text(self.glyphs.running if self.beat else self.glyphs.running_alt, self.look("accent"))

    def title(self, words: str, right: Text, width: int) -> Text:
        """The usual title row."""
        return spread(Text(words, self.look("text", bold=True)), right, width, self.glyphs.more)


class Panel(RowWidget, can_focus=True):
    """A list of entries under a title. With the focus, up and down choose an entry and enter shows it."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up", "choose(-1)", show=False),
        Binding("down", "choose(1)", show=False),
        Binding("enter", "show", show=False),
        Binding("e", "open_file", show=False),
        Binding("d", "show_changes", show=False),
    ]

    class Chosen(Message):
        """An entry was chosen: show `turn`, or its call `call_id`, in the transcript."""

        def __init__(self, turn: int, call_id: str | None) -> None:
            super().__init__()
            self.turn = turn
            self.call_id = call_id

    class FileWanted(Message):
        """The file of an entry is to be opened: that of the call `call_id`, or what `turn` changed."""

        def __init__(self, turn: int, call_id: str | None) -> None:
            super().__init__()
            self.turn = turn
            self.call_id = call_id

    class TaskWanted(Message):
        """The command in the background with this id was chosen."""

        def __init__(self, id: str) -> None:
            super().__init__()
            self.id = id

    class ChangesWanted(Message):
        """The changes of `turn` are to be shown."""

        def __init__(self, turn: int) -> None:
            super().__init__()
            self.turn = turn

    def __init__(self, styles: Styles, glyphs: Glyphs, *, id: str) -> None:
        super().__init__(styles, glyphs, id=id)
        self.beat = True
        self.overlaid = False
        self._cursor = 0
        self._row_owner: dict[int, int] = {}
        self._wanted: tuple[int, int, int] | None = None
        self._edged = MadeOfRows[Text]()
        self.made = EntryCache()
        """Its entries and rows that look the same as long as what they are made from is the same."""

    def set_look(self, styles: Styles, glyphs: Glyphs) -> None:
        self.made.forget()
        super().set_look(styles, glyphs)

    def changed(self, *, layout: bool = False) -> None:
        self._wanted = None
        super().changed(layout=layout)

    def title_row(self, width: int) -> Text:
        """The title, in at most `width` cells."""
        raise NotImplementedError

    def entries(self, width: int) -> Sequence[PanelEntry]:
        """The entries from top to bottom, their rows in at most `width` cells. Only those in view are
        looked at, so each should be made when it is."""
        raise NotImplementedError

    def pinned_row(self, width: int) -> Text | None:
        """The row that always stands at the bottom, or None."""
        return None

    @property
    def folded(self) -> bool:
        """Whether only the title row is shown."""
        return False

    def wanted_height(self, width: int, most: int) -> int:
        """Rows that it would take to show everything, the blank row on top included; from `most` on they
        are not counted any more."""
        if self.folded:
            return 2
        if self._wanted is None or self._wanted[:2] != (width, most):
            self._wanted = width, most, self._counted_height(width - 2 * EDGE, most)
        return self._wanted[2]

    def _counted_height(self, width: int, most: int) -> int:
        rows = 3 + (3 if self.pinned_row(width) else 1)
        for entry in self.entries(width):
            if rows >= most:
                break
            rows += len(entry.rows)
        return rows

    def tick(self, beat: bool) -> None:
        """A second has passed; `beat` alternates."""
        self.beat = beat
        self.changed()

    def rows(self, width: int, height: int) -> list[Text]:
        inner = width - 2 * EDGE
        head = [BLANK, self.title_row(inner)] + ([] if self.folded else [BLANK])
        pinned = None if self.folded else self.pinned_row(inner)
        room = max(height - len(head) - (3 if pinned else 0), 0)
        placed = self._placed(inner, 0 if self.folded else room)
        page = head + placed.rows
        if pinned:
            above = (page + [BLANK] * height)[: max(height - 2, len(head))]
            page = [*above, pinned, BLANK]
        page = (page + [BLANK] * height)[:height]
        waiting = {len(head) + place for place in placed.waiting}
        edge = self.glyphs.hairline, self.look("accent" if self.has_focus or self.overlaid else "edge")
        bar = self.glyphs.bar, self.look("wait")
        return self._edged.of(
            ((row, bar if index in waiting else edge) for index, row in enumerate(page)),
            lambda row, edge: Text.assemble(edge, " " * (EDGE - 1), row),
        )

    def _placed(self, width: int, room: int) -> PlacedEntries:
        """The rows of the entries that fit."""
        entries = self.entries(width)
        self._cursor = min(self._cursor, max(len(entries) - 1, 0))
        cursor = self._cursor if self.has_focus else None
        placed = place_entries(entries, room, cursor, lambda row: self._raised(row, width))
        self._row_owner = dict(enumerate(placed.owners))
        return placed

    def _raised(self, row: Text, width: int) -> Text:
        filled = Text.assemble(row, " " * max(width - row.cell_len, 0))
        return Text.assemble(filled, style=self.look("text", on="raised", bold=True))

    def action_choose(self, step: int) -> None:
        """Move the cursor by `step` to the next entry that leads somewhere."""
        entries = self.entries(self.size.width - 2 * EDGE)
        place = self._cursor + step
        while 0 <= place < len(entries) and not entries[place].leads:
            place += step
        if 0 <= place < len(entries):
            self._cursor = place
            self.changed()

    def stand_on(self, place: int) -> None:
        """Put the cursor on the entry at that place."""
        self._cursor = place
        self.changed()

    def action_show(self) -> None:
        """Show the chosen entry in the transcript, or the output of the chosen command."""
        entry = self._chosen()
        if entry and entry.task:
            self.post_message(self.TaskWanted(entry.task))
        elif entry:
            self.post_message(self.Chosen(entry.turn, entry.call_id))

    def action_open_file(self) -> None:
        """Open the file of the chosen entry."""
        if entry := self._chosen():
            self.post_message(self.FileWanted(entry.turn, entry.call_id))

    def action_show_changes(self) -> None:
        """Show the changes of the chosen entry's turn."""
        if entry := self._chosen():
            self.post_message(self.ChangesWanted(entry.turn))

    def _chosen(self) -> PanelEntry | None:
        """The entry under the cursor, None where it leads nowhere."""
        entries = self.entries(self.size.width - 2 * EDGE)
        entry = entries[self._cursor] if self._cursor < len(entries) else None
        return entry if entry and entry.leads else None

    def on_click(self, event: events.Click) -> None:
        if self.entry_at(event.y):
            self._cursor = self._row_owner[event.y - _HEAD_ROWS]
            self.action_show()

    def entry_at(self, row: int) -> PanelEntry | None:
        """The entry that stands in a row of the panel."""
        place = self._row_owner.get(row - _HEAD_ROWS)
        return None if place is None or self.folded else self.entries(self.size.width - 2 * EDGE)[place]

    @on(events.Focus)
    @on(events.Blur)
    def _draw_focus(self) -> None:
        self.changed()
