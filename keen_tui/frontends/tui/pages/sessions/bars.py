"""The rows above and below the list of sessions."""

from __future__ import annotations

from rich.text import Text

from keen_tui.frontends.tui.look.glyphs import Glyphs
from keen_tui.frontends.tui.look.themes import Styles
from keen_tui.frontends.tui.widgets.row_widget import RowWidget, indented, spread


class SessionsHead(RowWidget):
    """The title, whose sessions they are, and how many."""

    def __init__(self, styles: Styles, glyphs: Glyphs) -> None:
        super().__init__(styles, glyphs, id="sessions-head")
        self._words: tuple[str, str, str] = ("", "", "")

    def show(self, title: str, where: str, count: str) -> None:
        """Draw these words."""
        self._words = (title, where, count)
        self.changed()

    def rows(self, width: int, height: int) -> list[Text]:
        title, where, count = self._words
        left = self.fact(Text(title, self.look("text", bold=True)), Text(where, self.look("soft")))
        return [indented(spread(left, Text(count, self.look("dim")), width - 6, self.glyphs.more), 2)]
