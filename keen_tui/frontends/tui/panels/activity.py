"""The Activity panel: every tool call of the running turn as it happens, earlier turns in one row each."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from msgspec.structs import replace
from rich.text import Text

from keen_tui.frontends.tui.look.glyphs import Glyphs
from keen_tui.frontends.tui.look.themes import Styles
from keen_tui.frontends.tui.panels.activity_rows import ActivityRows, ListedBlocks, model_is_working
from keen_tui.frontends.tui.panels.entries import Entries, EntryCache, PanelEntry
from keen_tui.frontends.tui.panels.lasting import Lasting
from keen_tui.frontends.tui.panels.panel import Panel
from keen_tui.frontends.tui.panels.tails import Tails, has_tail, tail_limit
from keen_tui.frontends.tui.state.state import Block, TextBlock, ToolBlock, TurnRow, UiState
from keen_tui.frontends.tui.widgets.phrases import Doing, doing
from keen_tui.frontends.tui.widgets.row_widget import BLANK
from keen_tui.text.units import duration

LEAST_ROWS = 8
SHORT_ROWS = 5
"""The title and a row, with the empty rows around them."""


class Activity(Panel):
    """Live rows of the turn in `state`. Give it states with `show`, a tick a second while a turn runs.

    If it `folds`, it doesn't repeat the transcript: it has a single row as long as the turn is quick, and
    without the output of a command that runs alone, unless the end of the transcript is out of view.
    """

    def __init__(
        self, styles: Styles, glyphs: Glyphs, *, clock: Callable[[], float] = time.monotonic
    ) -> None:
        super().__init__(styles, glyphs, id="activity")
        self._clock = clock
        self._state = UiState()
        self._tails = Tails()
        self._listed = ListedBlocks()
        self._blocks: list[Block] = []
        """The blocks of the newest turn that have an entry."""
        self._lasting = Lasting()
        self.folds = False

    def show(self, state: UiState) -> None:
        """Draw this state."""
        old, self._state = self._state, state
        if not state.running or state.phase == "asking":
            self._tails.forget()
        if _drawn_of(old, now := self._clock()) != _drawn_of(state, now):
            self._blocks = self._listed.of(state)
            self._tails.note(state.live)
            self.changed()

    @property
    def is_short(self) -> bool:
        """Whether it shows a single row now."""
        return self._lasting.is_quick(self._state, self._clock()) and self._is_folded

    def set_folds(self, folds: bool) -> None:
        """Have a single row while calls are quick, or show everything."""
        self.folds = folds
        self.changed()

    def set_end_in_view(self, in_view: bool) -> None:
        """The transcript has its end in view, or not."""
        if in_view != self._tails.end_in_view:
            self._tails.end_in_view = in_view
            self.changed()

    def place_of(self, turn: int, call_id: str | None) -> int | None:
        """The place of the entry of a call or, where it has none of its own, of its turn. None: there is
        none of that turn either."""
        return _place_of(self._blocks, self._state, turn, call_id)

    def title_row(self, width: int) -> Text:
        state, drawing = self._state, self._drawing(width)
        if not state.turns:
            return drawing.title("Activity", Text("no turn yet", self.look("dim")), width)
        turn = state.turns[-1].turn
        if self.is_short and not state.turn_running:
            return drawing.title("Activity", self.hint("fold_activity", "unfold"), width)
        clock = duration(state.turn_seconds(self._clock()), running=state.turn_running)
        return self.made.row("title", (turn, clock, width), lambda: drawing.turn_title(turn, clock))

    def entries(self, width: int) -> Sequence[PanelEntry]:
        now = self._now(width)
        if self.is_short:
            return self._drawing(width).single(self._state, now)
        height = self.size.height
        room = height - 4
        half = room // 2
        taken = sum(len(entry.rows) for entry in _newest(now, half)) if now and self._state.tasks else 0
        tasks = self._drawing(width).tasks(self._state.tasks, 2 * half - min(taken, half))
        if not self.has_focus and (now or tasks) and height:
            return _that_fit(now, self._earlier(width, below=bool(now)), tasks, room)
        earlier = self._earlier(width, below=bool(now))
        return Entries((len(now), now.__getitem__), earlier, (len(tasks), tasks.__getitem__))

    def _now(self, width: int) -> Sequence[PanelEntry]:
        """What the newest turn did and does."""
        blocks, drawing = self._blocks, self._drawing(width)
        now = doing(self._state, drawing.now)
        return Entries(
            (len(blocks), lambda place: self._entry_of(blocks[place], width)),
            (int(model_is_working(self._state)), lambda _: _doing(now, drawing, self.made)),
        )

    def _counted_height(self, width: int, most: int) -> int:
        """As for all panels, whatever the height is now: a tail gets as many rows as `most` has room for."""
        blocks = self._blocks
        if self.is_short or len(blocks) >= most:
            return min(SHORT_ROWS, most) if self.is_short else most
        limit = tail_limit(self._state.live, len(blocks), most)
        height, folded = self._tails.height, self._is_folded
        now = sum(1 + _has_contacts(block) + height(block, limit, folded=folded) for block in blocks)
        working = int(model_is_working(self._state))
        earlier = max(len(self._state.turns) - 1, 0)
        named = self._drawing(width).tasks(self._state.tasks, most - 4 - min(now + working, most // 2))
        tasks = sum(len(entry.rows) for entry in named)
        return 3 + now + working + (earlier + 1 if earlier else 0) + tasks + 1

    def _entry_of(self, block: Block, width: int) -> PanelEntry:
        if not isinstance(block, ToolBlock) or block.status == "running":
            drawing = self._drawing(width)
            return drawing.entry(block, self._tail(block, drawing) if has_tail(block) else ())
        return self.made.once(block, width, lambda: self._drawing(width).entry(block))

    def _tail(self, block: ToolBlock, drawing: ActivityRows) -> Sequence[Text]:
        if self._is_folded and self._tails.are_in_transcript(block):
            return drawing.tail(block, (), 0)
        limit = tail_limit(self._state.live, len(self._blocks), self.size.height)
        return drawing.tail(block, self._tails.lines(block, limit), self._tails.rows)

    @property
    def _is_folded(self) -> bool:
        return self.folds and not (self.has_focus or self.overlaid)

    def _earlier(self, width: int, *, below: bool) -> tuple[int, Callable[[int], PanelEntry]]:
        drawing = self._drawing(width)
        return _earlier(
            self._state.turns, lambda turn: self.made.once(turn, width, lambda: drawing.earlier(turn)), below
        )

    def _drawing(self, width: int) -> ActivityRows:
        return ActivityRows(self.look, self.glyphs, self.beat, self._clock(), width)


def _drawn_of(state: UiState, now: float) -> tuple[object, ...]:
    """What of a state is drawn here: all but the words of the reply, which come thirty times a second."""
    live = [block for block in state.live if not isinstance(block, TextBlock)]
    return state.turn_past, live, state.turns, state.phase, doing(state, now).silent, state.tasks


def _place_of(blocks: Sequence[Block], state: UiState, turn: int, call_id: str | None) -> int | None:
    for place, block in enumerate(blocks):
        if isinstance(block, ToolBlock) and block.id == call_id:
            return place
    now = len(blocks) + model_is_working(state)
    places = {row.turn: now + place for place, row in enumerate(reversed(state.turns[:-1]))}
    newest = state.turns[-1].turn if state.turns else 0
    return 0 if turn and turn == newest and now else places.get(turn)


def _has_contacts(block: Block) -> bool:
    return isinstance(block, ToolBlock) and bool(block.contacts)


def _newest(entries: Sequence[PanelEntry], room: int) -> list[PanelEntry]:
    """The last entries that fit into `room` rows; at least one."""
    kept: list[PanelEntry] = []
    for entry in reversed(entries):
        room -= len(entry.rows)
        if room < 0 and kept:
            break
        kept.insert(0, entry)
    return kept


def _that_fit(
    now: Sequence[PanelEntry],
    earlier: tuple[int, Callable[[int], PanelEntry]],
    tasks: Sequence[PanelEntry],
    room: int,
) -> list[PanelEntry]:
    """The newest entries of the turn, the commands in the background and, where there is some of the `room`
    left, earlier turns between them."""
    room -= sum(len(entry.rows) for entry in tasks)
    shown = _newest(now, room)
    left = room - sum(len(entry.rows) for entry in shown) - 1
    return [*shown, *Entries(earlier)[: max(left, 0)], *tasks]


def _earlier(
    turns: Sequence[TurnRow], made: Callable[[TurnRow], PanelEntry], below: bool
) -> tuple[int, Callable[[int], PanelEntry]]:
    """The turns before the newest one, newest first, `below` a blank row."""

    def entry(place: int) -> PanelEntry:
        earlier = made(turns[-2 - place])
        return replace(earlier, rows=(BLANK, *earlier.rows)) if below and place == 0 else earlier

    return max(len(turns) - 1, 0), entry


def _doing(now: Doing, drawing: ActivityRows, made: EntryCache) -> PanelEntry:
    says = now.sentence, now.clock, drawing.beat, drawing.width
    return PanelEntry(rows=(made.row("doing", says, lambda: drawing.doing(now)),))
