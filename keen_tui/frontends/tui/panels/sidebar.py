"""The right column: Activity, the todo list, TurnMemory, and how they share its height."""

from __future__ import annotations

from textual import events, on
from textual.app import ComposeResult
from textual.widget import Widget

from keen_tui.frontends.tui.look.glyphs import Glyphs
from keen_tui.frontends.tui.look.themes import Styles
from keen_tui.frontends.tui.panels.activity import LEAST_ROWS, SHORT_ROWS, Activity
from keen_tui.frontends.tui.panels.todos import TodoPanel
from keen_tui.frontends.tui.panels.turn_memory import TurnMemoryPanel
from keen_tui.frontends.tui.state.state import UiState
from keen_tui.frontends.tui.terminal.laid_out_once import PaneColumn

_MEMORY_SHARE = 0.6


class Sidebar(PaneColumn):
    """Holds the instruments. `overlaid` says that they lie over the conversation."""

    def __init__(self, activity: Activity, todos: TodoPanel, turn_memory: TurnMemoryPanel) -> None:
        super().__init__(id="sidebar")
        self.activity = activity
        self.todos = todos
        self.turn_memory = turn_memory

    def compose(self) -> ComposeResult:
        yield self.activity
        yield self.todos
        yield self.turn_memory

    def show(self, state: UiState) -> None:
        """Draw this state in all panels."""
        self.activity.show(state)
        self.todos.show(state)
        self.turn_memory.show(state)
        self.share_height()

    def set_look(self, styles: Styles, glyphs: Glyphs) -> None:
        """Draw with another theme or another set of signs."""
        self.activity.set_look(styles, glyphs)
        self.todos.set_look(styles, glyphs)
        self.turn_memory.set_look(styles, glyphs)

    def set_overlaid(self, overlaid: bool) -> None:
        """Lie over the conversation, or stand beside it."""
        self.set_class(overlaid, "-overlaid")
        for panel in (self.activity, self.todos, self.turn_memory):
            panel.overlaid = overlaid
            panel.changed()

    def tick(self, beat: bool) -> None:
        """A second has passed."""
        self.activity.tick(beat)
        self.todos.tick(beat)
        self.share_height()

    def set_activity_folds(self, folds: bool) -> None:
        """Let Activity have a single row while calls are quick, or show all of it."""
        self.activity.set_folds(folds)
        self.share_height()

    def set_end_in_view(self, in_view: bool) -> None:
        """The transcript has its end in view, or not."""
        self.activity.set_end_in_view(in_view)
        self.share_height()

    def fold_memory(self) -> None:
        """Fold or unfold TurnMemory."""
        self.turn_memory.folded = not self.turn_memory.folded
        self.share_height()

    def share_height(self) -> None:
        """The todo list takes up to a third while something is open. Of the rest TurnMemory takes what it
        needs up to 60 %; Activity what it needs, at least 8 rows, or one row with its title."""
        width, height = self.size
        if not height:
            return
        height -= self._share_with_todos(height)
        memory = self.turn_memory.wanted_height(width, height)
        if not self.turn_memory.folded:
            memory = min(memory, round(height * _MEMORY_SHARE))
            activity = min(height - memory, self.activity.wanted_height(width, height))
            memory = height - max(activity, SHORT_ROWS if self.activity.is_short else LEAST_ROWS)
        memory = max(min(memory, height - 2), 2)
        _set_height(self.turn_memory, memory)

    def _share_with_todos(self, height: int) -> int:
        wanted = self.todos.height_in(height)
        self.todos.display = wanted > 0
        _set_height(self.todos, max(wanted, 1))
        return wanted

    def on_resize(self, event: events.Resize) -> None:
        self.share_height()

    @on(events.DescendantFocus)
    @on(events.DescendantBlur)
    def _focus_moved(self) -> None:
        self.share_height()


def _set_height(panel: Widget, rows: int) -> None:
    if panel.styles.height is None or panel.styles.height.value != rows:
        panel.styles.height = rows
