"""The row above the composer that words to look for are typed into, with how often they were found."""

from __future__ import annotations

from rich.text import Text
from textual import on
from textual.app import ComposeResult
from textual.message import Message
from textual.widgets import Input

from keen_tui.frontends.tui.keys.keymap import action_by_key, run_by_id
from keen_tui.frontends.tui.look.glyphs import Glyphs
from keen_tui.frontends.tui.look.themes import Styles
from keen_tui.frontends.tui.transcript.finding import Tally
from keen_tui.frontends.tui.widgets.field import Field
from keen_tui.frontends.tui.widgets.row_widget import RowWidget, spread

_LABEL_EDGE = 4
_RIGHT_MARGIN = 4
_NARROW = 80
"""Columns below which only the numbers are told: the field takes 45 % (keen.tcss)."""


class FindBar(RowWidget):
    """Draws bar and tally around the field."""

    class Wanted(Message):
        """Other words stand in the field."""

    def __init__(self, styles: Styles, glyphs: Glyphs, *, words: str = "") -> None:
        super().__init__(styles, glyphs, id="find-bar")
        self.field = Field(self._press, id="find-field", value=words, placeholder="words in this session")
        self._tally = Tally()

    def compose(self) -> ComposeResult:
        yield self.field

    def on_mount(self) -> None:
        self.watch(self.field, "has_focus", lambda: self.changed(), init=False)

    def show(self, tally: Tally) -> None:
        """Say where one stands among the hits."""
        self._tally = tally
        self.changed()

    def on_click(self) -> None:
        self.field.focus()

    async def _press(self, key: str) -> bool:
        if action_id := action_by_key("search").get(key):
            await self.screen.run_action(run_by_id(action_id))
        return bool(action_id)

    def rows(self, width: int, height: int) -> list[Text]:
        bar = Text(self.glyphs.bar, self.look("accent" if self.field.has_focus else "edge"))
        left = Text.assemble(bar, " " * (_LABEL_EDGE - 1), ("find", self.look("soft")))
        told = self._told(narrow=width < _NARROW)
        return [spread(left, told, width - _RIGHT_MARGIN, self.glyphs.more)]

    @on(Input.Changed, "#find-field")
    def _wanted(self, changed: Input.Changed) -> None:
        changed.stop()
        self.post_message(self.Wanted())

    def _told(self, *, narrow: bool) -> Text:
        number, total, unfinished, wrapped = self._tally
        look = self.look
        if not self.field.value.strip():
            return Text()
        if unfinished:
            return Text(f"{total:,} so far" if total else "searching", look("dim"))
        if not total:
            return Text("none" if narrow else "no matches", look("soft"))
        went_on = {0: "", -1: "from the end", 1: "from the top"}[wrapped]
        where = Text("" if narrow else went_on, look("dim"))
        facts = self.fact(where, Text(f"{number:,} of {total:,}", look("text", bold=True)))
        return facts if narrow or self.field.has_focus else self.fact(facts, self.hint("find"))
