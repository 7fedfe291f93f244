"""The last row of the screens about context: the keys that work, and at the right one fact or sentence."""

from __future__ import annotations

from rich.text import Text

from keen_tui.frontends.tui.look.glyphs import Glyphs
from keen_tui.frontends.tui.look.themes import Styles
from keen_tui.frontends.tui.pages.context.columns import RIGHT_MARGIN
from keen_tui.frontends.tui.widgets.row_widget import GAP, RowWidget, indented, key_hints, spread, wrapped
from keen_tui.text.sanitize import clean


class Foot(RowWidget):
    """A sentence takes the place of the fact; where it has no room beside the keys, it is above them."""

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
        self.changed(layout=True)

    def rows(self, width: int, height: int) -> list[Text]:
        room = width - 2 * RIGHT_MARGIN
        keys = key_hints(self, self._keys, room)
        right = Text(clean(self._sentence), self.look("soft")) or Text(self._fact, self.look("dim"))
        if keys.cell_len + len(GAP) + right.cell_len <= room:
            rows = [spread(keys, right, room, self.glyphs.more)]
        else:
            said = wrapped(clean(self._sentence), room, self.look("soft")) if self._sentence else []
            rows = [*said, keys]
        return [indented(row, RIGHT_MARGIN) for row in rows]
