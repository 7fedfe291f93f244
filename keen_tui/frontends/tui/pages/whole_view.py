"""Shows the subject of a question on the whole screen: a big diff, a long command."""

from __future__ import annotations

from collections.abc import Sequence

from rich.text import Text

from keen_tui.frontends.tui.look.glyphs import Glyphs
from keen_tui.frontends.tui.look.themes import Styles
from keen_tui.frontends.tui.pages.key import Key
from keen_tui.frontends.tui.pages.page_screen import PageScreen
from keen_tui.frontends.tui.pages.row_scroll import RowScroll
from keen_tui.frontends.tui.questions.question import Question
from keen_tui.frontends.tui.terminal import background


class WholeView(PageScreen[None]):
    """Covers the workspace until esc. Nothing is answered here."""

    says = "elsewhere"
    least_gap = 1

    def __init__(self, styles: Styles, glyphs: Glyphs, question: Question) -> None:
        super().__init__(styles, glyphs)
        self._question = question
        self._rows = RowScroll(styles, glyphs, self._draw)
        self.body = self._rows
        self.parts = (self.head, self._rows, self.foot)

    def on_mount(self) -> None:
        background.listen(self._rows.changed)

    def on_unmount(self) -> None:
        background.leave(self._rows.changed)

    def heading(self) -> tuple[Text, str]:
        title = Text(f"{self.glyphs.asks} {self._question.title}", self.look("wait", bold=True))
        return title, self._question.facts

    def keys(self) -> Sequence[Key]:
        return (
            Key("escape", "back, answer there", self.leave, "q"),
            Key("details", does=self.leave),
            Key("up,down", "scroll"),
        )

    def beside_keys(self) -> Text:
        return Text(self._rows.place, self.look("dim"))

    def _draw(self, width: int) -> Sequence[Text]:
        draw = self._question.body
        return draw(width, self.look, self.glyphs) if draw else ()
