"""The part of the workspace that looks for words in the session on the screen."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual import on
from textual.widget import Widget

from keen_tui.frontends.tui.look.glyphs import Glyphs
from keen_tui.frontends.tui.look.layout import is_displayed
from keen_tui.frontends.tui.look.themes import Styles
from keen_tui.frontends.tui.transcript.finding import Way
from keen_tui.frontends.tui.transcript.messages import HitsCounted
from keen_tui.frontends.tui.workspace.stage import Stage

if TYPE_CHECKING:
    from keen_tui.frontends.tui.widgets.find_bar import FindBar


class FindActions(Stage):
    """Opens the row that words are typed into, and closes it: at the hit, or where one was before."""

    _find_bar: FindBar | None = None
    _focused_before: Widget | None = None
    _looked_for = ""

    async def action_find(self, words: str = "") -> None:
        """Look for words; from the row that they are typed into, go back to where one was."""
        bar = self._find_bar
        if bar is None:
            await self._open_find(words)
        elif words:
            bar.field.write(words)
            self.set_focus(bar.field)
        elif bar.field.has_focus:
            self._close_find(stay=False)
        else:
            self.set_focus(bar.field)

    def action_find_older(self) -> None:
        """Show the next hit above."""
        self._step(-1)

    def action_find_newer(self) -> None:
        """Show the next hit below."""
        self._step(1)

    def show_turn(self, turn: int, words: str = "") -> bool:
        """Show a turn, and the words in it. False: it is not there, or not yet."""
        if not self.transcript.reveal(turn):
            return False
        if words:
            self.call_next(self._find_in, turn, words)
        return True

    def leave_find(self) -> bool:
        """esc: stay at the hit. False where it means something else: a turn to stop, a question to answer."""
        is_ours = not (self.session.running or self.question_pane.question)
        if self._find_bar is None or not (is_ours or self.focused_place == "search"):
            return False
        self._close_find(stay=True)
        return True

    def set_look(self, styles: Styles, glyphs: Glyphs) -> None:
        super().set_look(styles, glyphs)
        if self._find_bar:
            self._find_bar.set_look(styles, glyphs)

    def on_find_bar_wanted(self) -> None:
        """Other words stand in the row."""
        self._follow_field()

    @on(HitsCounted)
    def _tell_found(self, message: HitsCounted) -> None:
        if self._find_bar:
            self._find_bar.show(message.tally)

    def _follow_field(self) -> None:
        """Look for what stands in the row now: keys may be ahead of the message that it changed."""
        if self._find_bar and self._find_bar.field.value != self._looked_for:
            self._looked_for = self._find_bar.field.value
            self.transcript.finding.find(self._looked_for)

    def _step(self, way: Way) -> None:
        self._follow_field()
        self.transcript.finding.show_next(way)

    async def _find_in(self, turn: int, words: str) -> None:
        """Look for words, in that turn first. They were found: the focus stays where one writes."""
        self._looked_for = words
        self.transcript.finding.find(words, turn=turn)
        if self._find_bar:
            self._find_bar.field.write(words)
        else:
            await self._open_find(words, focus=False)

    async def _open_find(self, words: str, *, focus: bool = True) -> None:
        """Letters typed meanwhile wait: the app goes on with the next key when this is done."""
        from keen_tui.frontends.tui.widgets.find_bar import FindBar  # noqa: PLC0415 - not before the first paint

        self._focused_before = self.focused
        bar = self._find_bar = FindBar(self.status.look, self.status.glyphs, words=words)
        await self.query_one("#conversation").mount(bar, before=self.composer)
        if focus:
            self.set_focus(bar.field)
        self._follow_field()

    def _close_find(self, *, stay: bool) -> None:
        bar, self._find_bar = self._find_bar, None
        before, self._focused_before, self._looked_for = self._focused_before, None, ""
        self.transcript.finding.stop(stay=stay)
        if bar:
            bar.remove()
        if before and is_displayed(before) and not self.question_pane.question:
            self.set_focus(before)
        else:
            self.focus_input()
