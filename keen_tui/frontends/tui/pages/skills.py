"""All skills: one row each, and below them what the chosen one is for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import ClassVar, Final

from msgspec.structs import replace
from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType

from keen_tui.domain.errors import SessionRefused
from keen_tui.frontends.shared.commands.skills import unloaded_words
from keen_tui.frontends.shared.pages import ShownSkill
from keen_tui.frontends.tui.keys.keymap import same_key
from keen_tui.frontends.tui.look.cells import cut
from keen_tui.frontends.tui.look.glyphs import Glyphs
from keen_tui.frontends.tui.look.themes import Styles
from keen_tui.frontends.tui.terminal.laid_out_once import KeenScreen
from keen_tui.frontends.tui.widgets.row_widget import RowWidget, cut_row, indented, spread, wrapped
from keen_tui.text.sanitize import clean
from keen_tui.text.units import counted, size

_EDGE: Final = 4
_MARGIN: Final = 2
_LOW: Final = 16
"""Rows of the terminal below which no blank ones stand between the parts of the page."""
_DETAIL: Final = 7
"""Rows below the list; four in a low terminal."""
_NAME_CELLS: Final = 22


class SkillRows(RowWidget):
    """The list around the chosen skill, its details, and the keys."""

    def __init__(self, styles: Styles, glyphs: Glyphs, skills: Sequence[ShownSkill]) -> None:
        super().__init__(styles, glyphs, id="skill-rows")
        self.skills = list(skills)
        self.sentence = ""
        self._place = 0
        self._first = 0

    @property
    def chosen(self) -> ShownSkill:
        """The skill that keys act on."""
        return self.skills[self._place]

    def move(self, step: int) -> None:
        """Choose a skill further up or down."""
        self._place = min(max(self._place + step, 0), len(self.skills) - 1)
        self.sentence = ""
        self.changed()

    def note_unloaded(self, sentence: str) -> None:
        """The chosen skill isn't in use any more, and the sentence says so."""
        self.skills[self._place] = replace(self.chosen, used_bytes=None)
        self.say(sentence)

    def say(self, sentence: str) -> None:
        """Show a sentence in the place of the details."""
        self.sentence = sentence
        self.changed()

    def rows(self, width: int, height: int) -> list[Text]:
        gap = [Text()] if height >= _LOW else []
        details = _DETAIL if gap else 4
        room = max(height - 2 - 3 * len(gap) - details, 1)
        self._first = max(min(self._first, self._place), self._place - room + 1)
        self._first = max(min(self._first, len(self.skills) - room), 0)
        seen = [self._row(skill, width) for skill in self.skills[self._first : self._first + room]]
        seen += [Text()] * (room - len(seen))
        inner = width - _EDGE - _MARGIN
        below = [indented(row, _EDGE) for row in self._details(inner)[:details]]
        below += [Text()] * (details - len(below))
        return [*gap, indented(self._title(inner), _EDGE), *gap, *seen, *gap, *below, self._foot()]

    def _title(self, width: int) -> Text:
        used = [skill for skill in self.skills if skill.used_bytes is not None]
        count = counted(len(self.skills), "skill")
        words = self.fact(
            Text(count, self.look("text", bold=True)), Text(f"{len(used)} in use", self.look("dim"))
        )
        return cut_row(words, width, self.glyphs.more)

    def _row(self, skill: ShownSkill, width: int) -> Text:
        chosen = skill is self.chosen
        look, glyphs, on = self.look, self.glyphs, "raised" if chosen else None
        used = "" if skill.used_bytes is None else f"in use, {size(skill.used_bytes)}"
        left = Text.assemble(
            (glyphs.bar if chosen else " ", look("accent", on=on)),
            " ",
            (glyphs.skill if used else " ", look("accent", on=on)),
            " ",
            (cut(skill.name, _NAME_CELLS, glyphs.more).ljust(_NAME_CELLS), look("text", on=on, bold=chosen)),
            " ",
            (clean(skill.where), look("soft", on=on)),
            style=look("text", on=on) if on else "",
        )
        return spread(left, Text(used, look("text", on=on)), width - _MARGIN, glyphs.more)

    def _details(self, width: int) -> list[Text]:
        look, skill = self.look, self.chosen
        if self.sentence:
            return wrapped(clean(self.sentence), width, look("soft"))
        *rows, last = (*wrapped(clean(skill.description), width, look("soft")), Text())
        room = 2 if skill.remarks else 4
        rows = [row for row in (*rows, last) if row.plain][:room]
        rows.append(cut_row(Text(skill.used_by, look("dim")), width, self.glyphs.more))
        rows += wrapped(clean("; ".join(skill.remarks)), width, look("wait")) if skill.remarks else []
        return rows

    def _foot(self) -> Text:
        hints = [self.key_hint("esc", "back")]
        if self.chosen.by_person:
            hints.append(self.key_hint("enter", f"write /{self.chosen.name}"))
        if self.chosen.used_bytes is not None:
            hints.append(self.hint("page_forget", "unload"))
        return indented(self.fact(*hints), _MARGIN)


class SkillsScreen(KeenScreen[str | None]):
    """Dismissed with the name of a skill to call, or with None.

    `unload` may raise SessionRefused; None in a replay.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q", "dismiss", show=False),
        Binding("up", "move(-1)", show=False),
        Binding("down", "move(1)", show=False),
        Binding("pageup", "move(-10)", show=False),
        Binding("pagedown", "move(10)", show=False),
        Binding("home", "move(-1000000)", show=False),
        Binding("end", "move(1000000)", show=False),
        Binding("enter", "call", show=False),
        same_key("page_forget", "unload"),
    ]

    def __init__(
        self,
        styles: Styles,
        glyphs: Glyphs,
        skills: Sequence[ShownSkill],
        unload: Callable[[str], None] | None,
    ) -> None:
        super().__init__()
        self.table = SkillRows(styles, glyphs, skills)
        self._unload = unload

    def compose(self) -> ComposeResult:
        yield self.table

    def action_move(self, step: int) -> None:
        """Choose another skill."""
        self.table.move(step)

    def action_call(self) -> None:
        """Write the name of the skill into the composer."""
        if self.table.chosen.by_person:
            self.dismiss(self.table.chosen.name)

    def action_unload(self) -> None:
        """Unload the chosen skill."""
        chosen = self.table.chosen
        if chosen.used_bytes is None or self._unload is None:
            return
        try:
            self._unload(chosen.name)
        except SessionRefused as refused:
            self.table.say(str(refused))
        else:
            self.table.note_unloaded(unloaded_words(chosen.name))
