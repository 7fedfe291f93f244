"""The parts of a page with one field: its title, the words below the field, and the keys that work."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from rich.text import Text
from textual import events
from textual.screen import ScreenResultType

from keen_tui.frontends.tui.look.cells import cut
from keen_tui.frontends.tui.look.glyphs import Glyphs
from keen_tui.frontends.tui.look.themes import Styles
from keen_tui.frontends.tui.terminal.laid_out_once import KeenScreen
from keen_tui.frontends.tui.widgets.row_widget import RowWidget, indented, key_hints, wrapped
from keen_tui.system.paths import home_relative
from keen_tui.text.sanitize import clean

_LOW = 16
"""Rows of the terminal below which few of them are left blank."""


class EntryHead(RowWidget):
    """The title of the page."""

    def __init__(self, styles: Styles, glyphs: Glyphs) -> None:
        super().__init__(styles, glyphs, id="entry-head")
        self.title = ""

    def rows(self, width: int, height: int) -> list[Text]:
        title = cut(clean(self.title), width - 4, self.glyphs.more)
        return [indented(Text(title, self.look("text", bold=True)), 2)]


class EntryWords(RowWidget):
    """The result of the last try, and below it where the words in the field go, as far as whole sentences
    fit."""

    def __init__(self, styles: Styles, glyphs: Glyphs) -> None:
        super().__init__(styles, glyphs, id="entry-words")
        self.sentence = ""
        self.about: tuple[str, ...] = ()

    def rows(self, width: int, height: int) -> list[Text]:
        room = min(width - 8, 100)
        page = wrapped(clean(self.sentence), room, self.look("text")) if self.sentence else []
        gap = [Text()] * bool(page)
        for sentence in self.about:
            more = [*gap, *wrapped(clean(sentence), room, self.look("soft"))]
            if page and len(page) + len(more) > height:
                break
            page += more
            gap = []
        return [indented(row, 4) for row in page]


class EntryFoot(RowWidget):
    """The keys that work now."""

    def __init__(self, styles: Styles, glyphs: Glyphs) -> None:
        super().__init__(styles, glyphs, id="entry-foot")
        self.keys: Sequence[tuple[str, str]] = ()

    def rows(self, width: int, height: int) -> list[Text]:
        return [indented(key_hints(self, self.keys, width - 4), 2)]


class EntryPage(KeenScreen[ScreenResultType]):
    """A page with such parts; in a low terminal it leaves fewer rows blank."""

    def __init__(self, styles: Styles, glyphs: Glyphs) -> None:
        super().__init__()
        self.head = EntryHead(styles, glyphs)
        self.below = EntryWords(styles, glyphs)
        self.foot = EntryFoot(styles, glyphs)

    def on_resize(self, event: events.Resize) -> None:
        self.set_class(event.size.height < _LOW, "-low")

    def draw(self) -> None:
        """Draw the parts again."""
        for part in (self.head, self.below, self.foot):
            part.changed()

    def say(self, sentence: str) -> None:
        """Say what came of the last try."""
        self.below.sentence = sentence
        self.below.changed()


def kept_in(destination: str) -> str:
    """Where a key will be kept, as a sentence; "" while that is being found out."""
    if not destination.startswith("/"):
        return f"It is saved in {destination}." if destination else "It is saved on this machine."
    return f"It is saved in {home_relative(Path(destination))}, which only you can read."
