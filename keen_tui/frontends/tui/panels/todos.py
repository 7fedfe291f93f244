"""The todo list of the model, between Activity and TurnMemory for as long as something in it is open."""

from __future__ import annotations

from collections.abc import Sequence

from rich.text import Text

from keen_tui.domain.display import TodoItem
from keen_tui.frontends.tui.look.glyphs import Glyphs
from keen_tui.frontends.tui.look.themes import Styles
from keen_tui.frontends.tui.panels.entries import PanelEntry
from keen_tui.frontends.tui.panels.panel import Panel, PanelStyle
from keen_tui.frontends.tui.state.state import Todos, UiState
from keen_tui.frontends.tui.tool_views.todos import todo_mark
from keen_tui.frontends.tui.widgets.row_widget import cut_row
from keen_tui.text.sanitize import clean

_HEAD = 3
_ROOMY = 30
"""Rows of the column from which on there is a blank one below the list too."""
_SHARE = 3
"""A third of the column is the most that it takes."""


class TodoPanel(Panel, can_focus=False):
    """Shows the list around the item that is worked on; a click leads to the call that wrote it."""

    def __init__(self, styles: Styles, glyphs: Glyphs) -> None:
        super().__init__(styles, glyphs, id="todos")
        self._todos = Todos()
        self._runs = False

    def show(self, state: UiState) -> None:
        """Draw the list of this state."""
        if (state.todos, state.turn_running) != (self._todos, self._runs):
            self._todos, self._runs = state.todos, state.turn_running
            self.changed()

    def height_in(self, column: int) -> int:
        """Rows that it takes of a column with that many: 0 while nothing is open."""
        if not self._todos.is_open:
            return 0
        foot = 1 if column >= _ROOMY else 0
        return _HEAD + min(len(self._todos.items), max(column // _SHARE - _HEAD - foot, 1)) + foot

    def title_row(self, width: int) -> Text:
        progress = Text(self._todos.progress, self.look("dim"))
        return PanelStyle(self.look, self.glyphs).title("Todo", progress, width)

    def entries(self, width: int) -> Sequence[PanelEntry]:
        items = self._todos.items
        room = max(self.size.height - _HEAD - 1, 1)
        current = next((place for place, item in enumerate(items) if item.status != "done"), 0)
        first = max(min(current - 1, len(items) - room), 0)
        return [
            PanelEntry(rows=(self._row(item, width),), turn=self._todos.turn, call_id=self._todos.call_id)
            for item in items[first:]
        ]

    def _row(self, item: TodoItem, width: int) -> Text:
        glyph, role, text_role = todo_mark(item.status, self.glyphs)
        is_at_work = item.status == "in_progress" and self._runs
        style = PanelStyle(self.look, self.glyphs, self.beat)
        mark = style.dot if is_at_work else Text(glyph, self.look(role))
        text = Text(clean(item.text), self.look(text_role, bold=is_at_work))
        return cut_row(Text.assemble(mark, " ", text), width, self.glyphs.more)
