"""A list that changes by itself, of which one line can be read whole."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, Generic, Protocol

from rich.text import Text
from textual.app import ComposeResult

from keen_tui.frontends.tui.look.glyphs import Glyphs
from keen_tui.frontends.tui.look.themes import Styles
from keen_tui.frontends.tui.pages.key import Key
from keen_tui.frontends.tui.pages.row_list import Line, RowList
from keen_tui.frontends.tui.pages.row_scroll import RowScroll
from keen_tui.frontends.tui.terminal.laid_out_once import PaneColumn
from keen_tui.frontends.tui.widgets.row_widget import cut_row, spread

_EDGE: Final = 2


class Lines(Protocol[Line]):
    """Whose lines they are."""

    def lines(self) -> Sequence[Line]:
        """What there is now, in its order; at least one."""

    def entry(self, line: Line, width: int, chosen: bool) -> tuple[Text, Text]:
        """The row of a line, to the left and to the right; `width` is the width of both."""

    def details(self, line: Line, width: int) -> Sequence[Text]:
        """All about one line."""


class LiveList(PaneColumn, Generic[Line]):
    """The list, or in its place all about the chosen line.

    Args:
        key: what a line stands for. If there is one with the key `opened`, it is open at first.
    """

    def __init__(
        self,
        styles: Styles,
        glyphs: Glyphs,
        source: Lines[Line],
        key: Callable[[Line], object] = lambda line: line,
        opened: object = None,
    ) -> None:
        super().__init__()
        self._source = source
        self._list = RowList(styles, glyphs, self._entry, key=key, edges=(_EDGE, _EDGE))
        self._list.mark_from = 0
        self._whole = RowScroll(styles, glyphs, self._details, edge=_EDGE)
        lines = source.lines()
        named = [line for line in lines if key(line) == opened]
        self._list.set_lines(lines, *named[:1])
        self._began_open = bool(named)
        self._turn(opened=self._began_open)

    def compose(self) -> ComposeResult:
        yield self._list
        yield self._whole

    @property
    def chosen(self) -> Line:
        """The chosen line."""
        return self._list.line

    @property
    def place(self) -> int:
        """The place of the chosen line among all."""
        return self._list.place

    @property
    def opened(self) -> bool:
        """Whether one line is shown whole."""
        return self._whole.display

    def keys(self, verb: str) -> tuple[Key, ...]:
        """The keys of the list; `verb` says what enter shows."""
        return Key("up,down", "scroll" if self.opened else "choose"), Key(
            "enter", verb * (not self.opened), self.open
        )

    def changed(self) -> None:
        """Draw what is different now."""
        self._list.set_lines(self._source.lines())
        self._whole.changed()

    def move(self, step: int) -> None:
        """Choose another line, or scroll."""
        (self._whole if self.opened else self._list).move(step)

    def move_page(self, pages: int) -> None:
        """The same, by pages."""
        (self._whole if self.opened else self._list).move_page(pages)

    def open(self) -> None:
        """Show the chosen line whole."""
        if not self.opened:
            self._turn(opened=True)

    def close(self) -> bool:
        """Show the list again. False: it is shown, or was not at first."""
        closes = self.opened and not self._began_open
        if closes:
            self._turn(opened=False)
        return closes

    def _turn(self, *, opened: bool) -> None:
        self._whole.to_top()
        self._list.display, self._whole.display = not opened, opened

    def _entry(self, line: Line, width: int, chosen: bool) -> Text:
        left, right = self._source.entry(line, width - 1, chosen)
        return Text.assemble(" ", spread(left, right, width - 1, self._list.glyphs.more))

    def _details(self, width: int) -> list[Text]:
        more = self._list.glyphs.more
        return [cut_row(row, width, more) for row in self._source.details(self.chosen, width)]
