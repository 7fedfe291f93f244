"""The choice of a theme: what lies behind it shows each as soon as it is reached."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar, Final

from rich.text import Text
from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.geometry import Size
from textual.message import Message
from textual.screen import ModalScreen

from keen_tui.frontends.tui.look.glyphs import Glyphs
from keen_tui.frontends.tui.look.themes import Styles
from keen_tui.frontends.tui.widgets.row_widget import RowWidget, cut_row, indented, spread
from keen_tui.text.sanitize import clean
from keen_tui.text.units import counted

_AROUND: Final = 5
"""Rows beside the list: title and keys, with what is blank around them."""
_TEXT_EDGE: Final = 4
_MARGIN: Final = 2


class ThemeList(RowWidget):
    """The themes and, below them, the files that can't be used. One is always chosen."""

    class Reached(Message):
        """Another one was chosen."""

    def __init__(
        self,
        styles: Styles,
        glyphs: Glyphs,
        names: Sequence[str],
        broken: Mapping[str, Sequence[str]],
        *,
        in_use: str,
    ) -> None:
        super().__init__(styles, glyphs, id="theme-list")
        self._lines = [*names, *broken]
        self._broken = broken
        self._in_use = in_use
        self._place = self._lines.index(in_use)
        self._first = 0

    @property
    def chosen(self) -> str | None:
        """The theme that is chosen; None on a file that can't be used."""
        line = self._lines[self._place]
        return None if line in self._broken else line

    def move(self, step: int) -> None:
        """Choose one further up or down."""
        place = min(max(self._place + step, 0), len(self._lines) - 1)
        if place != self._place:
            self._place = place
            self.changed()
            self.post_message(self.Reached())

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        return min(len(self._lines) + _AROUND, max(viewport.height // 2, _AROUND + 1))

    def rows(self, width: int, height: int) -> list[Text]:
        room = max(height - _AROUND, 1)
        last = max(len(self._lines) - room, 0)
        self._first = max(min(self._first, self._place, last), self._place - room + 1)
        seen = range(self._first, min(self._first + room, len(self._lines)))
        title = indented(Text("Theme", self.look("text", bold=True)), _MARGIN)
        rows = [Text(), title, Text(), *(self._row(place, width) for place in seen), Text()]
        keys = [(f"{self.glyphs.up}{self.glyphs.down}", "preview"), ("enter", "keep"), ("esc", "cancel")]
        hints = self.fact(*(self.key_hint(key, verb) for key, verb in keys if self.chosen or key != "enter"))
        below = len(self._lines) - seen.stop
        more = Text(f"{self.glyphs.down} {below} below" if below else "", self.look("soft"))
        return [*rows, indented(spread(hints, more, width - 2 * _MARGIN, self.glyphs.more), _MARGIN)]

    def _row(self, place: int, width: int) -> Text:
        line, look, glyphs = self._lines[place], self.look, self.glyphs
        on = "raised" if place == self._place else None
        problems = self._broken.get(line, ())
        mark = glyphs.failed if problems else glyphs.running if line == self._in_use else " "
        row = Text.assemble(
            (glyphs.bar if on else " ", look("accent", on=on)),
            " ",
            (mark, look("fail" if problems else "accent", on=on)),
            " ",
            (clean(line), look("soft" if problems else "text", on=on, bold=bool(on))),
            style=look("text", on=on) if on else "",
        )
        if problems:
            others = f" and {counted(len(problems) - 1, 'more problem')}" if len(problems) > 1 else ""
            told = problems[0].removeprefix(line).lstrip(",: ")
            row.append(f"   {clean(told).rstrip('.')}{others}", look("dim", on=on))
        row = cut_row(row, width - _MARGIN, glyphs.more)
        row.pad_right(max(width - _MARGIN - row.cell_len, 0) if on else 0)
        return row

    def on_click(self, event: events.Click) -> None:
        place = self._first + event.y - 3
        if 0 <= place < len(self._lines):
            self.move(place - self._place)

    def on_mouse_scroll_down(self) -> None:
        self.move(1)

    def on_mouse_scroll_up(self) -> None:
        self.move(-1)


class ThemePicker(ModalScreen[str | None]):
    """Dismissed with the theme to keep; None: the one of before is in use again.

    Args:
        broken: files that can't be used, and why.
        in_use: the theme to begin with.
    """

    AUTO_FOCUS = ""
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q", "leave", show=False),
        Binding("enter", "keep", show=False),
        Binding("up", "move(-1)", show=False),
        Binding("down", "move(1)", show=False),
        Binding("home", "move(-1000)", show=False),
        Binding("end", "move(1000)", show=False),
    ]

    def __init__(
        self,
        styles: Styles,
        glyphs: Glyphs,
        names: Sequence[str],
        broken: Mapping[str, Sequence[str]],
        *,
        in_use: str,
    ) -> None:
        super().__init__()
        self._before = in_use
        self._list = ThemeList(styles, glyphs, names, broken, in_use=in_use)

    def compose(self) -> ComposeResult:
        yield self._list

    def action_move(self, step: int) -> None:
        """Choose another theme."""
        self._list.move(step)

    def action_keep(self) -> None:
        """Keep the chosen theme."""
        if self._list.chosen:
            self.dismiss(self._list.chosen)

    def action_leave(self) -> None:
        """Have the theme of before."""
        self.app.theme = self._before
        self.dismiss(None)

    def on_theme_list_reached(self) -> None:
        """Show the chosen theme."""
        if self._list.chosen:
            self.app.theme = self._list.chosen
