"""The blocks of a turn as rows of the Activity panel."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace
from rich.text import Text

from keen_tui.domain.background import TaskReport
from keen_tui.domain.events import TurnDone, TurnError, TurnIncomplete
from keen_tui.domain.own_tools import TASK
from keen_tui.frontends.shared.commands.tasks import TASKS
from keen_tui.frontends.tui.keys.keymap import shown
from keen_tui.frontends.tui.look.cells import cut, cut_target
from keen_tui.frontends.tui.panels.entries import PanelEntry
from keen_tui.frontends.tui.panels.panel import PanelStyle
from keen_tui.frontends.tui.state.state import (
    Block,
    EndBlock,
    ReasoningBlock,
    RetryBlock,
    ToolBlock,
    TurnRow,
    UiState,
)
from keen_tui.frontends.tui.state.trail import Trail
from keen_tui.frontends.tui.transcript.blocks.tool_rows import remarks
from keen_tui.frontends.tui.widgets.phrases import Doing, line_counts, tool_name
from keen_tui.frontends.tui.widgets.row_widget import BLANK, GAP, cut_row, join_facts, spread
from keen_tui.text.labels import SHORT_REASONS
from keen_tui.text.outcomes import SIGNS, not_done_words
from keen_tui.text.sanitize import clean
from keen_tui.text.units import counted, duration, size

_MOST_TASKS = 3
"""The most commands in the background that are named; the others are counted."""


def model_is_working(state: UiState) -> bool:
    """Whether there is a row for the model: while no tool call is the newest thing."""
    return state.phase in ("waiting", "thinking", "answering", "compacting")


class ListedBlocks:
    """Finds the blocks of the newest turn that have an entry. Those of its past are looked at once."""

    def __init__(self) -> None:
        self._past: Trail[Block] = Trail()
        self._in_past: list[Block] = []

    def of(self, state: UiState) -> list[Block]:
        """These blocks, the oldest first."""
        if state.turn_past is not self._past:
            self._past, self._in_past = state.turn_past, list(filter(_has_entry, state.turn_past))
        return [*self._in_past, *filter(_has_entry, state.live)]


class ActivityRows(PanelStyle, frozen=True):
    """Draws entries in at most `width` cells. `now`: seconds on the clock of the state."""

    now: float = 0.0
    width: int = 0

    def turn_title(self, turn: int, clock: str) -> Text:
        """The title row with the number of the newest turn and how long it has taken."""
        facts = join_facts(Text(f"turn {turn}", self.look("soft")), Text(clock, self.look("dim")))
        return self.title("Activity", facts, self.width)

    def entry(self, block: Block, tail: Sequence[Text] = ()) -> PanelEntry:
        """The entry of a block that has one; `tail` stands below a call."""
        match block:
            case ToolBlock():
                rows = (self._call(block), *map(self._remark, remarks(block)), *tail)
                return PanelEntry(rows=rows, turn=block.turn, call_id=block.id)
            case ReasoningBlock():
                return PanelEntry(rows=(self._thought(block),), turn=block.turn)
            case RetryBlock():
                return PanelEntry(rows=(self._retry(block),))
            case EndBlock():
                return PanelEntry(rows=(self._end(block),), turn=block.turn)
        raise AssertionError(f"no entry for {type(block).__name__}")

    def single(self, state: UiState, now: Sequence[PanelEntry]) -> list[PanelEntry]:
        """One row: the last of the entries `now` while the turn runs, afterwards the turn."""
        if state.turn_running:
            return [replace(entry, rows=entry.rows[:1]) for entry in now[-1:]]
        return [self.earlier(turn) for turn in state.turns[-1:]]

    def tail(self, block: ToolBlock, lines: Sequence[str], rows: int) -> tuple[Text, ...]:
        """The newest lines of a call in so many rows, and how much it has put out."""
        look, glyphs = self.look, self.glyphs
        edge = Text(f"  {glyphs.live} ", look("edge"))
        shown_lines = [
            Text.assemble(edge, (cut(line, self.width - 4, glyphs.more), look("soft"))) for line in lines
        ]
        shown_lines += [edge] * (rows - len(lines))
        if block.name == TASK:
            keys = [f"{shown('stop')} stops", f"{shown('show_row')} shows it"]
            facts = counted(block.lines, "call")
        else:
            keys = [f"{shown('stop')} stops"]
            keys += [f"{shown('background')} background"] if block.name == "bash" else []
            facts = GAP.join((counted(block.lines, "line"), size(block.bytes)))
        lasts = [f"  {GAP.join((facts, *some))}" for some in (keys, keys[-1:], keys[:1])]
        last = next((row for row in lasts if len(row) <= self.width), lasts[-1])
        return (*shown_lines, Text(last, look("dim")))

    def doing(self, now: Doing) -> Text:
        """The row for the model at work."""
        words = Text(now.sentence, self.look("soft" if now.silent else "text"))
        seconds = Text("" if now.silent else now.clock, self.look("accent"))
        return spread(Text.assemble(self.dot, " ", words), seconds, self.width, self.glyphs.more)

    def earlier(self, turn: TurnRow) -> PanelEntry:
        """A turn before the newest one, in one row."""
        look = self.look
        facts = join_facts(
            Text(f"turn {turn.turn}", look("soft")), Text(counted(turn.calls, "call"), look("dim"))
        )
        left = Text.assemble((f"{self.glyphs.folded} ", look("dim")), facts)
        row = spread(left, Text(duration(turn.seconds), look("dim")), self.width)
        return PanelEntry(rows=(row,), turn=turn.turn)

    def tasks(self, tasks: Sequence[TaskReport], room: int) -> list[PanelEntry]:
        """The commands in the background, each with its newest line: those that have room in so many rows,
        but at least one, and how many more there are."""
        rows = [self._task(task) for task in tasks[:_MOST_TASKS]]
        while len(rows) > 1 and 2 + sum(map(len, rows)) + (len(rows) < len(tasks)) > room:
            del rows[-1]
        entries = [PanelEntry(rows=row, task=task.id) for row, task in zip(rows, tasks, strict=False)]
        if more := tasks[len(rows) :]:
            words = Text(f"  and {len(more)} more", self.look("dim"))
            entries.append(PanelEntry(rows=(words,), task=more[0].id))
        return [self._tasks_title(), *entries] if entries else []

    def _tasks_title(self) -> PanelEntry:
        title, command = (
            Text("In the background", self.look("soft")),
            Text(f"/{TASKS.slash[0]}", self.look("dim")),
        )
        return PanelEntry(rows=(BLANK, spread(title, command, self.width, self.glyphs.more)))

    def _task(self, task: TaskReport) -> tuple[Text, ...]:
        look, glyphs = self.look, self.glyphs
        mark = Text(glyphs.running, look("accent"))
        row = Text.assemble(mark, " ", (task.id, look("soft")), " ", (task.command, look("text")))
        room = self.width - 4
        edge = Text(f"  {glyphs.live} ", look("edge"))
        line = Text.assemble(edge, (cut(task.last_line, room, glyphs.more), look("dim")))
        return (cut_row(row, self.width, glyphs.more), *([line] if task.last_line else ()))

    def _call(self, block: ToolBlock) -> Text:
        look, glyphs = self.look, self.glyphs
        mark, right = self._mark_and_end(block)
        name = tool_name(clean(block.name))
        counts = line_counts(block, look, glyphs)
        room = self.width - right.cell_len - len(name) - 5 - (counts.cell_len + 2 if counts else 0)
        target = cut_target(block.name, clean(block.target), max(room, 0), glyphs.more)
        left = Text.assemble(mark, " ", (name, look("soft")), " ", (target, look("text")))
        if counts:
            left = Text.assemble(left, "  ", counts)
        return spread(left, right, self.width, glyphs.more)

    def _mark_and_end(self, block: ToolBlock) -> tuple[Text, Text]:
        look, glyphs, result = self.look, self.glyphs, block.result
        if block.status == "running":
            return self.dot, Text(duration(self.now - block.started_at, running=True), look("accent"))
        if block.status == "asks":
            return Text(glyphs.asks, look("wait", bold=True)), Text("asks", look("wait"))
        signs = SIGNS[block.status]
        mark = Text(getattr(glyphs, signs.glyph), look(signs.role))
        if block.status == "done" or result is None:
            return mark, Text(duration(block.seconds) if block.seconds else "", look("dim"))
        failed = f"exit {result.exit_code}" if result.exit_code else "failed"
        return mark, Text(not_done_words(result) or failed, look(signs.role))

    def _remark(self, words: str) -> Text:
        return Text(f"  {cut(words, self.width - 2, self.glyphs.more)}", self.look("dim"))

    def _thought(self, block: ReasoningBlock) -> Text:
        left = Text.assemble((f"{self.glyphs.more} ", self.look("dim")), ("thought", self.look("soft")))
        return spread(left, Text(duration(block.seconds), self.look("dim")), self.width)

    def _retry(self, block: RetryBlock) -> Text:
        retry = block.retry
        left = Text.assemble(
            self.dot, " ", (f"{SHORT_REASONS[retry.reason]}, trying again", self.look("soft"))
        )
        wait = max(block.due - self.now, 0)
        return spread(left, Text(f"in {duration(wait, running=True)}", self.look("accent")), self.width)

    def _end(self, block: EndBlock) -> Text:
        end, look, glyphs = block.end, self.look, self.glyphs
        assert not isinstance(end, TurnDone)
        stopped = isinstance(end, TurnError) and end.outcome == "stopped"
        role = "wait" if isinstance(end, TurnIncomplete) else "soft" if stopped else "fail"
        mark = {"wait": glyphs.look, "soft": glyphs.stopped, "fail": glyphs.failed}[role]
        left = Text(f"{mark} {SHORT_REASONS[end.reason]}", look("dim" if block.settled else role))
        right = block.settled or duration(end.seconds)
        return spread(left, Text(right, look("dim")), self.width, glyphs.more)


def _has_entry(block: Block) -> bool:
    """Whether a block has a row of its own here."""
    match block:
        case ToolBlock() | RetryBlock() | ReasoningBlock(open=False, lost=False):
            return True
        case EndBlock():
            return not isinstance(block.end, TurnDone)
    return False
