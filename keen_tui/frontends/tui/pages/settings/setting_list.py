"""The list of settings: one row each under its group, and below it what the chosen one means."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from rich.text import Text
from textual import events
from textual.message import Message

from keen_tui.domain.reports import Setting
from keen_tui.frontends.tui.look.cells import cut
from keen_tui.frontends.tui.look.glyphs import Glyphs
from keen_tui.frontends.tui.look.themes import Styles
from keen_tui.frontends.tui.widgets.row_widget import RowWidget, cut_row, indented, spread, wrapped
from keen_tui.text.sanitize import clean

_TEXT_EDGE: Final = 4
_MARGIN: Final = 2
_NAME_CELLS: Final = 21
_MEANING_ROWS: Final = 2


class SettingList(RowWidget):
    """Shows the settings around the chosen one."""

    class Moved(Message):
        """Another setting was chosen."""

    def __init__(self, styles: Styles, glyphs: Glyphs) -> None:
        super().__init__(styles, glyphs, id="setting-list")
        self.settings: Sequence[Setting] = ()
        self._place = 0
        self._first = 0
        self._lines: list[Setting | str] = []

    @property
    def chosen(self) -> Setting:
        """The setting that keys change."""
        return self.settings[self._place]

    def show(self, settings: Sequence[Setting]) -> None:
        """Draw these settings; the chosen one stays chosen."""
        self.settings = settings
        self._lines = list(_lines(settings))
        self.changed()

    def move(self, step: int) -> None:
        """Choose a setting further up or down."""
        place = min(max(self._place + step, 0), len(self.settings) - 1)
        if place != self._place:
            self._place = place
            self.changed()
            self.post_message(self.Moved())

    def rows(self, width: int, height: int) -> list[Text]:
        at = self._lines.index(self.chosen)
        self._first = max(min(self._first, at - 1), at - height + 2)
        self._first = max(min(self._first, len(self._lines) - height), 0)
        seen = self._lines[self._first : self._first + height]
        rows = [self._row(line, width) for line in seen]
        below = sum(isinstance(line, Setting) for line in self._lines[self._first + height :])
        if below and rows:
            mark = Text(f"{self.glyphs.down} {below} below", self.look("soft"))
            rows[-1].rstrip()
            rows[-1] = spread(rows[-1], mark, width - _MARGIN, self.glyphs.more)
        return rows

    def _row(self, line: Setting | str, width: int) -> Text:
        look = self.look
        if isinstance(line, str):
            return indented(Text(line, look("dim")), _TEXT_EDGE - 2)
        chosen = line is self.chosen
        on = "raised" if chosen else None
        row = Text.assemble(
            (self.glyphs.bar if chosen else " ", look("accent", on=on)),
            " " * (_TEXT_EDGE - 1),
            (line.name.ljust(_NAME_CELLS), look("text", on=on, bold=chosen)),
            style=look("text", on=on) if on else "",
        )
        source = Text(line.source, look("soft", on=on))
        room = width - _MARGIN - row.cell_len - source.cell_len - 4
        value = cut(clean(line.value), room, self.glyphs.more) or self.glyphs.none
        row.append(value, look("text" if line.source else "dim", on=on, bold=bool(line.source)))
        row.pad_right(max(width - _MARGIN - 2 - row.cell_len - source.cell_len, 1))
        row.append_text(source)
        row.pad_right(max(width - _MARGIN - row.cell_len, 0))
        return row

    def on_click(self, event: events.Click) -> None:
        line = self._lines[self._first + event.y] if self._first + event.y < len(self._lines) else ""
        if isinstance(line, Setting):
            self.move(self.settings.index(line) - self._place)

    def on_mouse_scroll_down(self) -> None:
        self.move(3)

    def on_mouse_scroll_up(self) -> None:
        self.move(-3)


class SettingDetail(RowWidget):
    """What the chosen setting means, its default, its values, and when a change takes effect."""

    def __init__(self, styles: Styles, glyphs: Glyphs) -> None:
        super().__init__(styles, glyphs, id="setting-detail")
        self._setting: Setting | None = None

    def show(self, setting: Setting) -> None:
        """Draw this setting."""
        self._setting = setting
        self.changed()

    def rows(self, width: int, height: int) -> list[Text]:
        setting = self._setting
        if setting is None:
            return []
        look, room = self.look, width - 2 * _TEXT_EDGE
        meaning = wrapped(setting.meaning, room, look("soft"))[:_MEANING_ROWS]
        meaning += [Text()] * (_MEANING_ROWS - len(meaning))
        default = f"default {setting.default or 'not set'}"
        effect = "takes effect at once" if setting.at_once else "takes effect at the next start"
        values = f"one of {', '.join(setting.choices)}" if setting.choices else ""
        facts = self.fact(*(Text(clean(words), look("dim")) for words in (default, effect, values) if words))
        return [indented(cut_row(row, room, self.glyphs.more), _TEXT_EDGE) for row in (*meaning, facts)]


def _lines(settings: Sequence[Setting]) -> list[Setting | str]:
    """The settings with a title above each group, and a blank line above that."""
    lines: list[Setting | str] = []
    group = ""
    for setting in settings:
        if setting.group != group:
            lines += ["", setting.group] if group else [setting.group]
            group = setting.group
        lines.append(setting)
    return lines
