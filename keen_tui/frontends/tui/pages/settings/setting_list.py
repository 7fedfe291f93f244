"""The list of settings: the common ones, the rest under their groups, and below what the chosen one means."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Final

from msgspec import Struct
from rich.cells import cell_len
from rich.text import Text
from textual import events
from textual.message import Message

from keen_tui.domain.reports import Setting
from keen_tui.frontends.tui.look.cells import cut
from keen_tui.frontends.tui.look.glyphs import Glyphs
from keen_tui.frontends.tui.look.themes import Styles
from keen_tui.frontends.tui.widgets.row_widget import GAP, RowWidget, indented, spread, wrapped
from keen_tui.text.sanitize import clean
from keen_tui.text.units import counted

_TEXT_EDGE: Final = 4
_MARGIN: Final = 2
_NAME_CELLS: Final = 21
_DETAIL_ROWS: Final = 3
"""Rows of what the chosen setting means, at least, so that the list seldom moves."""
_COMMON: Final = ("model", "effort", "mode", "theme", "notify", "memory.policy")
"""The settings that people change, in the order in which they are shown."""


class MoreSettings(Struct, frozen=True):
    """The row that unfolds the rest: so many settings."""

    count: int


_SettingLine = Setting | MoreSettings | str


class SettingList(RowWidget):
    """Shows the settings around the chosen one: the common ones until `unfold`, or those that fit what is
    `wanted`."""

    class Moved(Message):
        """Another setting was chosen."""

    def __init__(self, styles: Styles, glyphs: Glyphs) -> None:
        super().__init__(styles, glyphs, id="setting-list")
        self.settings: Sequence[Setting] = ()
        self.wanted = ""
        self.is_unfolded = False
        self._place = 0
        self._first = 0
        self._lines: list[_SettingLine] = []

    @property
    def chosen(self) -> Setting | MoreSettings | None:
        """The chosen row, None if no setting fits the typed text."""
        found = self._found
        return found[self._place] if found else None

    @property
    def _found(self) -> list[Setting | MoreSettings]:
        return [line for line in self._lines if not isinstance(line, str)]

    def show(self, settings: Sequence[Setting]) -> None:
        """Draw these settings; the chosen one stays chosen."""
        self.settings = settings
        self._lines = list(self._made_lines())
        self.changed()

    def filter(self, wanted: str) -> None:
        """Show only what fits these words, the first of it chosen; all again if there are none."""
        self.wanted, self._place, self._first = wanted, 0, 0
        self.show(self.settings)
        self.post_message(self.Moved())

    def unfold(self) -> None:
        """Show the rest too. The first of it is chosen, in the place of the row that unfolds."""
        self.is_unfolded = True
        self.show(self.settings)
        self.post_message(self.Moved())

    def move(self, step: int) -> None:
        """Choose a row further up or down."""
        place = min(max(self._place + step, 0), max(len(self._found) - 1, 0))
        if place != self._place:
            self._place = place
            self.changed()
            self.post_message(self.Moved())

    def _made_lines(self) -> Iterator[_SettingLine]:
        """The settings that are shown, with a title above each group and a blank line above that."""
        if words := self.wanted.casefold().split():
            yield from _fitting(self.settings, words)
            return
        by_name = {setting.name: setting for setting in self.settings}
        yield from (by_name[name] for name in _COMMON if name in by_name)
        rest = [setting for setting in self.settings if setting.name not in _COMMON]
        if not self.is_unfolded:
            yield from ("", MoreSettings(len(rest)))
            return
        for group, settings in groupby(rest, lambda setting: setting.group):
            yield from ("", group, *settings)

    def rows(self, width: int, height: int) -> list[Text]:
        if self.chosen is None:
            return [indented(Text("No setting matches.", self.look("soft")), _TEXT_EDGE)]
        at = self._lines.index(self.chosen)
        self._first = max(min(self._first, at - 1), at - height + 2)
        self._first = max(min(self._first, len(self._lines) - height), 0)
        seen = self._lines[self._first : self._first + height]
        rows = [self._row(line, width) for line in seen]
        below = sum(not isinstance(line, str) for line in self._lines[self._first + height :])
        if below and rows:
            mark = Text(f"{self.glyphs.down} {below} below", self.look("soft"))
            rows[-1].rstrip()
            rows[-1] = spread(rows[-1], mark, width - _MARGIN, self.glyphs.more)
        return rows

    def _row(self, line: _SettingLine, width: int) -> Text:
        look = self.look
        if isinstance(line, str):
            return indented(Text(line, look("dim")), _TEXT_EDGE - 2)
        chosen = line is self.chosen
        on = "raised" if chosen else None
        row = Text.assemble(
            (self.glyphs.bar if chosen else " ", look("accent", on=on)),
            " " * (_TEXT_EDGE - 1),
            (_name(line).ljust(_NAME_CELLS), look("text", on=on, bold=chosen)),
            style=look("text", on=on) if on else "",
        )
        if isinstance(line, MoreSettings):
            row.append(counted(line.count, "setting"), look("dim", on=on))
            row.pad_right(max(width - _MARGIN - row.cell_len, 0))
            return row
        source = Text(line.source, look("soft", on=on))
        value = cut(clean(line.value), _value_cells(line, width), self.glyphs.more) or self.glyphs.none
        row.append(value, look("text" if line.source else "dim", on=on, bold=bool(line.source)))
        row.pad_right(max(width - _MARGIN - 2 - row.cell_len - source.cell_len, 1))
        row.append_text(source)
        row.pad_right(max(width - _MARGIN - row.cell_len, 0))
        return row

    def on_click(self, event: events.Click) -> None:
        line = self._lines[self._first + event.y] if self._first + event.y < len(self._lines) else ""
        if isinstance(line, MoreSettings):
            self.unfold()
        elif isinstance(line, Setting):
            self.move(self._found.index(line) - self._place)

    def on_mouse_scroll_down(self) -> None:
        self.move(3)

    def on_mouse_scroll_up(self) -> None:
        self.move(-3)


class SettingDetail(RowWidget):
    """Explains the chosen setting: its meaning, its default, its values, and when a change takes effect;
    first its whole value, if the row has no room for it. It takes half of the terminal at most."""

    def __init__(self, styles: Styles, glyphs: Glyphs) -> None:
        super().__init__(styles, glyphs, id="setting-detail")
        self._setting: Setting | None = None

    def show(self, setting: Setting | None) -> None:
        """Draw this setting, or nothing."""
        self._setting = setting
        self.changed(layout=True)

    def rows(self, width: int, height: int) -> list[Text]:
        setting = self._setting
        if setting is None:
            return [Text()] * _DETAIL_ROWS
        look, room = self.look, width - 2 * _TEXT_EDGE
        value = clean(setting.value)
        whole = wrapped(value, room, look("text")) if cell_len(value) > _value_cells(setting, width) else []
        meaning = wrapped(setting.meaning, room, look("soft"))
        default = f"default {setting.default or 'not set'}"
        effect = "takes effect at once" if setting.at_once else "takes effect at the next start"
        values = f"one of {', '.join(setting.choices)}" if setting.choices else ""
        lines: list[str] = []
        for fact in (clean(words) for words in (default, effect, values) if words):
            if lines and cell_len(lines[-1] + GAP + fact) <= room:
                lines[-1] += GAP + fact
            else:
                lines.append(fact)
        facts = [row for line in lines for row in wrapped(line, room, look("dim"))]
        gap = [Text()] * (_DETAIL_ROWS - len(meaning) - len(facts))
        most = self.app.size.height // 2 + 1
        return [indented(row, _TEXT_EDGE) for row in (*whole, *meaning, *gap, *facts)][:most]


def _value_cells(setting: Setting, width: int) -> int:
    """Cells that the value has in the setting's row, between the name and the source."""
    before = _TEXT_EDGE + max(cell_len(setting.name), _NAME_CELLS)
    return width - _MARGIN - before - cell_len(setting.source) - 4


def _name(line: Setting | MoreSettings) -> str:
    return line.name if isinstance(line, Setting) else "more"


def _fitting(settings: Sequence[Setting], words: Sequence[str]) -> list[Setting]:
    """The settings that have all of the words in their names, then those that have them in what they mean."""
    named = [each for each in settings if all(word in each.name for word in words)]
    known = ((each, f"{each.group} {each.name} {each.meaning}".casefold()) for each in settings)
    meant = [each for each, text in known if all(word in text for word in words)]
    return [*named, *(each for each in meant if each not in named)]
