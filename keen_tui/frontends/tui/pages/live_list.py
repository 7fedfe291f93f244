"""A page with a list that changes by itself; enter shows one entry whole."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Awaitable, Callable, Sequence
from typing import ClassVar, Final, TypeVar

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType

from keen_tui.domain.errors import KeenError
from keen_tui.frontends.tui.look.glyphs import Glyphs
from keen_tui.frontends.tui.look.themes import Styles
from keen_tui.frontends.tui.terminal.laid_out_once import KeenScreen
from keen_tui.frontends.tui.widgets.row_widget import RowWidget, cut_row, indented, spread
from keen_tui.text.sanitize import clean

_EDGE: Final = 2
_LOW: Final = 16
"""Rows of the terminal below which no blank ones stand between the parts of the page."""
_LOOK_SECONDS: Final = 0.5
"""How often the page looks at the entries again."""


class LiveRows(RowWidget):
    """The list, or with `opened` one entry whole. If there is an entry called `name`, it is open at first."""

    def __init__(self, styles: Styles, glyphs: Glyphs, name: str) -> None:
        super().__init__(styles, glyphs, id="live-rows")
        self.opened = name in self.names()
        self.said = ""
        self._chosen = name if self.opened else self.names()[0]
        self._first = 0
        self._room = 1

    @abstractmethod
    def names(self) -> Sequence[str]:
        """The names of the entries, in their order; at least one."""

    @abstractmethod
    def title(self) -> tuple[str, str]:
        """The words above the rows, to the left and to the right."""

    @abstractmethod
    def entry(self, name: str, width: int, *, chosen: bool) -> tuple[Text, Text]:
        """The row of an entry, to the left and to the right; `width` is the width of both."""

    @abstractmethod
    def whole(self, name: str, width: int) -> list[Text]:
        """All about one entry."""

    @abstractmethod
    def keys(self) -> Sequence[Text]:
        """The keys that work now, the least important first."""

    @property
    def chosen(self) -> str:
        """The name of the chosen entry."""
        return self._chosen

    def move(self, rows: int) -> None:
        """Choose another entry, or scroll the open one."""
        if self.opened:
            self._first += rows
        else:
            names = self.names()
            place = names.index(self._chosen) if self._chosen in names else 0
            self._chosen = names[max(min(place + rows, len(names) - 1), 0)]
        self.said = ""
        self.changed()

    def move_page(self, pages: int) -> None:
        """Move by pages."""
        self.move(pages * max(self._room - 1, 1))

    def open(self, *, opened: bool) -> None:
        """Show one entry whole, or the list."""
        self.opened, self._first, self.said = opened, 0, ""
        self.changed()

    def say(self, text: str) -> None:
        """Say a sentence above the keys."""
        self.said = text
        self.changed()

    def rows(self, width: int, height: int) -> list[Text]:
        gap = [Text()] if height >= _LOW else []
        inner = max(width - 2 * _EDGE, 1)
        self._room = max(height - 3 - 3 * len(gap), 1)
        body = self._whole(inner) if self.opened else self._list(inner)
        seen = body[self._first : self._first + self._room]
        seen += [Text()] * (self._room - len(seen))
        left, right = self.title()
        bold = Text(left, self.look("text", bold=True))
        title = spread(bold, Text(right, self.look("dim")), inner, self.glyphs.more)
        said = cut_row(Text(clean(self.said), self.look("soft")), inner, self.glyphs.more)
        page = [*gap, title, *gap, *seen, *gap, said, self._keys(inner)]
        return [indented(row, _EDGE) for row in page]

    def _list(self, width: int) -> list[Text]:
        names = self.names()
        place = names.index(self._chosen) if self._chosen in names else 0
        self._chosen = names[place]
        self._first = max(min(self._first, place), place - self._room + 1)
        return [self._entry(name, width, chosen=name == self._chosen) for name in names]

    def _entry(self, name: str, width: int, *, chosen: bool) -> Text:
        look = self.look
        bar = Text(self.glyphs.bar if chosen else " ", look("accent"))
        left, right = self.entry(name, width - 2, chosen=chosen)
        row = spread(Text.assemble(bar, " ", left), right, width, self.glyphs.more)
        return Text.assemble(row, style=look("text", on="raised")) if chosen else row

    def _whole(self, width: int) -> list[Text]:
        body = [cut_row(row, width, self.glyphs.more) for row in self.whole(self._chosen, width)]
        self._first = max(min(self._first, len(body) - self._room), 0)
        return body

    def _keys(self, width: int) -> Text:
        arrows = self.key_hint(f"{self.glyphs.up}{self.glyphs.down}", "scroll" if self.opened else "choose")
        keys = (arrows, *self.keys(), self.key_hint("esc", "back"))
        rows = (self.fact(*keys[first:]) for first in range(len(keys)))
        return next((row for row in rows if row.cell_len <= width), Text())


_Result = TypeVar("_Result")


class LiveListScreen(KeenScreen[_Result]):
    """Covers the workspace until esc."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q", "back", show=False),
        Binding("up", "move(-1)", show=False),
        Binding("down", "move(1)", show=False),
        Binding("pageup", "page(-1)", show=False),
        Binding("pagedown,space", "page(1)", show=False),
        Binding("home", "move(-1000000)", show=False),
        Binding("end", "move(1000000)", show=False),
        Binding("enter", "open", show=False),
    ]

    def __init__(self, table: LiveRows) -> None:
        super().__init__()
        self.table = table
        self._began_open = table.opened

    def compose(self) -> ComposeResult:
        yield self.table

    def on_mount(self) -> None:
        self.set_interval(_LOOK_SECONDS, self.table.changed)

    def action_move(self, rows: int) -> None:
        """Choose another entry, or scroll."""
        self.table.move(rows)

    def action_page(self, pages: int) -> None:
        """Move by pages."""
        self.table.move_page(pages)

    def action_open(self) -> None:
        """Show the chosen entry whole."""
        if not self.table.opened:
            self.table.open(opened=True)

    def action_back(self) -> None:
        """Go back to the list, or to the workspace."""
        if self.table.opened and not self._began_open:
            self.table.open(opened=False)
        else:
            self.dismiss(None)

    def act(self, action: Callable[[str], Awaitable[str]]) -> None:
        """Do something with the chosen entry, and show what comes of it."""
        self.run_worker(self._told(action), group="acts")

    async def _told(self, action: Callable[[str], Awaitable[str]]) -> None:
        try:
            self.table.say(await action(self.table.chosen))
        except KeenError as error:
            self.table.say(str(error))
