"""All blocks of the conversation as rows: drawn where they are visible, estimated elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain
from typing import Final, NamedTuple

from msgspec import Struct, field

from keen_tui.frontends.tui.rows.lazy_lines import LazyLines
from keen_tui.frontends.tui.rows.lines import BLANK, Line
from keen_tui.frontends.tui.rows.render_style import RenderStyle
from keen_tui.frontends.tui.state.state import Block, TextBlock, ToolBlock
from keen_tui.frontends.tui.state.trail import Trail
from keen_tui.frontends.tui.transcript.blocks.block_context import BlockContext
from keen_tui.frontends.tui.transcript.blocks.block_rows import (
    block_name,
    differs_as_last,
    draw_block,
    extent,
    gap_before,
    ticks,
)
from keen_tui.frontends.tui.transcript.blocks.folding import Folding, Folds, FoldState, fold_key
from keen_tui.frontends.tui.transcript.heights import HeightIndex
from keen_tui.frontends.tui.transcript.placed_block import (
    FIRST_REVISION,
    DrawnBlocks,
    PlacedBlock,
    Revision,
)

_NARROWEST: Final = 10
"""The fewest cells in a row when heights are estimated."""


class _Coming(Struct, eq=False):
    """Blocks that are prepared but not shown yet. Heights are of these `folds`, and of the `revision` when
    the first blocks came, or a later one."""

    folds: object = None
    revision: Revision = FIRST_REVISION
    past: Trail[Block] = field(default_factory=Trail)
    entries: list[PlacedBlock] = field(default_factory=list)
    heights: HeightIndex = field(default_factory=HeightIndex)


class Place(NamedTuple):
    """A row, named by its block, so that it stays the same when heights above it change."""

    block: int
    offset: int


class Document:
    """The blocks of a conversation, their heights and their fold states."""

    def __init__(self, look: RenderStyle, clock: Callable[[], float]) -> None:
        self.look = look
        self.breath = False
        self.asked = False
        """Whether a question is open: then the key to press is in the question."""
        self.is_low = False
        """Whether the terminal has few rows: then the last block takes fewer."""
        self.has_ways_on = True
        self.labelled: Callable[[str], str] = str
        """Returns a text of the user with labels for the long pastes in it."""
        self.entries: list[PlacedBlock] = []
        self.revision = FIRST_REVISION
        self.outdated = 0
        """How many of the first blocks may still have the height of an earlier revision."""
        self._clock = clock
        self._heights = HeightIndex()
        self._past: Trail[Block] = Trail()
        self._coming = _Coming()
        self._folds = Folds()
        self._drawn = DrawnBlocks()

    def __len__(self) -> int:
        return len(self.entries)

    @property
    def rows(self) -> int:
        return self._heights.total

    def top(self, index: int) -> int:
        """The first row of a block, including the empty rows above it."""
        return self._heights.top(index)

    def height(self, index: int) -> int:
        """The height of a block in rows. Draws the block if its height is only an estimate."""
        if self._updated(index).measured != self.revision.look:
            self.lines(index)
        return self._heights[index]

    def find(self, row: int) -> Place:
        """The place of a row; the last place for a row after the end."""
        index, offset = self._heights.find(max(row, 0))
        if index < len(self.entries):
            return Place(index, offset)
        last = max(len(self.entries) - 1, 0)
        return Place(last, max(self._heights[last] - 1, 0) if self.entries else 0)

    def blocks_in(self, row: int, count: int) -> Iterator[tuple[int, range]]:
        """The blocks in `count` rows from `row` on, each with the offsets of its rows there."""
        index, offset = self._heights.find(row)
        while count > 0 and index < len(self.entries):
            end = min(self._heights[index], offset + count)
            yield index, range(offset, end)
            count -= end - offset
            index, offset = index + 1, 0

    def show(self, past: Trail[Block], live: tuple[Block, ...]) -> int:
        """Show these blocks. Returns the first block that differs; all before it are unchanged."""
        start = min(past.same_as(self._past), len(self.entries))
        self._past = past
        before_last = len(self.entries) - 1
        total = len(past) + len(live)
        first_changed = total
        for index, block in enumerate(chain(past.since(start), live), start):
            if index == len(self.entries):
                self._append(index, block)
            elif self.entries[index].block is not block:
                self._put(index, block)
            else:
                continue
            first_changed = min(first_changed, index)
        if total < len(self.entries):
            self._truncate(total)
            first_changed = min(first_changed, total)
        return self._last_changed(before_last, first_changed)

    def read_ahead(self, past: int, live: Sequence[Block]) -> bool:
        """Parse new text of the last block, and draw its finished pieces, without showing them. Returns False
        if the number of blocks (`past` and live ones) or the last block isn't the one that is shown, or if
        the last block isn't text."""
        if not live or past + len(live) != len(self.entries):
            return False
        entry, block = self.entries[-1], live[-1]
        if not isinstance(block, TextBlock) or block_name(block) != block_name(entry.block):
            return False
        if entry.lines is not None:
            entry.stream(block).draw_finished(self.look)
        return True

    def index_of(self, block: Block) -> int | None:
        """The index of a block that was shown before; it may be a different object now."""
        name = block_name(block)
        if self.entries and block_name(self.entries[0].block) == name:
            return 0
        from_the_end = reversed(range(len(self.entries)))
        return next((index for index in from_the_end if block_name(self.entries[index].block) == name), None)

    def prepare(self, past: Trail[Block]) -> None:
        """Prepare blocks that aren't shown yet: the past of a session that is still being restored. Called
        for one piece after another; each call costs as much as its piece adds."""
        coming = self._coming
        if not coming.entries or past.same_as(coming.past) < len(coming.entries):
            coming = self._coming = _Coming(self._folds.as_it_is(), self.revision)
        coming.past = past
        before = coming.entries[-1].block if coming.entries else None
        for block in past.since(len(coming.entries)):
            entry = self._entry(before, block)
            coming.entries.append(entry)
            coming.heights.append(entry.gap + self._estimate(entry))
            before = block

    def adopt(self, past: Trail[Block]) -> bool:
        """Replace the shown blocks by the prepared blocks of this past. False if nothing was prepared."""
        coming, self._coming = self._coming, _Coming()
        if not coming.entries or past.same_as(coming.past) < len(coming.entries):
            return False
        self._truncate(0)
        self.entries, self._past, self._heights = coming.entries, coming.past, coming.heights
        if coming.folds != self._folds.as_it_is():
            self.revision = self.revision.next_folding()
        if coming.revision != self.revision:
            self.outdated = len(self.entries)
        return True

    def clear(self) -> None:
        """Forget all blocks and their individual fold states."""
        self._truncate(0)
        self._past = Trail()
        self._folds.forget()

    def lines(self, index: int) -> Sequence[Line]:
        """The rows of a block without the empty ones above it."""
        entry = self._updated(index)
        if entry.lines is None:
            self._draw(index, entry)
        else:
            self._drawn.seen(entry)
        assert entry.lines is not None
        return entry.lines

    def drawn(self, index: int) -> Sequence[Line]:
        """The rows of a block. Rows that aren't on the screen aren't kept, and the heights of blocks stay as
        they are, so that the view needn't settle."""
        entry = self.entries[index]
        if entry.lines is not None and entry.revision is self.revision:
            return entry.lines
        return draw_block(entry.block, self._scene(index), None)

    def line(self, place: Place) -> Line:
        """The row at a place."""
        if place.block >= len(self.entries):
            return BLANK
        row = place.offset - self.entries[place.block].gap
        lines = self.lines(place.block)
        return lines[row] if 0 <= row < len(lines) else BLANK

    def is_unfolded(self, block: Block) -> bool:
        """Whether a foldable block is shown whole."""
        return self._folds.view(block) == "unfolded"

    def view(self, index: int) -> FoldState:
        """How much of a block is shown."""
        return self._folds.view(self.entries[index].block)

    def folds(self, index: int) -> bool:
        """Whether a block can fold."""
        return fold_key(self.entries[index].block) is not None

    def toggle(self, index: int) -> bool:
        """Unfold a block, or fold it if it is shown whole. False if it can't fold."""
        return self.set_view(index, "folded" if self.view(index) == "unfolded" else "unfolded")

    def set_view(self, index: int, view: FoldState) -> bool:
        """Set how much of a block is shown. False if it can't fold."""
        if not self.folds(index):
            return False
        self._folds.set(self.entries[index].block, view)
        self._changed(index)
        if index + 1 < len(self.entries):
            self._update_gap(index + 1)
        return True

    def next_folding(self) -> Folding:
        """Switch all blocks to the next state: all unfolded, all folded, or the usual view. The heights of
        those that nobody looks at stay as they are until `update_heights`."""
        folding = self._folds.next()
        self._coming = _Coming()
        self._change_all(self.revision.next_folding())
        return folding

    def redraw(self, look: RenderStyle) -> None:
        """Forget all drawings, because the look changed. The heights of blocks that nobody looks at stay as
        they are until `update_heights`."""
        self.look = look
        self._drawn.forget_all_lines()
        self._change_all(self.revision.next_look())

    def update_heights(self, blocks: int) -> None:
        """Estimate so many more heights again, from the end upwards."""
        first = max(self.outdated - blocks, 0)
        for index in range(self.outdated - 1, first - 1, -1):
            self._updated(index)
        self.outdated = first

    def recolour(self) -> None:
        """Redraw visible blocks, because new colours are ready."""
        for entry in self._drawn:
            if isinstance(entry.lines, LazyLines):
                entry.lines.forget()
            else:
                self._drawn.forget_lines(entry)
            entry.recolour()

    def tick(self, indices: Iterable[int]) -> list[int]:
        """Redraw the running clocks in these blocks; returns the blocks that have one."""
        last = len(self.entries) - 1
        ticking = [index for index in indices if ticks(self.entries[index].block, last=index == last)]
        for index in ticking:
            self._drawn.forget_lines(self.entries[index])
        return ticking

    def redraw_end(self) -> None:
        """Redraw the last block, whose chip depends on `asked`, and its height on `is_low`."""
        if self.entries:
            self._changed(len(self.entries) - 1)

    def _append(self, index: int, block: Block) -> None:
        entry = self._entry(self.entries[index - 1].block if index else None, block)
        self.entries.append(entry)
        self._heights.append(entry.gap + self._estimate(entry))

    def _put(self, index: int, block: Block) -> None:
        self.entries[index].block = block
        self._update_gap(index)
        self._changed(index)
        if index + 1 < len(self.entries):
            self._update_gap(index + 1)

    def _entry(self, before: Block | None, block: Block) -> PlacedBlock:
        view = self._folds.view(block)
        return PlacedBlock(block, self._gap(before, block), extent(block, view), self.revision)

    def _truncate(self, length: int) -> None:
        for entry in self.entries[length:]:
            self._drawn.remove(entry)
        del self.entries[length:]
        self._heights.truncate(length)
        self.outdated = min(self.outdated, length)

    def _last_changed(self, before_last: int, first_changed: int) -> int:
        """Redraw the block that was last before and the one that is last now, if that makes a difference to
        them."""
        last = len(self.entries) - 1
        if before_last == last:
            return first_changed
        for index in (before_last, last):
            if 0 <= index <= last and differs_as_last(self.entries[index].block):
                self._changed(index)
                first_changed = min(first_changed, index)
        return first_changed

    def _changed(self, index: int) -> None:
        entry = self.entries[index]
        self._drawn.forget_lines(entry)
        entry.measured = 0
        entry.extent = extent(entry.block, self._folds.view(entry.block))
        self._heights.update(index, entry.gap + self._estimate(entry))

    def _update_gap(self, index: int) -> None:
        entry = self.entries[index]
        gap = self._gap(self.entries[index - 1].block if index else None, entry.block)
        if gap != entry.gap:
            if height := self._heights[index]:  # a block without rows has none above it, either
                self._heights.update(index, height - entry.gap + gap)
            entry.gap = gap

    def _gap(self, before: Block | None, block: Block) -> int:
        view = self._folds.view(before) if before else "folded"
        is_tail = view == "excerpt" and isinstance(before, ToolBlock) and bool(before.tail)
        shows_more = view != "folded" and not is_tail
        return gap_before(before, block, before_unfolded=shows_more)

    def _change_all(self, revision: Revision) -> None:
        self.revision = revision
        self.outdated = len(self.entries)

    def _updated(self, index: int) -> PlacedBlock:
        """A block as the newest folding and look want it. If it can fold, a new folding makes it forget its
        drawing."""
        entry = self.entries[index]
        before, entry.revision = entry.revision, self.revision
        if before is self.revision:
            return entry
        gap, height = entry.gap, self._heights[index]
        if before.folding != self.revision.folding:
            gap = self._gap(self.entries[index - 1].block if index else None, entry.block)
            if fold_key(entry.block):
                self._drawn.forget_lines(entry)
                entry.measured = 0
                entry.extent = extent(entry.block, self._folds.view(entry.block))
        if entry.measured != self.revision.look:
            height = gap + self._estimate(entry)
        elif height:
            height += gap - entry.gap
        entry.gap = gap
        self._heights.update(index, height)
        return entry

    def _estimate(self, entry: PlacedBlock) -> int:
        rows, characters = entry.extent
        return rows + characters // max(self.look.prose, _NARROWEST)

    def _scene(self, index: int) -> BlockContext:
        view = self.view(index)
        return BlockContext(
            look=self.look,
            now=self._clock(),
            last=index == len(self.entries) - 1,
            unfolded=view == "unfolded",
            excerpt=view == "excerpt",
            breath=self.breath,
            is_low=self.is_low,
            has_ways_on=self.has_ways_on,
            labelled=self.labelled,
            asked=self.asked,
        )

    def _draw(self, index: int, entry: PlacedBlock) -> None:
        block = entry.block
        stream = entry.stream(block) if isinstance(block, TextBlock) else None
        entry.lines = draw_block(block, self._scene(index), stream)
        entry.measured = self.revision.look
        self._heights.update(index, entry.gap + len(entry.lines) if entry.lines else 0)
        self._drawn.keep(entry)
