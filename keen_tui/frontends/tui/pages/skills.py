"""All skills: one row each, and below them what the chosen one is for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from msgspec.structs import replace
from rich.text import Text

from keen_tui.domain.errors import SessionRefused
from keen_tui.frontends.shared.commands.skills import unloaded_words
from keen_tui.frontends.shared.pages import ShownSkill
from keen_tui.frontends.tui.look.cells import cut
from keen_tui.frontends.tui.look.glyphs import Glyphs
from keen_tui.frontends.tui.look.themes import Styles
from keen_tui.frontends.tui.pages.key import MOVES, Key
from keen_tui.frontends.tui.pages.page_screen import PageScreen
from keen_tui.frontends.tui.pages.row_list import RowList
from keen_tui.frontends.tui.widgets.row_widget import (
    DrawnRows,
    cut_row,
    indented,
    join_facts,
    spread,
    wrapped,
)
from keen_tui.text.sanitize import clean
from keen_tui.text.units import counted, size

_EDGE: Final = 4
_MARGIN: Final = 2
_NAME_CELLS: Final = 22


class SkillsScreen(PageScreen[str | None]):
    """Dismissed with the name of a skill to call, or with None.

    `unload` may raise SessionRefused; None in a replay.
    """

    foot_edge = 0
    heading_edges = (_EDGE, _MARGIN)
    says = "elsewhere"

    def __init__(
        self,
        styles: Styles,
        glyphs: Glyphs,
        skills: Sequence[ShownSkill],
        unload: Callable[[str], None] | None,
    ) -> None:
        super().__init__(styles, glyphs)
        self._unload = unload
        self._list = RowList[ShownSkill](styles, glyphs, self._row, key=lambda skill: skill.name)
        self._list.page, self._list.mark_from = 10, 0
        self._list.set_lines(skills)
        self.body = self._list
        details = DrawnRows(styles, glyphs, self._details, id="skill-details")
        self.parts = (self.head, self._list, details, self.foot)

    def heading(self) -> tuple[Text, str]:
        look, skills = self.look, self._list.lines
        used = sum(skill.used_bytes is not None for skill in skills)
        count = Text(counted(len(skills), "skill"), look("text", bold=True))
        return join_facts(count, Text(f"{used} in use", look("dim"))), ""

    def keys(self) -> Sequence[Key]:
        chosen = self._list.line
        return (
            Key("escape", "back", self.leave, "q"),
            MOVES,
            Key("enter", f"write /{chosen.name}" if chosen.by_person else "", self._call),
            Key("page_forget", "" if chosen.used_bytes is None else "unload", self._forget),
        )

    def _row(self, skill: ShownSkill, width: int, chosen: bool) -> Text:
        look, glyphs = self.look, self.glyphs
        used = "" if skill.used_bytes is None else f"in use, {size(skill.used_bytes)}"
        left = Text.assemble(
            " ",
            (glyphs.skill if used else " ", look("accent")),
            " ",
            (cut(skill.name, _NAME_CELLS, glyphs.more).ljust(_NAME_CELLS), look("text", bold=chosen)),
            " ",
            (clean(skill.where), look("soft")),
        )
        return spread(left, Text(used, look("text")), width, glyphs.more)

    def _details(self, width: int, height: int) -> list[Text]:
        look, skill, inner = self.look, self._list.line, width - _EDGE - _MARGIN
        if self.sentence:
            rows = wrapped(clean(self.sentence), inner, look("soft"))
        else:
            description = wrapped(clean(skill.description), inner, look("soft"))
            rows = [row for row in description if row.plain][: 2 if skill.remarks else 4]
            rows.append(cut_row(Text(skill.used_by, look("dim")), inner, self.glyphs.more))
            rows += wrapped(clean("; ".join(skill.remarks)), inner, look("wait")) if skill.remarks else []
        return [indented(row, _EDGE) for row in rows]

    def _call(self) -> None:
        """Write the name of the skill into the composer."""
        if self._list.line.by_person:
            self.dismiss(self._list.line.name)

    def _forget(self) -> None:
        """Unload the chosen skill."""
        chosen = self._list.line
        if chosen.used_bytes is None or self._unload is None:
            return
        try:
            self._unload(chosen.name)
        except SessionRefused as refused:
            self.say(str(refused))
        else:
            unused = replace(chosen, used_bytes=None)
            self._list.set_lines([unused if skill is chosen else skill for skill in self._list.lines])
            self.say(unloaded_words(chosen.name))
