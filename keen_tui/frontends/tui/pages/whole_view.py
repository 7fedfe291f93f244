"""Shows the subject of a question on the whole screen: a big diff, a long command."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType

from keen_tui.frontends.tui.keys.keymap import same_key
from keen_tui.frontends.tui.look.glyphs import Glyphs
from keen_tui.frontends.tui.look.themes import Styles
from keen_tui.frontends.tui.questions.question import Question
from keen_tui.frontends.tui.terminal import background
from keen_tui.frontends.tui.terminal.laid_out_once import KeenScreen
from keen_tui.frontends.tui.widgets.row_widget import RowWidget, cut_row, indented, spread
from keen_tui.text.units import counted

_EDGE = 2
_LOW = 16
"""Rows of the terminal below which nothing is left empty."""
_WORDS = "answer there"


class WholeRows(RowWidget):
    """The title, as many rows of the body as there is room for, and the keys."""

    def __init__(self, styles: Styles, glyphs: Glyphs, question: Question) -> None:
        super().__init__(styles, glyphs, id="whole-rows")
        self._question = question
        self._first = 0
        self._room = 1

    def scroll(self, rows: int) -> None:
        """Move by so many rows, as far as there are any."""
        self._first += rows
        self.changed()

    def scroll_page(self, pages: int) -> None:
        """Move by pages; one row stays in view."""
        self.scroll(pages * max(self._room - 1, 1))

    def rows(self, width: int, height: int) -> list[Text]:
        gap = [Text()] if height >= _LOW else []
        inner = max(width - 2 * _EDGE, 1)
        body = self._body(inner)
        self._room = max(height - 2 - 3 * len(gap), 1)
        self._first = max(min(self._first, len(body) - self._room), 0)
        seen = list(body[self._first : self._first + self._room])
        seen += [Text()] * (self._room - len(seen))
        page = [*gap, self._title(inner), *gap, *seen, *gap, self._foot(inner, len(body))]
        return [indented(row, _EDGE) for row in page]

    def _body(self, width: int) -> Sequence[Text]:
        draw = self._question.body
        return draw(width, self.look, self.glyphs) if draw else ()

    def _title(self, width: int) -> Text:
        title = Text(f"{self.glyphs.asks} {self._question.title}", self.look("wait", bold=True))
        return spread(title, Text(self._question.facts, self.look("dim")), width, self.glyphs.more)

    def _foot(self, width: int, rows: int) -> Text:
        arrows = f"{self.glyphs.up}{self.glyphs.down}"
        keys = self.fact(self.key_hint("esc", f"back, {_WORDS}"), self.key_hint(arrows, "scroll"))
        last = min(self._first + self._room, rows)
        of_all = f"rows {self._first + 1} to {last} of {rows:,}"
        place = Text(of_all if self._room < rows else counted(rows, "row"), self.look("dim"))
        return spread(keys, place, width, self.glyphs.more) if width >= 40 else cut_row(keys, width)


class WholeView(KeenScreen[None]):
    """Covers the workspace until esc. Nothing is answered here."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q", "dismiss", show=False),
        same_key("details", "dismiss"),
        Binding("up", "scroll(-1)", show=False),
        Binding("down", "scroll(1)", show=False),
        Binding("pageup", "page(-1)", show=False),
        Binding("pagedown,space", "page(1)", show=False),
        Binding("home,ctrl+home", "scroll(-1000000)", show=False),
        Binding("end,ctrl+end", "scroll(1000000)", show=False),
    ]

    def __init__(self, styles: Styles, glyphs: Glyphs, question: Question) -> None:
        super().__init__()
        self._rows = WholeRows(styles, glyphs, question)

    def compose(self) -> ComposeResult:
        yield self._rows

    def on_mount(self) -> None:
        background.listen(self._rows.changed)

    def on_unmount(self) -> None:
        background.leave(self._rows.changed)

    def action_scroll(self, rows: int) -> None:
        """Move by so many rows."""
        self._rows.scroll(rows)

    def action_page(self, pages: int) -> None:
        """Move by so many pages."""
        self._rows.scroll_page(pages)

    def on_mouse_scroll_down(self) -> None:
        self._rows.scroll(3)

    def on_mouse_scroll_up(self) -> None:
        self._rows.scroll(-3)
