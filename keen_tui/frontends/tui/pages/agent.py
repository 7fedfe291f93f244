"""The transcript of a sub-agent, live while it works."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import ClassVar

from msgspec.structs import replace
from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType

from keen_tui.domain.agents import WatchedAgent
from keen_tui.frontends.shared.agents_port import AgentsPort
from keen_tui.frontends.tui.keys.keymap import same_key, shown
from keen_tui.frontends.tui.look.glyphs import Glyphs
from keen_tui.frontends.tui.look.themes import Styles
from keen_tui.frontends.tui.state.reducer import apply_all
from keen_tui.frontends.tui.state.state import UiState
from keen_tui.frontends.tui.terminal import background
from keen_tui.frontends.tui.terminal.compositor import paint_frugally
from keen_tui.frontends.tui.terminal.laid_out_once import KeenScreen
from keen_tui.frontends.tui.transcript.widget import Transcript
from keen_tui.frontends.tui.widgets.row_widget import GAP, RowWidget, cut_row, indented, spread
from keen_tui.text.sanitize import clean
from keen_tui.text.units import counted, dollars, tokens

_EDGE = 2
_WITH_ID = 74
"""Cells from which on the id of the session has room beside the keys."""


class _Title(RowWidget):
    """The task of the sub-agent, and its progress."""

    def __init__(self, styles: Styles, glyphs: Glyphs, target: str) -> None:
        super().__init__(styles, glyphs, id="agent-title")
        self._target = clean(target)
        self.state = UiState()

    def rows(self, width: int, height: int) -> list[Text]:
        calls = sum(row.calls for row in self.state.turns)
        asks = bool(self.state.approval or self.state.asked)
        how = "asks you" if asks else "works" if self.state.turn_running else "has ended"
        left = Text.assemble(("Sub-agent ", self.look("dim")), (self._target, self.look("text", bold=True)))
        spent = self.state.spent
        sent = f"{self.glyphs.up}{tokens(spent.input_tokens)} {self.glyphs.down}{tokens(spent.output_tokens)}"
        facts = (counted(calls, "call"), sent, dollars(spent.cost) if spent.cost else "", how)
        right = Text(GAP.join(filter(None, facts)), self.look("wait" if asks else "dim"))
        return [indented(spread(left, right, max(width - 2 * _EDGE, 1), self.glyphs.more), _EDGE)]


class _Keys(RowWidget):
    """The keys of the page."""

    runs = False
    asks = False
    session_id = ""

    def rows(self, width: int, height: int) -> list[Text]:
        inner = max(width - 2 * _EDGE, 1)
        arrows = f"{self.glyphs.up}{self.glyphs.down}"
        stops = (self.key_hint(shown("page_stop"), "stop it alone"),) if self.runs else ()
        hints = self.fact(
            self.key_hint("esc", "back to its question" if self.asks else "back"),
            *stops,
            self.key_hint(arrows, "scroll"),
        )
        row = spread(hints, Text(self.session_id, self.look("dim")), inner, self.glyphs.more)
        return [indented(row if inner >= _WITH_ID else cut_row(hints, inner, self.glyphs.more), _EDGE)]


class AgentScreen(KeenScreen[None]):
    """Covers the workspace until esc. The sub-agent goes on.

    Args:
        port: knows the sub-agents.
        call_id: the call that began it; `target` says in words what it does.
        watched: its events.
    """

    AUTO_FOCUS = "#agent-transcript"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q", "dismiss", show=False),
        same_key("page_stop", "stop", priority=True),
    ]

    def __init__(
        self,
        styles: Styles,
        glyphs: Glyphs,
        port: AgentsPort,
        call_id: str,
        target: str,
        watched: WatchedAgent,
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        super().__init__()
        paint_frugally(self)
        self._title = _Title(styles, glyphs, target)
        self._transcript = Transcript(styles, glyphs, id="agent-transcript", clock=clock)
        self._transcript.document.has_ways_on = False
        self._keys = _Keys(styles, glyphs, id="agent-keys")
        self._keys.session_id = watched.session_id
        self._port = port
        self._call_id = call_id
        self._watched = watched
        self._clock = clock
        self._state = UiState()

    def compose(self) -> ComposeResult:
        yield self._title
        yield self._transcript
        yield self._keys

    def on_mount(self) -> None:
        """Show what there is, and follow what comes."""
        background.listen(self._transcript.recolour)
        past = apply_all(UiState(restoring=True), self._watched.events, self._clock())
        self._show(replace(past, restoring=False))
        if self._watched.reader:
            self.run_worker(self._follow(), exclusive=True)
            self.set_interval(1.0, self._transcript.tick)

    def on_unmount(self) -> None:
        """Stop reading."""
        background.leave(self._transcript.recolour)
        if self._watched.reader:
            self._watched.reader.close()

    def action_stop(self) -> None:
        """Stop the sub-agent alone."""
        self._port.stop(self._call_id)

    async def _follow(self) -> None:
        assert self._watched.reader
        async for batch in self._watched.reader:
            self._show(apply_all(self._state, batch, self._clock()))

    def _show(self, state: UiState) -> None:
        self._state = self._title.state = state
        self._keys.runs = state.turn_running
        self._keys.asks = bool(state.approval or state.asked)
        self._transcript.show(state.past, state.live)
        self._title.changed()
        self._keys.changed()
