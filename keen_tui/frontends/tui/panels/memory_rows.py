"""The memory of a turn as rows of the TurnMemory panel."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.text import Text

from keen_tui.domain.facts.remembered import Remembered
from keen_tui.frontends.tui.look.cells import meter
from keen_tui.frontends.tui.panels.entries import PanelEntry
from keen_tui.frontends.tui.panels.panel import PanelStyle
from keen_tui.frontends.tui.state.state import TurnRow
from keen_tui.frontends.tui.state.totals import carried_of
from keen_tui.frontends.tui.widgets.phrases import fact_sign, fact_texts
from keen_tui.frontends.tui.widgets.row_widget import BLANK, GAP, action_hint, cut_row, spread
from keen_tui.text.labels import kept_words, unknown_call
from keen_tui.text.sanitize import clean
from keen_tui.text.units import counted, part_of, size

_METER = 8


class MemoryRows(PanelStyle, frozen=True):
    """Draws entries in at most `width` cells.

    `kept_where` says where the work of an incomplete turn is kept; in a replay (`is_replay`) no key continues
    it.
    """

    width: int = 0
    kept_where: str = "in memory"
    is_replay: bool = False

    def entry(self, turn: TurnRow) -> PanelEntry:
        """The entry of a turn."""
        turn = as_remembered(turn)
        pending = turn.status == "pending"
        rows = [self._head(turn), *self._facts(turn)]
        if pending:
            rows += self._kept(turn)
        elif turn.summarised:
            rows.append(Text("  summarised", self.look("dim")))
        elif turn.status in ("done", "abandoned"):
            rows.append(self.carries("  carries", *carried_of(turn)))
        return PanelEntry(rows=(*rows, BLANK), turn=turn.turn, waits=pending)

    def carries(self, label: str, carried: int, trace: int) -> Text:
        """How many bytes are carried of so many, as words and as a bar."""
        look = self.look
        part, of, whole = part_of(carried, trace).partition(" of ")
        left = Text.assemble(
            (label, look("dim")),
            " ",
            (part, look("text", bold=label == "all turns")),
            (of + whole, look("dim")),
        )
        filled, track = meter(carried / trace if trace else 0.0, _METER, self.glyphs)
        bar = Text.assemble((filled, look("accent")), (track, look("track")))
        has_room = left.cell_len + 1 + bar.cell_len <= self.width
        return spread(left, bar if has_room else Text(), self.width, self.glyphs.more)

    def _head(self, turn: TurnRow) -> Text:
        look, glyphs = self.look, self.glyphs
        mark, word, role = {
            "running": (self.dot, "filling", "accent"),
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
        return spread(left, Text(word, look(role, bold=turn.status == "pending")), self.width, glyphs.more)

    def _facts(self, turn: TurnRow) -> list[Text]:
        role = {"running": "accent", "pending": "wait"}.get(turn.status, "soft")
        rows, beside = list[Text](), list[Text]()
        for kind, facts in turn.memory.by_kind:
            (rows if kind.IS_CARRIED else beside).extend(self._of_kind(kind, facts, role))
        rows = (rows or [Text(f"  {_nothing(turn)}", self.look("dim"))]) + beside
        if turn.recalled_bytes:
            rows.append(self._aside(f"recalled {size(turn.recalled_bytes)} of earlier turns"))
        if turn.kept_out_bytes:
            rows.append(self._aside(f"{size(turn.kept_out_bytes)} stayed with sub-agents"))
        return rows

    def _of_kind(self, kind: type[Remembered], facts: Sequence[Remembered], role: str) -> Iterator[Text]:
        if asides := tuple(kind.asides(facts)):
            yield from map(self._aside, asides)
            return
        sign = fact_sign(kind, self.look, self.glyphs, role)
        for row in kind.rows(facts):
            text, came_to = fact_texts(row, self.width - 4, self.look, self.glyphs)
            left = Text.assemble("  ", sign, " ", text)
            yield spread(left, came_to, self.width, self.glyphs.more)

    def _aside(self, words: str) -> Text:
        """Returns a dim row, for what isn't carried or isn't known."""
        return cut_row(Text(f"  {clean(words)}", self.look("dim")), self.width, self.glyphs.more)

    def _kept(self, turn: TurnRow) -> list[Text]:
        work = kept_words(turn.calls, turn.agents)
        kept = f"  kept: {work}, {size(turn.trace_bytes or 0)}, {self.kept_where}"
        rows = [cut_row(Text(kept, self.look("soft")), self.width, self.glyphs.more), *self._unknown(turn)]
        if self.is_replay:
            return rows
        return [
            *rows,
            BLANK,
            Text.assemble("  ", action_hint(self.look, "retry", role="wait")),
            Text.assemble("  ", action_hint(self.look, "discard")),
        ]

    def _unknown(self, turn: TurnRow) -> Iterator[Text]:
        """The calls whose effects nobody knows."""
        for call in turn.unknown_calls:
            words = unknown_call(call)
            left = Text.assemble(
                "  ", (self.glyphs.stopped, self.look("wait")), " ", (words, self.look("text"))
            )
            yield spread(left, Text("effects unknown", self.look("wait")), self.width, self.glyphs.more)


def as_remembered(turn: TurnRow) -> TurnRow:
    """A turn as it is shown here: a running one only with what will be remembered of it."""
    if turn.status != "running":
        return turn
    return TurnRow(
        turn=turn.turn,
        title="",
        facts=turn.facts,
        recalled_bytes=turn.recalled_bytes,
        kept_out_bytes=turn.kept_out_bytes,
    )


def _nothing(turn: TurnRow) -> str:
    """Returns the words for a turn of which later turns remember nothing."""
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
