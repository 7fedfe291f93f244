"""A part of the next request on a page of its own, from its first character to its last."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import ClassVar

from rich.text import Text
from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType

from keen_tui.domain.reports import ContextPart
from keen_tui.frontends.tui.keys.keymap import same_key, shown
from keen_tui.frontends.tui.look.glyphs import Glyphs
from keen_tui.frontends.tui.look.themes import Styles
from keen_tui.frontends.tui.pages.context.columns import RIGHT_MARGIN, TEXT_EDGE
from keen_tui.frontends.tui.pages.context.foot import Foot
from keen_tui.frontends.tui.pages.context.pane import part_title
from keen_tui.frontends.tui.pages.context.words import at_text_edge, text_rows
from keen_tui.frontends.tui.terminal.laid_out_once import KeenScreen
from keen_tui.frontends.tui.widgets.row_widget import RowWidget, indented, spread
from keen_tui.text.sanitize import clean
from keen_tui.text.units import counted, size

_AT_ONCE = 100_000
"""Characters up to which the whole text is broken at once, so that its rows can be counted."""


class ReaderPage(RowWidget):
    """The rows in view. A long text is broken only as far as it has been read."""

    def __init__(self, styles: Styles, glyphs: Glyphs, text: str) -> None:
        super().__init__(styles, glyphs, id="reader-page")
        self.first = 0
        self.whole = False
        self._text = text
        self._cells = 0
        self._room = 1
        self._broken: list[Text] = []
        self._rest: Iterator[Text] = iter(())

    @property
    def place(self) -> str:
        """Which rows are in view, and of how many where that is known."""
        last = min(self.first + self._room, len(self._broken))
        if self.whole and last - self.first == len(self._broken):
            return counted(len(self._broken), "row")
        return f"rows {self.first + 1} to {last}" + (f" of {len(self._broken)}" if self.whole else "")

    def scroll(self, step: int) -> None:
        """Move by a number of rows, as far as there are any."""
        self._show_from(self.first + step)
        self.changed()

    def to_end(self) -> None:
        """Show the last rows."""
        self._read_all()
        self._show_from(len(self._broken))
        self.changed()

    def rows(self, width: int, height: int) -> list[Text]:
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


class ReaderHead(RowWidget):
    """The head of the page: the part that is read, the policy and the size."""

    def __init__(self, styles: Styles, glyphs: Glyphs, part: ContextPart, policy: int) -> None:
        super().__init__(styles, glyphs, id="reader-head")
        self._part = part
        self._policy = policy

    def rows(self, width: int, height: int) -> list[Text]:
        look, part = self.look, self._part
        title = self.fact(part_title(part, self._policy, look), Text(clean(part.label), look("dim")))
        amount = Text(size(part.sizes[self._policy].bytes), look("dim"))
        row = spread(title, amount, width - TEXT_EDGE - RIGHT_MARGIN, self.glyphs.more)
        return [indented(row, TEXT_EDGE)]


class PartReader(KeenScreen[None]):
    """Covers the context view until esc. `policy` is an index into `POLICIES`."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q", "dismiss", show=False),
        Binding("up", "scroll_rows(-1)", show=False),
        Binding("down", "scroll_rows(1)", show=False),
        Binding("pageup", "scroll_pages(-1)", show=False),
        Binding("pagedown,space", "scroll_pages(1)", show=False),
        Binding("home,ctrl+home", "to_start", show=False),
        Binding("end,ctrl+end", "to_end", show=False),
        same_key("page_copy", "copy"),
    ]

    def __init__(self, styles: Styles, glyphs: Glyphs, part: ContextPart, policy: int) -> None:
        super().__init__()
        self._part = part
        self._text = part.sizes[policy].text
        self._head = ReaderHead(styles, glyphs, part, policy)
        self._page = ReaderPage(styles, glyphs, self._text)
        self._foot = Foot(styles, glyphs)

    def compose(self) -> ComposeResult:
        yield self._head
        yield self._page
        yield self._foot

    def on_mount(self) -> None:
        self.call_after_refresh(self._tell)

    def on_resize(self) -> None:
        self.call_after_refresh(self._tell)

    def action_scroll_rows(self, step: int) -> None:
        """Move by rows."""
        self._foot.say("")
        self._page.scroll(step)
        self._tell()

    def action_scroll_pages(self, pages: int) -> None:
        """Move by pages; one row stays in view."""
        self.action_scroll_rows(pages * max(self._page.size.height - 1, 1))

    def action_to_start(self) -> None:
        """To the first row."""
        self.action_scroll_rows(-self._page.first)

    def action_to_end(self) -> None:
        """To the last row."""
        self._page.to_end()
        self._tell()

    def action_copy(self) -> None:
        """Copy the text as it is sent."""
        self.app.copy_to_clipboard(self._text)
        self._foot.say(f"copied {self._part.title}")

    def on_mouse_scroll_down(self) -> None:
        self.action_scroll_rows(3)

    def on_mouse_scroll_up(self) -> None:
        self.action_scroll_rows(-3)

    def _tell(self) -> None:
        glyphs = self._foot.glyphs
        keys = ((f"{glyphs.up}{glyphs.down}", "scroll"), (shown("page_copy"), "copy"), ("esc", "back"))
        self._foot.show(*keys, fact=self._page.place)
