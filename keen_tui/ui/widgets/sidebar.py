"""The right column: Activity above TurnMemory, and how they share its height."""

from __future__ import annotations

from textual import events
from textual.app import ComposeResult
from textual.containers import Vertical

from keen_tui.ui.glyphs import Glyphs
from keen_tui.ui.state import UiState
from keen_tui.ui.themes import Styles
from keen_tui.ui.widgets.activity import LEAST_ROWS, Activity
from keen_tui.ui.widgets.turn_memory import TurnMemoryPanel

_MEMORY_SHARE = 0.6


class Sidebar(Vertical):
    """Holds both instruments. `overlaid` says that they lie over the conversation."""

    def __init__(self, activity: Activity, turn_memory: TurnMemoryPanel) -> None:
        super().__init__(id="sidebar")
        self.activity = activity
        self.turn_memory = turn_memory

    def compose(self) -> ComposeResult:
        yield self.activity
        yield self.turn_memory

    def show(self, state: UiState) -> None:
        """Draw this state in both panels."""
        self.activity.show(state)
        self.turn_memory.show(state)
        self.share_height()

    def set_look(self, styles: Styles, glyphs: Glyphs) -> None:
        """Draw with another theme or another set of signs."""
        self.activity.set_look(styles, glyphs)
        self.turn_memory.set_look(styles, glyphs)

    def set_overlaid(self, overlaid: bool) -> None:
        """Lie over the conversation, or stand beside it."""
        self.set_class(overlaid, "-overlaid")
        for panel in (self.activity, self.turn_memory):
            panel.overlaid = overlaid
            panel.changed()

    def tick(self, beat: bool) -> None:
        """A second has passed."""
        self.activity.tick(beat)
        self.turn_memory.tick(beat)

    def share_height(self) -> None:
        """TurnMemory takes what it needs up to 60 %; Activity what it needs, at least 8 rows."""
        width, height = self.size
        if not height:
            return
        memory = self.turn_memory.wanted_height(width, height)
        if not self.turn_memory.folded:
            memory = min(memory, round(height * _MEMORY_SHARE))
            activity = min(height - memory, self.activity.wanted_height(width, height))
            memory = height - max(activity, LEAST_ROWS)
        memory = max(min(memory, height - 2), 2)
        if self.turn_memory.styles.height is None or self.turn_memory.styles.height.value != memory:
            self.turn_memory.styles.height = memory

    def on_resize(self, event: events.Resize) -> None:
        self.share_height()
