"""The Activity panel: every tool call of the running turn as it happens, earlier turns in one row each."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import TypeGuard

from rich.text import Text

from keen_tui.domain.events import TurnDone, TurnError, TurnIncomplete
from keen_tui.frontends.tui.keys.keymap import shown
from keen_tui.frontends.tui.look.cells import cut, cut_path
from keen_tui.frontends.tui.look.glyphs import Glyphs
from keen_tui.frontends.tui.look.themes import Styles
from keen_tui.frontends.tui.panels.panel import Entries, Panel, PanelEntry
from keen_tui.frontends.tui.state.state import (
    Block,
    EndBlock,
    ReasoningBlock,
    RetryBlock,
    TextBlock,
    ToolBlock,
    TurnRow,
    UiState,
)
from keen_tui.frontends.tui.transcript.blocks.tool_rows import contact_words, denied_words
from keen_tui.frontends.tui.widgets.phrases import doing, line_counts, tool_name
from keen_tui.frontends.tui.widgets.rows import GAP, spread
from keen_tui.text.labels import SHORT_REASONS
from keen_tui.text.sanitize import clean
from keen_tui.text.units import counted, duration, size

LEAST_ROWS = 8
_TAIL_ROWS = 4
_TAIL_ROWS_WITH_ROOM = 8
_TAIL_ROWS_WHEN_TIGHT = 2
_CALLS_BESIDE_TAILS = 3
_ROWS_AROUND = 4
"""The title with its blank rows, and one below."""


class Activity(Panel):
    """Live rows of the turn in `state`. Give it states with `show`, a tick a second while a turn runs."""

    def __init__(
        self, styles: Styles, glyphs: Glyphs, *, clock: Callable[[], float] = time.monotonic
    ) -> None:
        super().__init__(styles, glyphs, id="activity")
        self._clock = clock
        self._state = UiState()
        self._tail_high = 0

    def show(self, state: UiState) -> None:
        """Draw this state."""
        old, self._state = self._state, state
        if not state.running:
            self._tail_high = 0
        if self._told(old) != self._told(state):
            self.changed()

    def _told(self, state: UiState) -> tuple[object, ...]:
        """What of a state is shown here: all but the words of the reply, which come thirty times a second."""
        live = [block for block in state.live if not isinstance(block, TextBlock)]
        return live, state.turns, state.phase, doing(state, self._clock()).silent

    def place_of(self, turn: int, call_id: str | None) -> int | None:
        """The place of the entry of a call or, where it has none of its own, of its turn. None: there is
        none of that turn either."""
        blocks = [block for block in self._state.live if _has_entry(block)]
        for place, block in enumerate(blocks):
            if isinstance(block, ToolBlock) and block.id == call_id:
                return place
        now = len(blocks) + (1 if self._doing(self.size.width) else 0)
        places = {row.turn: now + place for place, row in enumerate(reversed(self._state.turns[:-1]))}
        newest = self._state.turns[-1].turn if self._state.turns else 0
        return 0 if turn and turn == newest and now else places.get(turn)

    def title_row(self, width: int) -> Text:
        state, look = self._state, self.look
        if not state.turns:
            return self.title_spread("Activity", Text("no turn yet", look("dim")), width)
        turn = state.turns[-1]
        running = state.turn_running
        seconds = state.turn_seconds(self._clock())
        facts = self.fact(
            Text(f"turn {turn.turn}", look("soft")), Text(duration(seconds, running=running), look("dim"))
        )
        return self.title_spread("Activity", facts, width)

    def entries(self, width: int) -> Sequence[PanelEntry]:
        now = self._now(width)
        if not self.has_focus and now and self.size.height:
            return self._that_fit(now, width)
        return Entries((len(now), now.__getitem__), self._earlier_turns(width, below=bool(now)))

    def _that_fit(self, now: Sequence[PanelEntry], width: int) -> list[PanelEntry]:
        """The newest entries of the turn and, where there is room left, those of earlier turns."""
        room = self.size.height - 4
        shown = _newest(now, room)
        left = room - sum(len(entry.rows) for entry in shown) - 1
        return [*shown, *Entries(self._earlier_turns(width, below=True))[: max(left, 0)]]

    def _now(self, width: int) -> Sequence[PanelEntry]:
        """What the newest turn did and does."""
        blocks = [block for block in self._state.live if _has_entry(block)]
        doing = self._doing(width)
        return Entries(
            (len(blocks), lambda place: self._entry_of(blocks[place], width)),
            *([(1, lambda _: doing)] if doing else []),
        )

    def _earlier_turns(self, width: int, *, below: bool) -> tuple[int, Callable[[int], PanelEntry]]:
        """The turns before the newest one, newest first, `below` a blank row."""
        turns = self._state.turns

        def made(place: int) -> PanelEntry:
            return self._earlier(turns[-2 - place], width, below=below and place == 0)

        return max(len(turns) - 1, 0), made

    def _counted_height(self, width: int, most: int) -> int:
        """As for all panels, whatever the height is now: a tail gets as many rows as `most` has room for."""
        limit = self._tail_limit(most)
        blocks = [block for block in self._state.live if _has_entry(block)]
        now = sum(1 + _has_contacts(block) + self._tail_height(block, limit) for block in blocks)
        doing = 1 if self._doing(width) else 0
        earlier = max(len(self._state.turns) - 1, 0)
        return 3 + now + doing + (earlier + 1 if earlier else 0) + 1

    def _entry_of(self, block: Block, width: int) -> PanelEntry:
        if isinstance(block, ToolBlock) and block.status != "running":
            return self.once(block, width, lambda: self._entry(block, width))
        return self._entry(block, width)

    def _entry(self, block: Block, width: int) -> PanelEntry:
        """The entry of a block that has one."""
        match block:
            case ToolBlock():
                rows = (self._call(block, width), *self._contacts(block, width), *self._tail(block, width))
                return PanelEntry(rows=rows, turn=block.turn, call_id=block.id)
            case ReasoningBlock():
                return PanelEntry(rows=(self._thought(block, width),), turn=block.turn)
            case RetryBlock():
                return PanelEntry(rows=(self._retry(block, width),))
            case EndBlock():
                return PanelEntry(rows=(self._end(block, width),), turn=block.turn)
        raise AssertionError(f"no entry for {type(block).__name__}")

    def _call(self, block: ToolBlock, width: int) -> Text:
        look, glyphs = self.look, self.glyphs
        mark, right = {
            "running": (self.dot(), Text(self._elapsed(block), look("accent"))),
            "asks": (Text(glyphs.asks, look("wait", bold=True)), Text("asks", look("wait"))),
            "done": (Text(glyphs.done, look("ok")), Text(duration(block.seconds), look("dim"))),
            "failed": (Text(glyphs.failed, look("fail")), Text(_failure(block), look("fail"))),
            "denied": (Text(glyphs.none, look("dim")), Text(denied_words(block), look("dim"))),
            "stopped": (Text(glyphs.stopped, look("dim")), Text("stopped", look("dim"))),
            "not_run": (Text(glyphs.none, look("dim")), Text("not run", look("dim"))),
        }[block.status]
        name = tool_name(clean(block.name))
        counts = line_counts(block, look, glyphs)
        room = width - right.cell_len - len(name) - 5 - (counts.cell_len + 2 if counts else 0)
        target = _fitted(block.name, clean(block.target), max(room, 0), glyphs.more)
        left = Text.assemble(mark, " ", (name, look("soft")), " ", (target, look("text")))
        if counts:
            left = Text.assemble(left, "  ", counts)
        return spread(left, right, width, glyphs.more)

    def _contacts(self, block: ToolBlock, width: int) -> tuple[Text, ...]:
        words = contact_words(block.contacts)
        return (Text(f"  {cut(words, width - 2, self.glyphs.more)}", self.look("dim")),) if words else ()

    def _tail(self, block: Block, width: int) -> tuple[Text, ...]:
        if not _has_tail(block):
            return ()
        lines = _tail_lines(block, self._tail_limit(self.size.height))
        self._tail_high = max(self._tail_high, len(lines))
        look, glyphs = self.look, self.glyphs
        edge = Text(f"  {glyphs.live} ", look("edge"))
        rows = [Text.assemble(edge, (cut(line, width - 4, glyphs.more), look("soft"))) for line in lines]
        rows += [edge] * (self._tail_high - len(lines))
        facts = GAP.join((counted(block.lines, "line"), size(block.bytes), f"{shown('stop')} stops"))
        return (*rows, Text(f"  {facts}", look("dim")))

    def _tail_height(self, block: Block, limit: int) -> int:
        """The rows below a running call: its last lines, and what is counted of them."""
        return 1 + max(len(_tail_lines(block, limit)), self._tail_high) if _has_tail(block) else 0

    def _tail_limit(self, height: int) -> int:
        """How many lines of output each running call may show in a panel of that height: many where all
        calls of the turn stay in view, some where the newest do."""
        blocks = [block for block in self._state.live if _has_entry(block)]
        tails = sum(map(_has_tail, blocks))
        room = height - _ROWS_AROUND
        if tails * (_TAIL_ROWS_WITH_ROOM + 1) + len(blocks) <= room:
            return _TAIL_ROWS_WITH_ROOM
        newest = min(len(blocks), tails + _CALLS_BESIDE_TAILS)
        return _TAIL_ROWS if tails * (_TAIL_ROWS + 1) + newest <= room else _TAIL_ROWS_WHEN_TIGHT

    def _thought(self, block: ReasoningBlock, width: int) -> Text:
        left = Text.assemble((f"{self.glyphs.more} ", self.look("dim")), ("thought", self.look("soft")))
        return spread(left, Text(duration(block.seconds), self.look("dim")), width)

    def _retry(self, block: RetryBlock, width: int) -> Text:
        retry = block.retry
        left = Text.assemble(
            self.dot(), " ", (f"{SHORT_REASONS[retry.reason]}, trying again", self.look("soft"))
        )
        wait = max(block.due - self._clock(), 0)
        return spread(left, Text(f"in {duration(wait, running=True)}", self.look("accent")), width)

    def _end(self, block: EndBlock, width: int) -> Text:
        end, look, glyphs = block.end, self.look, self.glyphs
        assert not isinstance(end, TurnDone)
        stopped = isinstance(end, TurnError) and end.reason == "interrupted"
        role = "wait" if isinstance(end, TurnIncomplete) else "soft" if stopped else "fail"
        mark = {"wait": glyphs.look, "soft": glyphs.stopped, "fail": glyphs.failed}[role]
        left = Text(f"{mark} {SHORT_REASONS[end.reason]}", look("dim" if block.settled else role))
        right = block.settled or duration(end.seconds)
        return spread(left, Text(right, look("dim")), width, glyphs.more)

    def _doing(self, width: int) -> PanelEntry | None:
        """A row for the model at work: while no tool call is the newest thing."""
        state = self._state
        if state.phase not in ("waiting", "thinking", "answering", "compacting"):
            return None
        now = doing(state, self._clock())
        words = Text(now.sentence, self.look("soft" if now.silent else "text"))
        seconds = Text("" if now.silent else duration(now.seconds, running=True), self.look("accent"))
        return PanelEntry(
            rows=(spread(Text.assemble(self.dot(), " ", words), seconds, width, self.glyphs.more),)
        )

    def _earlier(self, turn: TurnRow, width: int, *, below: bool) -> PanelEntry:
        look = self.look
        facts = self.fact(
            Text(f"turn {turn.turn}", look("soft")), Text(counted(turn.calls, "call"), look("dim"))
        )
        left = Text.assemble((f"{self.glyphs.folded} ", look("dim")), facts)
        row = spread(left, Text(duration(turn.seconds), look("dim")), width)
        return PanelEntry(rows=(Text(), row) if below else (row,), turn=turn.turn)

    def _elapsed(self, block: ToolBlock) -> str:
        return duration(self._clock() - block.started_at, running=True)


def _has_entry(block: Block) -> bool:
    """Whether a block has a row of its own here."""
    match block:
        case ToolBlock() | RetryBlock() | ReasoningBlock(open=False, lost=False):
            return True
        case EndBlock():
            return not isinstance(block.end, TurnDone)
    return False


def _has_contacts(block: Block) -> bool:
    return isinstance(block, ToolBlock) and bool(block.contacts)


def _has_tail(block: Block) -> TypeGuard[ToolBlock]:
    return isinstance(block, ToolBlock) and block.status == "running" and bool(block.tail)


def _tail_lines(block: ToolBlock, most: int) -> list[str]:
    return [line for line in clean(block.tail, newlines=True).split("\n") if line.strip()][-most:]


def _newest(entries: Sequence[PanelEntry], room: int) -> list[PanelEntry]:
    """The last entries that fit into `room` rows; at least one."""
    kept: list[PanelEntry] = []
    for entry in reversed(entries):
        room -= len(entry.rows)
        if room < 0 and kept:
            break
        kept.insert(0, entry)
    return kept


def _failure(block: ToolBlock) -> str:
    code = block.result.exit_code if block.result else None
    return f"exit {code}" if code else "failed"


def _fitted(tool: str, target: str, cells: int, more: str) -> str:
    is_path = tool in ("read_file", "write_file", "edit_file")
    return cut_path(target, cells, more) if is_path else cut(target, cells, more)
