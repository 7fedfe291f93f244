"""Words are looked for in the session on the screen: the row that they are typed into opens and closes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.widget import Widget

from keen_tui.frontends.tui.look.glyphs import Glyphs
from keen_tui.frontends.tui.look.layout import is_displayed
from keen_tui.frontends.tui.look.themes import Styles
from keen_tui.frontends.tui.transcript.finding import Tally, Way
from keen_tui.frontends.tui.workspace.view import WorkspaceView

if TYPE_CHECKING:
    from keen_tui.frontends.tui.workspace.find_bar import FindBar


class FindRow:
    """The row above the composer; it is closed at the hit, or where one was before."""

    def __init__(self, view: WorkspaceView) -> None:
        self._view = view
        self._bar: FindBar | None = None
        self._focused_before: Widget | None = None
        self._looked_for = ""

    async def toggle(self, words: str = "") -> None:
        """Look for words; from the row that they are typed into, go back to where one was."""
        bar = self._bar
        if bar is None:
            await self._open(words)
        elif words:
            bar.field.write(words)
            self._view.set_focus(bar.field)
        elif bar.field.has_focus:
            self._close(stay=False)
        else:
            self._view.set_focus(bar.field)

    def step(self, way: Way) -> None:
        """Show the next hit above (-1) or below (1)."""
        self.follow_field()
        self._view.transcript.finding.show_next(way)

    def show_turn(self, turn: int, words: str = "") -> bool:
        """Show a turn, and the words in it. False: it is not there, or not yet."""
        if not self._view.transcript.reveal(turn):
            return False
        if words:
            self._view.call_next(self._find_in, turn, words)
        return True

    def leave(self) -> bool:
        """esc: stay at the hit. False where it means something else: a turn to stop, a question to answer."""
        view = self._view
        is_ours = not (view.session.running or view.question_pane.question)
        if self._bar is None or not (is_ours or view.focused_place == "search"):
            return False
        self._close(stay=True)
        return True

    def set_look(self, styles: Styles, glyphs: Glyphs) -> None:
        """Draw it with another theme or another set of signs."""
        if self._bar:
            self._bar.set_look(styles, glyphs)

    def count(self, tally: Tally) -> None:
        """The words were found so often."""
        if self._bar:
            self._bar.show(tally)

    def follow_field(self) -> None:
        """Look for what stands in the row now: keys may be ahead of the message that it changed."""
        if self._bar and self._bar.field.value != self._looked_for:
            self._looked_for = self._bar.field.value
            self._view.transcript.finding.find(self._looked_for)

    async def _find_in(self, turn: int, words: str) -> None:
        """Look for words, in that turn first. They were found: the focus stays where one writes."""
        self._looked_for = words
        self._view.transcript.finding.find(words, turn=turn)
        if self._bar:
            self._bar.field.write(words)
        else:
            await self._open(words, focus=False)

    async def _open(self, words: str, *, focus: bool = True) -> None:
        """Letters typed meanwhile wait: the app goes on with the next key when this is done."""
        from keen_tui.frontends.tui.workspace.find_bar import FindBar  # noqa: PLC0415 - not before the first paint

        view = self._view
        self._focused_before = view.focused
        bar = self._bar = FindBar(view.look, view.glyphs, words=words)
        await view.conversation.mount(bar, before=view.composer)
        if focus:
            view.set_focus(bar.field)
        self.follow_field()

    def _close(self, *, stay: bool) -> None:
        bar, self._bar = self._bar, None
        before, self._focused_before, self._looked_for = self._focused_before, None, ""
        self._view.transcript.finding.stop(stay=stay)
        if bar:
            bar.remove()
        if before and is_displayed(before) and not self._view.question_pane.question:
            self._view.set_focus(before)
        else:
            self._view.focus_input()
