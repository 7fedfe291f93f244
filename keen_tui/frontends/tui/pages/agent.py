"""The transcript of a sub-agent, live while it works."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import ClassVar, Final

from msgspec.structs import replace
from rich.text import Text
from textual.binding import BindingType

from keen_tui.domain.agents import WatchedAgent
from keen_tui.frontends.shared.agents_port import AgentsPort
from keen_tui.frontends.tui.keys.keymap import same_key
from keen_tui.frontends.tui.look.glyphs import Glyphs
from keen_tui.frontends.tui.look.themes import Styles
from keen_tui.frontends.tui.pages.key import Key
from keen_tui.frontends.tui.pages.page_screen import PageScreen
from keen_tui.frontends.tui.state.reducer import apply_all
from keen_tui.frontends.tui.state.state import UiState
from keen_tui.frontends.tui.terminal import background
from keen_tui.frontends.tui.terminal.compositor import paint_frugally
from keen_tui.frontends.tui.transcript.widget import Transcript
from keen_tui.frontends.tui.widgets.row_widget import GAP
from keen_tui.text.sanitize import clean
from keen_tui.text.units import counted, dollars, tokens

_WITH_ID: Final = 78
"""Columns from which on the id of the session has room beside the keys."""


class AgentScreen(PageScreen[None]):
    """Covers the workspace until esc. The sub-agent goes on.

    Args:
        port: knows the sub-agents.
        call_id: the call that began it; `target` says in words what it does.
        watched: its events.
    """

    says = "elsewhere"
    least_gap = 1
    BINDINGS: ClassVar[list[BindingType]] = [
        same_key("page_stop", "stop", priority=True)  # the transcript, which has the focus, takes letters
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
        super().__init__(styles, glyphs)
        paint_frugally(self)
        self._transcript = Transcript(styles, glyphs, id="agent-transcript", clock=clock)
        self._transcript.document.has_ways_on = False
        self.parts = (self.head, self._transcript, self.foot)
        self._port = port
        self._call_id = call_id
        self._target = clean(target)
        self._watched = watched
        self._clock = clock
        self._state = UiState()

    def heading(self) -> tuple[Text, Text]:
        state, look = self._state, self.look
        calls = sum(row.calls for row in state.turns)
        how = "asks you" if self._asks else "works" if state.turn_running else "has ended"
        left = Text.assemble(("Sub-agent ", look("dim")), (self._target, look("text", bold=True)))
        sent = f"{self.glyphs.up}{tokens(state.spent.input_tokens)}"
        received = f"{self.glyphs.down}{tokens(state.spent.output_tokens)}"
        cost = dollars(state.spent.cost) if state.spent.cost else ""
        facts = (counted(calls, "call"), f"{sent} {received}", cost, how)
        return left, Text(GAP.join(filter(None, facts)), look("wait" if self._asks else "dim"))

    def keys(self) -> Sequence[Key]:
        return (
            Key("escape", "back to its question" if self._asks else "back", self.leave, "q"),
            Key("page_stop", "stop it alone" if self._state.turn_running else ""),
            Key("up,down", "scroll"),
        )

    def beside_keys(self) -> Text:
        return Text(self._watched.session_id, self.look("dim")) if self.size.width >= _WITH_ID else Text()

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

    @property
    def _asks(self) -> bool:
        return bool(self._state.approval or self._state.asked)

    def action_stop(self) -> None:
        """Stop the sub-agent alone."""
        self._port.stop(self._call_id)

    async def _follow(self) -> None:
        assert self._watched.reader
        async for batch in self._watched.reader:
            self._show(apply_all(self._state, batch, self._clock()))

    def _show(self, state: UiState) -> None:
        self._state = state
        self._transcript.show(state.past, state.live)
        self.redraw()
