"""The TurnMemory panel: what later turns will know of each turn, and what is kept of an incomplete one."""

from __future__ import annotations

from collections.abc import Sequence

from rich.text import Text
from textual import events

from keen_tui.domain.messages import TurnMemory as Memory
from keen_tui.frontends.tui.keys.keymap import shown
from keen_tui.frontends.tui.look.glyphs import Glyphs
from keen_tui.frontends.tui.look.themes import Styles
from keen_tui.frontends.tui.panels.entries import Entries, PanelEntry
from keen_tui.frontends.tui.panels.memory_rows import MemoryRows, as_remembered
from keen_tui.frontends.tui.panels.panel import EDGE, Panel
from keen_tui.frontends.tui.state.state import TurnRow, UiState
from keen_tui.frontends.tui.state.totals import Totals
from keen_tui.frontends.tui.state.trail import Trail
from keen_tui.frontends.tui.widgets.phrases import memory_counts
from keen_tui.frontends.tui.widgets.row_widget import GAP, spread, wrapped
from keen_tui.text.units import size

_EMPTY = (
    "What later turns will know about a turn: the files it changed and the commands that failed, "
    "but not its tool calls and their output."
)


_GLYPH_WITHIN = EDGE + 4
"""Columns from the hairline within which a changed file has its sign."""


class TurnMemoryPanel(Panel):
    """Newest turn first. The running turn fills live, without a clock; the last row adds up what all turns
    carry."""

    def __init__(self, styles: Styles, glyphs: Glyphs) -> None:
        super().__init__(styles, glyphs, id="turn-memory")
        self._state = UiState()
        self._totals = Totals()
        self._folded = False

    @property
    def folded(self) -> bool:
        """Whether only one line is shown."""
        return self._folded

    @folded.setter
    def folded(self, folded: bool) -> None:
        self._folded = folded
        self.changed(layout=True)

    def show(self, state: UiState) -> None:
        """Draw this state."""
        old, self._state = self._state, state
        if _drawn_of(old) != _drawn_of(state):
            self.changed()

    def title_row(self, width: int) -> Text:
        look, glyphs = self.look, self.glyphs
        if not self.folded:
            title = self.fact(Text("TurnMemory", look("text", bold=True)), self._policy())
            return spread(title, self.hint("fold_memory", "fold"), width, glyphs.more)
        carried = self._carried()
        newest = self._state.turns[-1].memory if self._state.turns else Memory()
        counts = memory_counts(newest, look, glyphs)
        policy = self._policy()
        facts = self.fact(policy, counts) if policy else self.fact(counts, Text(size(carried), look("dim")))
        title = Text.assemble((f"{glyphs.folded} ", look("dim")), ("TurnMemory", look("text", bold=True)))
        if self._state.pending:
            title = Text.assemble((f"{glyphs.look} ", look("wait")), ("TurnMemory", look("wait", bold=True)))
        left = Text.assemble(title, GAP, facts)
        key = Text(shown("fold_memory"), look("text", bold=True))
        return spread(left, key if left.cell_len + key.cell_len < width else Text(), width, glyphs.more)

    def entries(self, width: int) -> Sequence[PanelEntry]:
        turns = self._state.turns
        if not turns:
            return [PanelEntry(rows=tuple(wrapped(_EMPTY, width, self.look("dim"))))]
        return Entries((len(turns), lambda place: self._entry_of(turns[-1 - place], width)))

    def pinned_row(self, width: int) -> Text | None:
        totals = self._totals.of(self._state.turns)
        if not totals.settled:
            return None
        sums = self._carried(), totals.trace_bytes
        return self.made.row("sums", (sums, width), lambda: self._drawing(width).carries("all turns", *sums))

    def on_click(self, event: events.Click) -> None:
        """On a changed file: show the changes of its turn."""
        begins = self.render_line(event.y).text[:_GLYPH_WITHIN]
        if self.glyphs.changed in begins and (entry := self.entry_at(event.y)):
            event.prevent_default()
            self.post_message(self.ChangesWanted(entry.turn))

    def _policy(self) -> Text:
        """The memory policy, where it is not the usual one."""
        policy = self._state.policy
        return Text() if policy == "summary" else Text(policy, self.look("soft"))

    def _carried(self) -> int:
        """Returns the bytes that later turns carry of everything so far."""
        return self._state.summary_bytes + self._totals.of(self._state.turns).carried_bytes

    def _entry_of(self, turn: TurnRow, width: int) -> PanelEntry:
        manner = (width, self._kept_where, bool(self._state.replay)) if turn.status == "pending" else width
        return self.made.once(turn, manner, lambda: self._drawing(width).entry(turn))

    def _drawing(self, width: int) -> MemoryRows:
        return MemoryRows(
            self.look,
            self.glyphs,
            width=width,
            kept_where=self._kept_where,
            is_replay=bool(self._state.replay),
        )

    @property
    def _kept_where(self) -> str:
        return "on disk" if self._state.keeps_pending else "in memory"


def _drawn_of(state: UiState) -> tuple[object, ...]:
    """Returns the parts of the state that the panel shows, to compare them."""
    return _remembered(state.turns), state.pending, state.policy, state.keeps_pending


def _remembered(turns: Trail[TurnRow]) -> Trail[TurnRow]:
    """The turns without what changes with each call of a running one, and isn't shown here."""
    return turns.with_last(as_remembered(turns[-1])) if turns else turns
