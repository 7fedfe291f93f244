"""The last row of the screens about context: the keys that work, and at the right one fact or sentence."""

from __future__ import annotations

from rich.text import Text

from keen_tui.frontends.tui.look.glyphs import Glyphs
from keen_tui.frontends.tui.look.themes import Styles
from keen_tui.frontends.tui.pages.context.columns import RIGHT_MARGIN
from keen_tui.frontends.tui.widgets.row_widget import RowWidget, cut_row, indented, spread
from keen_tui.text.sanitize import clean


class Foot(RowWidget):
    """A sentence takes the place of the fact, and of the keys too where both have no room."""

    def __init__(self, styles: Styles, glyphs: Glyphs) -> None:
        super().__init__(styles, glyphs, id="context-foot")
        self._keys: tuple[tuple[str, str], ...] = ()
        self._fact = ""
        self._sentence = ""

    def show(self, *keys: tuple[str, str], fact: str = "") -> None:
        """Draw these keys with what they do."""
        self._keys, self._fact = keys, fact
        self.changed()

    def say(self, sentence: str) -> None:
        """One sentence, until another one; "" takes it away."""
        self._sentence = sentence
        self.changed()

    def rows(self, width: int, height: int) -> list[Text]:
        room = width - 2 * RIGHT_MARGIN
        keys = self._hints(room)
        said = Text(clean(self._sentence), self.look("soft"))
        right = said or Text(self._fact, self.look("dim"))
        if keys.cell_len + 3 + right.cell_len <= room:
            row = spread(keys, right, room, self.glyphs.more)
        else:
            row = cut_row(said or keys, room, self.glyphs.more)
        return [indented(row, RIGHT_MARGIN)]

    def _hints(self, room: int) -> Text:
        """The keys; where not all have room the last one, which leads back, stays."""
        hints = [self.key_hint(key, verb) for key, verb in self._keys]
        while len(hints) > 1 and self.fact(*hints).cell_len > room:
            del hints[-2]
        return self.fact(*hints)
