"""The list of settings: the common ones, the rest under their groups, and below what the chosen one means."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Final

from msgspec import Struct
from rich.cells import cell_len
from rich.text import Text

from keen_tui.domain.reports import Setting
from keen_tui.frontends.tui.look.cells import cut
from keen_tui.frontends.tui.look.glyphs import Glyphs
from keen_tui.frontends.tui.look.themes import Styles
from keen_tui.frontends.tui.pages.row_list import RowList
from keen_tui.frontends.tui.widgets.row_widget import GAP, indented, wrapped
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


class SettingList(RowList[_SettingLine]):
    """Shows the settings around the chosen one: the common ones until `unfold`, or those that fit what is
    `wanted`."""

    around = 1
    around_from = 2
    page = 10

    def __init__(self, styles: Styles, glyphs: Glyphs) -> None:
        super().__init__(styles, glyphs, self._row, key=_key, empty="No setting matches.", id="setting-list")
        self.settings: Sequence[Setting] = ()
        self.wanted = ""
        self._is_unfolded = False

    def can_be_chosen(self, line: _SettingLine) -> bool:
        return not isinstance(line, str)

    def has_mark(self, view: range) -> bool:
        return bool(view)

    def show(self, settings: Sequence[Setting], *, to_top: bool = False) -> None:
        """Draw these settings; the chosen one stays chosen."""
        self.settings = settings
        self.set_lines(list(self._made_lines()), to_top=to_top)

    def filter(self, wanted: str) -> None:
        """Show only what fits these words, the first of it chosen; all again if there are none."""
        self.wanted = wanted
        self.show(self.settings, to_top=True)

    def unfold(self) -> None:
        """Show the rest too. The first of it is chosen, in the place of the row that unfolds."""
        self._is_unfolded = True
        self.show(self.settings)

    def _made_lines(self) -> Iterator[_SettingLine]:
        """The settings that are shown, with a title above each group and a blank line above that."""
        if words := self.wanted.casefold().split():
            yield from _fitting(self.settings, words)
            return
        by_name = {setting.name: setting for setting in self.settings}
        yield from (by_name[name] for name in _COMMON if name in by_name)
        rest = [setting for setting in self.settings if setting.name not in _COMMON]
        if not self._is_unfolded:
            yield from ("", MoreSettings(len(rest)))
            return
        for group, settings in groupby(rest, lambda setting: setting.group):
            yield from ("", group, *settings)

    def _row(self, line: _SettingLine, cells: int, chosen: bool) -> Text:
        look, width = self.look, cells + 1 + _MARGIN
        if isinstance(line, str):
            return Text(f" {line}", look("dim"))
        name = (_name(line).ljust(_NAME_CELLS), look("text", bold=chosen))
        row = Text.assemble(" " * (_TEXT_EDGE - 1), name)
        if isinstance(line, MoreSettings):
            return row.append(counted(line.count, "setting"), look("dim"))
        value = cut(clean(line.value), _value_cells(line, width), self.glyphs.more) or self.glyphs.none
        row.append(value, look("text" if line.source else "dim", bold=bool(line.source)))
        if line.source:
            row.pad_right(max(cells - 2 - row.cell_len - cell_len(line.source), 1))
            row.append(line.source, look("soft"))
        return row


def detail_rows(setting: Setting | None, width: int, look: Styles) -> list[Text]:
    """Explains a setting: its meaning, its default, its values, and when a change takes effect; first its
    whole value, if the row has no room for it."""
    if setting is None:
        return [Text()] * _DETAIL_ROWS
    room, value = width - 2 * _TEXT_EDGE, clean(setting.value)
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
    return [indented(row, _TEXT_EDGE) for row in (*whole, *meaning, *gap, *facts)]


def _value_cells(setting: Setting, width: int) -> int:
    """Cells that the value has in the setting's row, between the name and the source."""
    before = _TEXT_EDGE + max(cell_len(setting.name), _NAME_CELLS)
    return width - _MARGIN - before - cell_len(setting.source) - 4


def _name(line: Setting | MoreSettings) -> str:
    return line.name if isinstance(line, Setting) else "more"


def _key(line: _SettingLine) -> object:
    return line.name if isinstance(line, Setting) else line


def _fitting(settings: Sequence[Setting], words: Sequence[str]) -> list[Setting]:
    """The settings that have all of the words in their names, then those that have them in what they mean."""
    named = [each for each in settings if all(word in each.name for word in words)]
    known = ((each, f"{each.group} {each.name} {each.meaning}".casefold()) for each in settings)
    meant = [each for each, text in known if all(word in text for word in words)]
    return [*named, *(each for each in meant if each not in named)]
