"""The choice of a theme: what lies behind it shows each as soon as it is reached."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar, Final

from rich.text import Text
from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.geometry import Size
from textual.screen import ModalScreen

from keen_tui.frontends.tui.look.glyphs import Glyphs
from keen_tui.frontends.tui.look.themes import Styles
from keen_tui.frontends.tui.pages.row_list import RowList
from keen_tui.frontends.tui.widgets.row_widget import cut_row, indented, spread
from keen_tui.text.sanitize import clean
from keen_tui.text.units import counted

_AROUND: Final = 5
"""Rows beside the list: title and keys, with what is blank around them."""
_MARGIN: Final = 2


class ThemeList(RowList[str]):
    """The themes and, below them, the files that can't be used. One is always chosen."""

    head = 3
    wheel = 1

    def __init__(
        self,
        styles: Styles,
        glyphs: Glyphs,
        names: Sequence[str],
        broken: Mapping[str, Sequence[str]],
        *,
        in_use: str,
    ) -> None:
        super().__init__(styles, glyphs, self._row, id="theme-list")
        self._broken = broken
        self._in_use = in_use
        self.set_lines([*names, *broken], in_use)

    @property
    def theme(self) -> str | None:
        """The theme that is chosen; None on a file that can't be used."""
        return None if self.line in self._broken else self.line

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        return min(len(self.lines) + _AROUND, max(viewport.height // 2, _AROUND + 1))

    def rows(self, width: int, height: int) -> list[Text]:
        view = self.in_view(height - _AROUND)
        title = indented(Text("Theme", self.look("text", bold=True)), _MARGIN)
        rows = [Text(), title, Text(), *(self.drawn(place, width) for place in view), Text()]
        keys = [(f"{self.glyphs.up}{self.glyphs.down}", "preview"), ("enter", "keep"), ("esc", "cancel")]
        hints = self.fact(*(self.key_hint(key, verb) for key, verb in keys if self.theme or key != "enter"))
        below = self.counted(view.stop)
        more = Text(f"{self.glyphs.down} {below} below" if below else "", self.look("soft"))
        return [*rows, indented(spread(hints, more, width - 2 * _MARGIN, self.glyphs.more), _MARGIN)]

    def _row(self, line: str, width: int, chosen: bool) -> Text:
        look, glyphs = self.look, self.glyphs
        problems = self._broken.get(line, ())
        mark = glyphs.failed if problems else glyphs.running if line == self._in_use else " "
        row = Text.assemble(
            " ",
            (mark, look("fail" if problems else "accent")),
            " ",
            (clean(line), look("soft" if problems else "text", bold=chosen)),
        )
        if problems:
            others = f" and {counted(len(problems) - 1, 'more problem')}" if len(problems) > 1 else ""
            told = problems[0].removeprefix(line).lstrip(",: ")
            row.append(f"   {clean(told).rstrip('.')}{others}", look("dim"))
        return cut_row(row, width, glyphs.more)


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
        if self._list.theme:
            self.dismiss(self._list.theme)

    def action_leave(self) -> None:
        """Have the theme of before."""
        self.app.theme = self._before
        self.dismiss(None)

    @on(RowList.Moved)
    def _show(self) -> None:
        """Show the chosen theme."""
        if self._list.theme:
            self.app.theme = self._list.theme
