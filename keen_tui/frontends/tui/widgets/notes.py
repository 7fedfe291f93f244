"""Rows between the transcript and the composer: the notice, the guide, and what a key is offered for."""

from __future__ import annotations

from rich.text import Text

from keen_tui.frontends.shared.commands.actions import BY_ID
from keen_tui.frontends.tui.keys.keymap import shown
from keen_tui.frontends.tui.look.glyphs import Glyphs
from keen_tui.frontends.tui.look.themes import Styles
from keen_tui.frontends.tui.widgets.row_widget import RowWidget, cut_row, indented, key_hint, wrapped
from keen_tui.text.sanitize import clean

_TEXT_EDGE = 4
_RIGHT_MARGIN = 3


class NoticeRows(RowWidget):
    """A few soft rows that take no room while there is nothing to say."""

    def __init__(self, styles: Styles, glyphs: Glyphs, *, id: str, most_rows: int) -> None:
        super().__init__(styles, glyphs, id=id)
        self._most_rows = most_rows
        self._text = ""
        self.display = False

    @property
    def text(self) -> str:
        """The text of the note; "" hides it."""
        return self._text

    @text.setter
    def text(self, text: str) -> None:
        if text != self._text:
            self._text = text
            self.display = bool(text)
            self.changed(layout=True)

    def rows(self, width: int, height: int) -> list[Text]:
        room = max(width - _TEXT_EDGE - _RIGHT_MARGIN, 1)
        text = clean(self._text, newlines=True)
        lines = wrapped(text, room, self.look("soft"))
        if len(lines) > self._most_rows:
            last = cut_row(Text.assemble(lines[self._most_rows - 1], " " * room), room, self.glyphs.more)
            lines = [*lines[: self._most_rows - 1], last]
        return [indented(line, _TEXT_EDGE) for line in lines]


class KeyOffer(RowWidget):
    """One row that offers an action: its key, or its slash command where no key runs it, and what it does."""

    def __init__(self, styles: Styles, glyphs: Glyphs, *, id: str, action_id: str, words: str) -> None:
        super().__init__(styles, glyphs, id=id)
        self._action_id = action_id
        self._words = words
        self.display = False

    def rows(self, width: int, height: int) -> list[Text]:
        room = max(width - _TEXT_EDGE - _RIGHT_MARGIN, 1)
        key = shown(self._action_id) or f"/{BY_ID[self._action_id].slash[0]}"
        row = key_hint(self.look, key, self._words, "wait")
        return [indented(cut_row(row, room, self.glyphs.more), _TEXT_EDGE)]
