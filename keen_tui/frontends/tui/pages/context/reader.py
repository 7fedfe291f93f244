"""A part of the next request on a page of its own, from its first character to its last."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice

from rich.text import Text
from textual import events

from keen_tui.domain.reports import ContextPart
from keen_tui.frontends.tui.look.glyphs import Glyphs
from keen_tui.frontends.tui.look.themes import Styles
from keen_tui.frontends.tui.pages.context.columns import RIGHT_MARGIN, TEXT_EDGE
from keen_tui.frontends.tui.pages.context.pane import part_title
from keen_tui.frontends.tui.pages.context.words import at_text_edge, text_rows
from keen_tui.frontends.tui.pages.key import Key
from keen_tui.frontends.tui.pages.page_screen import PageScreen
from keen_tui.frontends.tui.pages.row_scroll import RowScroll
from keen_tui.frontends.tui.widgets.row_widget import join_facts
from keen_tui.text.sanitize import clean
from keen_tui.text.units import counted, size

_AT_ONCE = 100_000
"""Characters up to which the whole text is broken at once, so that its rows can be counted."""


class ReaderPage(RowScroll):
    """The rows in view. A long text is broken only as far as it has been read."""

    def __init__(self, styles: Styles, glyphs: Glyphs, text: str) -> None:
        super().__init__(styles, glyphs, id="reader-page")
        self.whole = False
        self._text = text
        self._cells = 0
        self._broken: list[Text] = []
        self._rest: Iterator[Text] = iter(())

    @property
    def place(self) -> str:
        """Which rows are in view, and of how many where that is known."""
        last = min(self.first + self._room, len(self._broken))
        if self.whole and last - self.first == len(self._broken):
            return counted(len(self._broken), "row")
        return f"rows {self.first + 1} to {last}" + (f" of {len(self._broken)}" if self.whole else "")

    def move(self, rows: int) -> None:
        self._show_from(self.first + rows)
        self.changed()

    def seen(self, width: int, height: int) -> list[Text]:
        self._fit(width, height)
        shown = self._broken[self.first : self.first + height]
        return [at_text_edge(row, self.glyphs, self.look("accent")) for row in shown]

    def set_look(self, styles: Styles, glyphs: Glyphs) -> None:
        self._cells = 0  # the rows that were broken have the old colours
        super().set_look(styles, glyphs)

    def on_resize(self, event: events.Resize) -> None:
        self._fit(event.size.width, event.size.height)

    def _show_from(self, first: int) -> None:
        self._read(first + self._room)
        self.first = max(min(first, len(self._broken) - self._room), 0)

    def _fit(self, width: int, height: int) -> None:
        """Have the rows of a page of this size; the text is broken anew where the width is another one."""
        cells, self._room = max(width - TEXT_EDGE - RIGHT_MARGIN, 1), max(height, 1)
        if cells != self._cells:
            self._cells, self._broken, self.whole = cells, [], False
            self._rest = text_rows(self._text, cells, self.look("text"))
            if len(self._text) <= _AT_ONCE:
                self._read_all()
        self._show_from(self.first)

    def _read(self, upto: int) -> None:
        """Have the rows before `upto` and one more, which tells whether the text goes on."""
        self._broken.extend(islice(self._rest, max(upto + 1 - len(self._broken), 0)))
        self.whole = self.whole or len(self._broken) <= upto

    def _read_all(self) -> None:
        self._broken.extend(self._rest)
        self.whole = True


class PartReader(PageScreen[None]):
    """Covers the context view until esc. `policy` is an index into `POLICIES`."""

    heading_edges = (TEXT_EDGE, RIGHT_MARGIN)
    drops = -2
    says = "beside"

    def __init__(self, styles: Styles, glyphs: Glyphs, part: ContextPart, policy: int) -> None:
        super().__init__(styles, glyphs)
        self._part = part
        self._policy = policy
        self._page = self.body = ReaderPage(styles, glyphs, part.sizes[policy].text)
        self.parts = (self.head, self._page, self.foot)

    def heading(self) -> tuple[Text, str]:
        title = part_title(self._part, self._policy, self.look)
        label = Text(clean(self._part.label), self.look("dim"))
        return join_facts(title, label), size(self._part.sizes[self._policy].bytes)

    def keys(self) -> Sequence[Key]:
        return (
            Key("up,down", "scroll"),
            Key("page_copy", "copy", self._copy),
            Key("escape", "back", self.leave, "q"),
        )

    def beside_keys(self) -> Text:
        return Text(self._page.place, self.look("dim"))

    def _copy(self) -> None:
        """Copy the text as it is sent."""
        self.app.copy_to_clipboard(self._part.sizes[self._policy].text)
        self.say(f"copied {self._part.title}")
