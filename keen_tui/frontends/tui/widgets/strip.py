"""One row above the composer while the panels are out of sight: what runs, and what is remembered."""

from __future__ import annotations

import time
from collections.abc import Callable

from rich.text import Text

from keen_tui.frontends.tui.look.cells import cut, cut_target
from keen_tui.frontends.tui.look.glyphs import Glyphs
from keen_tui.frontends.tui.look.themes import Styles
from keen_tui.frontends.tui.state.state import UiState
from keen_tui.frontends.tui.widgets.phrases import (
    QUIET_SECONDS,
    doing,
    memory_counts,
    running_tool,
    tool_name,
)
from keen_tui.frontends.tui.widgets.row_widget import RowWidget, indented, spread
from keen_tui.text.sanitize import clean
from keen_tui.text.units import counted, duration

_SIDE = 2
_TARGET_CELLS = 24
_ROOM_FOR_TODOS = 72
"""Columns from which on the todo list is counted too."""


class Strip(RowWidget):
    """Draws the state it is given with `show`."""

    def __init__(
        self, styles: Styles, glyphs: Glyphs, *, clock: Callable[[], float] = time.monotonic
    ) -> None:
        super().__init__(styles, glyphs, id="strip")
        self._clock = clock
        self._state = UiState()
        self._beat = True

    def show(self, state: UiState) -> None:
        """Draw this state."""
        old, self._state = self._state, state
        if _told(old) != _told(state):
            self.changed()

    def tick(self, beat: bool) -> None:
        """A second has passed."""
        self._beat = beat
        self.changed()

    def rows(self, width: int, height: int) -> list[Text]:
        if not self._state.turns:
            return [Text()]
        look = self.look
        counts = memory_counts(self._state.turns[-1].memory, look, self.glyphs)
        memory = Text.assemble(("memory ", look("dim")), counts)
        right = self.fact(memory, self.hint("sidebar"))
        todos = self._state.todos
        if todos.is_open and width >= _ROOM_FOR_TODOS:
            right = self.fact(Text.assemble(("todo ", look("dim")), (todos.progress, look("text"))), right)
        if width < 60:
            right = memory
        return [indented(spread(self._doing(), right, width - 2 * _SIDE, self.glyphs.more), _SIDE)]

    def _doing(self) -> Text:
        state, look, glyphs = self._state, self.look, self.glyphs
        turn = state.turns[-1]
        number = Text(f"turn {turn.turn}", look("dim"))
        if not state.running:
            calls = Text(counted(turn.calls, "call"), look("dim"))
            return Text.assemble("  ", self.fact(number, calls, Text(duration(turn.seconds), look("dim"))))
        now = self._clock()
        elapsed = state.turn_seconds(now) if state.turn_running else now - state.phase_since
        seconds = Text(duration(elapsed, running=True), look("dim"))
        if state.phase == "asking":
            mark = Text(glyphs.asks, look("wait", bold=True))
        else:
            mark = Text(glyphs.running if self._beat else glyphs.running_alt, look("accent"))
        return Text.assemble(
            mark, " ", self.fact(*self._words(), number if state.turn_running else Text(), seconds)
        )

    def _words(self) -> tuple[Text, Text]:
        """Returns the current activity, and, if the model takes long, for how many seconds."""
        state, look = self._state, self.look
        if state.hook:
            return Text(f"hook {cut(state.hook, _TARGET_CELLS, self.glyphs.more)}", look("text")), Text()
        if tool := running_tool(state.live):
            target = cut_target(tool.name, clean(tool.target), _TARGET_CELLS, self.glyphs.more)
            return Text(f"{tool_name(clean(tool.name))} {target}", look("text")), Text()
        now = doing(state, self._clock())
        long = now.seconds >= QUIET_SECONDS and state.phase in ("waiting", "thinking", "answering")
        seconds = now.clock if long and not now.silent else ""
        return Text(now.sentence, look("soft" if now.silent else "text")), Text(seconds, look("dim"))


def _told(state: UiState) -> tuple[object, ...]:
    """Returns the parts of the state that the strip shows, to compare them."""
    blocks = len(state.past) + len(state.live)
    return state.phase, state.turns, blocks, state.todos, state.hook
