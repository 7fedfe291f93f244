"""The rows above and below the list of sessions."""

from __future__ import annotations

from rich.text import Text

from keen_tui.frontends.tui.look.glyphs import Glyphs
from keen_tui.frontends.tui.look.themes import Styles
from keen_tui.frontends.tui.widgets.row_widget import RowWidget, cut_row, indented, spread
from keen_tui.text.sanitize import clean

KeyHints = tuple[tuple[str, str], ...]
"""Keys and what they do."""


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


class PutAside(RowWidget):
    """The typed text, shown in its place while the field is somewhere else."""

    def __init__(self, styles: Styles, glyphs: Glyphs) -> None:
        super().__init__(styles, glyphs, id="sessions-aside")
        self._text = ""
        self.display = False

    def show(self, text: str) -> None:
        """Draw this text."""
        self._text = text
        self.changed()

    def rows(self, width: int, height: int) -> list[Text]:
        return [indented(cut_row(Text(clean(self._text), self.look("dim")), width - 4, self.glyphs.more), 2)]


class SessionsFoot(RowWidget):
    """One sentence or, in its place, a question; below it the keys."""

    def __init__(self, styles: Styles, glyphs: Glyphs) -> None:
        super().__init__(styles, glyphs, id="sessions-foot")
        self._sentence = ""
        self._question = ""
        self._keys: tuple[KeyHints, ...] = ()

    def show(self, sentence: str, question: str, keys: tuple[KeyHints, ...]) -> None:
        """Draw these words, and a row for each group of keys."""
        self._sentence, self._question, self._keys = sentence, question, keys
        self.changed()

    def rows(self, width: int, height: int) -> list[Text]:
        hints = [self.fact(*(self.key_hint(key, verb) for key, verb in keys)) for keys in self._keys]
        return [indented(cut_row(row, width - 4, self.glyphs.more), 2) for row in (self._said(), *hints)]

    def _said(self) -> Text:
        if self._question:
            return Text(f"{self.glyphs.asks} {clean(self._question)}", self.look("wait", bold=True))
        return Text(clean(self._sentence), self.look("soft"))
