"""The command palette: every action in a row of its own, found by a few letters of its name."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from msgspec import Struct
from rich.text import Text
from textual import on

from keen_tui.frontends.tui.look.cells import cut
from keen_tui.frontends.tui.look.glyphs import Glyphs
from keen_tui.frontends.tui.look.themes import Styles
from keen_tui.frontends.tui.pages.key import Key
from keen_tui.frontends.tui.pages.page_screen import PageScreen
from keen_tui.frontends.tui.pages.row_list import RowList
from keen_tui.frontends.tui.widgets.field import Field
from keen_tui.text.sanitize import clean
from keen_tui.text.units import counted

_LABEL_CELLS: Final = 30
_KEY_CELLS: Final = 20
_NO_MATCH: Final = 9


class PaletteEntry(Struct, frozen=True):
    """An entry of the palette: its label, its key as it is shown, its slash names, and its help. If it isn't
    `listed`, it is shown only when the typed letters find it."""

    id: str
    label: str
    key: str
    names: tuple[str, ...]
    help: str
    run: Callable[[], None]
    listed: bool = True

    @property
    def ways(self) -> str:
        """How to run it without the palette: `ctrl+r  /retry`."""
        names = [f"/{name}" for name in self.names[:1] if not self.label.startswith("/")]
        return "  ".join([self.key, *names] if self.key else names)

    def rank(self, wanted: str) -> int:
        """How well the entry fits what was typed, 0 best; `_NO_MATCH` where it does not."""
        query = wanted.casefold().strip()
        name = query.removeprefix("/")
        if not name:
            return 0
        if name in self.names:
            return 0
        if any(own.startswith(name) for own in self.names):
            return 1
        if query.startswith("/"):
            return 2 if any(name in own for own in self.names) else _NO_MATCH
        return self._rank_of_words(query)

    def _rank_of_words(self, query: str) -> int:
        label = self.label.casefold()
        if label.startswith(query):
            return 2
        words, known = query.split(), f"{label} {self.ways}".casefold()
        if all(any(part.startswith(word) for part in known.split()) for word in words):
            return 3
        if all(word in known for word in words):
            return 4
        if all(word in f"{known} {self.help.casefold()}" for word in words):
            return 5
        return 6 if len(query) > 1 and _has_letters(label, query.replace(" ", "")) else _NO_MATCH


class Palette(PageScreen[PaletteEntry | None]):
    """Covers the workspace. Dismissed with the entry to run, None where there is none."""

    says = "elsewhere"

    def __init__(self, styles: Styles, glyphs: Glyphs, entries: Sequence[PaletteEntry]) -> None:
        super().__init__(styles, glyphs)
        self._entries = entries
        self._list = RowList[PaletteEntry](styles, glyphs, self._row, empty="No action matches.")
        placeholder = "type letters of an action or a slash command"
        field = Field(self.press, id="palette-field", placeholder=placeholder)
        self.body = self._list
        self.parts = (self.head, field, self._list, self.foot)
        self.typed("")

    def heading(self) -> tuple[str, str]:
        return "Actions", counted(len(self._entries), "action")

    def keys(self) -> Sequence[Key]:
        return (
            Key("enter", "run", self._take),
            Key("up,down", "choose"),
            Key("escape", "back", self.leave),
        )

    def typed(self, text: str) -> None:
        """Show what fits; the best is chosen."""
        is_asked = bool(text.strip(" /"))
        ranked = [(entry.rank(text), entry) for entry in self._entries if entry.listed or is_asked]
        fitting = [each for each in ranked if each[0] < _NO_MATCH]
        self._list.set_lines([entry for _, entry in sorted(fitting, key=lambda each: each[0])], to_top=True)

    @on(RowList.Clicked)
    def _take(self) -> None:
        """Run the chosen entry."""
        if self._list.chosen:
            self.dismiss(self._list.chosen)

    def _row(self, entry: PaletteEntry, width: int, chosen: bool) -> Text:
        look, more = self.look, self.glyphs.more
        label = cut(clean(entry.label), _LABEL_CELLS - 1, more).ljust(_LABEL_CELLS)
        ways = cut(clean(entry.ways), _KEY_CELLS - 1, more).ljust(_KEY_CELLS)
        return Text.assemble(
            (f"   {label}", look("text", bold=chosen)),
            (ways, look("text", bold=True)),
            (clean(entry.help), look("soft" if chosen else "dim")),
        )


def _has_letters(text: str, letters: str) -> bool:
    """Whether the letters stand in the text in that order."""
    rest = iter(text)
    return all(letter in rest for letter in letters)
