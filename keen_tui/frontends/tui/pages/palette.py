"""The command palette: every action in a row of its own, found by a few letters of its name."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from msgspec import Struct
from rich.text import Text
from textual import events, on
from textual.app import ComposeResult
from textual.message import Message
from textual.widgets import Input

from keen_tui.frontends.tui.look.cells import cut
from keen_tui.frontends.tui.look.glyphs import Glyphs
from keen_tui.frontends.tui.look.themes import Styles
from keen_tui.frontends.tui.terminal.laid_out_once import KeenScreen
from keen_tui.frontends.tui.widgets.field import Field
from keen_tui.frontends.tui.widgets.row_widget import RowWidget, cut_row, indented, spread
from keen_tui.text.sanitize import clean
from keen_tui.text.units import counted

_LABEL_CELLS: Final = 30
_KEY_CELLS: Final = 20
_EDGE: Final = 4
_MARGIN: Final = 2
_LOW: Final = 16
"""Rows of the terminal below which nothing is left empty."""
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


class EntryList(RowWidget):
    """The entries that fit what was typed, best first. One of them is chosen, and in view."""

    class Clicked(Message):
        """The chosen entry was clicked."""

    def __init__(self, styles: Styles, glyphs: Glyphs, entries: Sequence[PaletteEntry]) -> None:
        super().__init__(styles, glyphs, id="palette-list")
        self._all = entries
        self._found = [entry for entry in entries if entry.listed]
        self._place = 0
        self._first = 0
        self._room = 1

    @property
    def chosen(self) -> PaletteEntry | None:
        """The entry to run; None where none fits."""
        return self._found[self._place] if self._found else None

    def filter(self, wanted: str) -> None:
        """Show what fits; the best is chosen."""
        is_asked = bool(wanted.strip(" /"))
        ranked = [(entry.rank(wanted), entry) for entry in self._all if entry.listed or is_asked]
        fitting = [each for each in ranked if each[0] < _NO_MATCH]
        self._found = [entry for _, entry in sorted(fitting, key=lambda each: each[0])]
        self._place = self._first = 0
        self.changed()

    def move(self, step: int) -> None:
        """Choose an entry further up or down."""
        self._place = min(max(self._place + step, 0), max(len(self._found) - 1, 0))
        self.changed()

    def move_page(self, pages: int) -> None:
        """Choose an entry a page further up or down."""
        self.move(pages * max(self._room - 1, 1))

    def rows(self, width: int, height: int) -> list[Text]:
        if not self._found:
            return [indented(Text("No action matches.", self.look("soft")), _EDGE)]
        room = self._room = max(height, 1)
        self._first = max(min(self._first, self._place, len(self._found) - room), self._place - room + 1, 0)
        seen = range(self._first, min(self._first + room, len(self._found)))
        rows = [self._row(place, width) for place in seen]
        below = len(self._found) - seen.stop
        if below and height > 2 and self._place != seen[-1]:
            mark = Text(f"{self.glyphs.down} {below} below", self.look("soft"))
            rows[-1] = spread(rows[-1], mark, width - _MARGIN, self.glyphs.more)
        return rows

    def _row(self, place: int, width: int) -> Text:
        entry, look, more = self._found[place], self.look, self.glyphs.more
        on = "raised" if place == self._place else None
        label = cut(clean(entry.label), _LABEL_CELLS - 1, more).ljust(_LABEL_CELLS)
        row = Text.assemble(
            (self.glyphs.bar if on else " ", look("accent", on=on)),
            (" " * (_EDGE - 1) + label, look("text", on=on, bold=bool(on))),
            (cut(clean(entry.ways), _KEY_CELLS - 1, more).ljust(_KEY_CELLS), look("text", on=on, bold=True)),
            (clean(entry.help), look("soft" if on else "dim", on=on)),
        )
        row = cut_row(row, width - _MARGIN, more)
        if on:
            row.append(" " * max(width - _MARGIN - row.cell_len, 0), look("text", on=on))
        return row

    def on_click(self, event: events.Click) -> None:
        place = self._first + event.y
        if place < len(self._found):
            self._place = place
            self.changed()
            self.post_message(self.Clicked())

    def on_mouse_scroll_down(self) -> None:
        self.move(3)

    def on_mouse_scroll_up(self) -> None:
        self.move(-3)


class PaletteHead(RowWidget):
    """The title of the page, and the number of actions."""

    def __init__(self, styles: Styles, glyphs: Glyphs, count: int) -> None:
        super().__init__(styles, glyphs, id="palette-head")
        self._count = count

    def rows(self, width: int, height: int) -> list[Text]:
        title = Text("Actions", self.look("text", bold=True))
        count = Text(counted(self._count, "action"), self.look("dim"))
        return [indented(spread(title, count, width - 2 * _MARGIN, self.glyphs.more), _MARGIN)]


class PaletteFoot(RowWidget):
    """The keys."""

    def rows(self, width: int, height: int) -> list[Text]:
        arrows = f"{self.glyphs.up}{self.glyphs.down}"
        keys = (("enter", "run"), (arrows, "choose"), ("esc", "back"))
        hints = self.fact(*(self.key_hint(key, verb) for key, verb in keys))
        return [indented(cut_row(hints, width - 2 * _MARGIN, self.glyphs.more), _MARGIN)]


class Palette(KeenScreen[PaletteEntry | None]):
    """Covers the workspace. Dismissed with the entry to run, None where there is none."""

    AUTO_FOCUS = "#palette-field"

    def __init__(self, styles: Styles, glyphs: Glyphs, entries: Sequence[PaletteEntry]) -> None:
        super().__init__()
        self._head = PaletteHead(styles, glyphs, len(entries))
        self._list = EntryList(styles, glyphs, entries)
        self._foot = PaletteFoot(styles, glyphs, id="palette-foot")
        keys = {
            "up": "move(-1)", "down": "move(1)", "pageup": "move_page(-1)", "pagedown": "move_page(1)",
            "ctrl+home": "move(-1000000)", "ctrl+end": "move(1000000)", "enter": "take", "escape": "leave",
        }  # fmt: skip
        self._field = Field(id="palette-field", keys=keys)
        self._field.placeholder = "type letters of an action or a slash command"

    def compose(self) -> ComposeResult:
        yield self._head
        yield self._field
        yield self._list
        yield self._foot

    def on_resize(self, event: events.Resize) -> None:
        self.set_class(event.size.height < _LOW, "-low")

    def action_move(self, step: int) -> None:
        """Choose another entry."""
        self._list.move(step)

    def action_move_page(self, pages: int) -> None:
        """Choose an entry a page away."""
        self._list.move_page(pages)

    @on(EntryList.Clicked)
    def action_take(self) -> None:
        """Run the chosen entry."""
        if self._list.chosen:
            self.dismiss(self._list.chosen)

    def action_leave(self) -> None:
        """Go back."""
        self.dismiss(None)

    @on(Input.Changed)
    def _filter(self, changed: Input.Changed) -> None:
        self._list.filter(changed.value)


def _has_letters(text: str, letters: str) -> bool:
    """Whether the letters stand in the text in that order."""
    rest = iter(text)
    return all(letter in rest for letter in letters)
