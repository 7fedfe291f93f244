"""The TurnMemory panel: what later turns will know of each turn, and what is kept of an incomplete one."""

from __future__ import annotations

from collections.abc import Sequence

from rich.text import Text
from textual import events

from keen_tui.domain.messages import TurnMemory as Memory
from keen_tui.frontends.tui.keys.keymap import shown
from keen_tui.frontends.tui.look.cells import cut_path, meter
from keen_tui.frontends.tui.look.glyphs import Glyphs
from keen_tui.frontends.tui.look.themes import Styles
from keen_tui.frontends.tui.panels.panel import EDGE, Entries, Panel, PanelEntry
from keen_tui.frontends.tui.state.state import TurnRow, UiState
from keen_tui.frontends.tui.state.totals import Totals, carried_of
from keen_tui.frontends.tui.widgets.phrases import memory_counts
from keen_tui.frontends.tui.widgets.rows import GAP, cut_row, spread, wrapped
from keen_tui.text.sanitize import clean
from keen_tui.text.units import counted, size

_METER = 8
_EMPTY = (
    "What later turns will know of a turn: the files it changed and the commands that failed. "
    "Not its tool calls and their output."
)


_GLYPH_WITHIN = EDGE + 4
"""Columns from the hairline within which a changed file has its sign."""


class TurnMemoryPanel(Panel):
    """Newest turn first. The running turn fills live; the last row adds up what all turns carry."""

    def __init__(self, styles: Styles, glyphs: Glyphs) -> None:
        super().__init__(styles, glyphs, id="turn-memory")
        self._state = UiState()
        self._totals = Totals()
        self._folded = False
        self.kept_where = "in memory"
        """Where the work of an incomplete turn is kept."""

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

    def tick(self, beat: bool) -> None:
        if self._state.running:
            super().tick(beat)

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
        return self._carries("all turns", self._carried(), totals.trace_bytes, width)

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
        """What later turns carry of all that was done so far."""
        return self._state.summary_bytes + self._totals.of(self._state.turns).carried_bytes

    def _entry_of(self, turn: TurnRow, width: int) -> PanelEntry:
        if turn.status == "running":
            return self._entry(turn, width)
        return self.once(turn, width, lambda: self._entry(turn, width))

    def _entry(self, turn: TurnRow, width: int) -> PanelEntry:
        pending = turn.status == "pending"
        rows = [self._head(turn, width), *self._facts(turn, width)]
        if pending:
            rows += self._kept(turn, width)
        elif turn.summarised:
            rows.append(Text("  summarised", self.look("dim")))
        elif turn.status in ("done", "abandoned"):
            rows.append(self._carries("  carries", *carried_of(turn), width))
        return PanelEntry(rows=(*rows, Text()), turn=turn.turn, waits=pending)

    def _head(self, turn: TurnRow, width: int) -> Text:
        look, glyphs = self.look, self.glyphs
        mark, word, role = {
            "running": (self.dot(), "filling", "accent"),
            "done": (Text(glyphs.done, look("ok")), "", "dim"),
            "pending": (Text(glyphs.look, look("wait")), "pending", "wait"),
            "failed": (Text(glyphs.failed, look("fail")), "failed", "fail"),
            "stopped": (Text(glyphs.stopped, look("dim")), "stopped", "dim"),
            "abandoned": (Text(glyphs.none, look("dim")), "abandoned", "dim"),
        }[turn.status]
        live = turn.status in ("running", "pending")
        left = Text.assemble(mark, " ", (f"turn {turn.turn}", look("text" if live else "soft", bold=live)))
        if not live:
            left = Text.assemble(left, GAP, (clean(turn.title), look("dim")))
        return spread(left, Text(word, look(role, bold=turn.status == "pending")), width, glyphs.more)

    def _facts(self, turn: TurnRow, width: int) -> list[Text]:
        look, glyphs = self.look, self.glyphs
        role = {"running": "accent", "pending": "wait"}.get(turn.status, "soft")
        memory = turn.memory
        rows = [
            Text.assemble("  ", (glyphs.changed, look(role)), " ",
                          (cut_path(clean(path), width - 4, glyphs.more), look("text")))
            for path in memory.files_changed
        ]  # fmt: skip
        for failed in memory.failed_bash:
            left = Text.assemble(
                "  ", (glyphs.failed, look("fail")), " ", (clean(failed.command), look("text"))
            )
            rows.append(spread(left, Text(f"exit {failed.exit_code}", look("fail")), width, glyphs.more))
        for note in memory.notes:
            row = Text.assemble("  ", (glyphs.bullet, look(role)), " ", (clean(note), look("text")))
            rows.append(cut_row(row, width, glyphs.more))
        if not rows:
            rows.append(Text(f"  {_nothing(turn)}", look("dim")))
        return rows

    def _kept(self, turn: TurnRow, width: int) -> list[Text]:
        kept = f"  kept: {counted(turn.calls, 'call')}, {size(turn.trace_bytes or 0)}, {self.kept_where}"
        row = spread(Text(kept, self.look("soft")), Text(), width, self.glyphs.more)
        if self._state.replay:
            return [row]
        return [
            row,
            Text(),
            Text.assemble("  ", self.hint("retry", role="wait")),
            Text.assemble("  ", self.hint("discard")),
        ]

    def _carries(self, label: str, carried: int, trace: int, width: int) -> Text:
        look = self.look
        left = Text.assemble(
            (label, look("dim")), " ", (size(carried), look("text", bold=label == "all turns")),
            (" of ", look("dim")), (size(trace), look("dim")),
        )  # fmt: skip
        filled, track = meter(carried / trace if trace else 0.0, _METER, self.glyphs)
        bar = Text.assemble((filled, look("accent")), (track, look("track")))
        has_room = left.cell_len + 1 + bar.cell_len <= width
        return spread(left, bar if has_room else Text(), width, self.glyphs.more)


def _nothing(turn: TurnRow) -> str:
    """What is said of a turn that nothing is remembered of."""
    failed = f"{counted(turn.failures, 'failed call')}, not carried" if turn.failures else ""
    match turn.status:
        case "running":
            return "nothing yet"
        case "failed" | "stopped":
            return "nothing was done; message kept"
        case "pending" | "abandoned":
            return failed or "nothing changed"
    if turn.edited:
        return "only what was said"
    return failed or "nothing changed, nothing failed"


def _drawn_of(state: UiState) -> tuple[object, ...]:
    """What of the state is drawn here."""
    return state.turns, state.pending, state.phase == "idle", state.policy
