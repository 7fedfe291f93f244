"""All blocks of the conversation as rows: drawn where they are seen, estimated elsewhere."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable
from itertools import chain, count
from typing import Final, NamedTuple

from msgspec import Struct, field

from keen_tui.ui.state import Block, TextBlock
from keen_tui.ui.trail import Trail
from keen_tui.ui.transcript.blocks import (
    FoldKey,
    block_name,
    draw_block,
    estimated_rows,
    fold_key,
    gap_before,
    ticks,
)
from keen_tui.ui.transcript.heights import HeightIndex
from keen_tui.ui.transcript.lines import BLANK, Line
from keen_tui.ui.transcript.look import Look
from keen_tui.ui.transcript.scene import Scene
from keen_tui.ui.transcript.stream import MarkdownStream

LINES_KEPT: Final = 6_000
"""Drawn rows that are kept; the blocks seen longest ago lose theirs."""
_MANY: Final = 64

_serials = count()


class Entry(Struct, eq=False):
    """A block in its place. `known`: its height was measured and is no estimate."""

    block: Block
    gap: int = 0
    known: bool = False
    lines: list[Line] | None = None
    stream: MarkdownStream | None = None
    streamed: str = ""
    serial: int = field(default_factory=lambda: next(_serials))

    def outdated(self) -> None:
        self.lines = None
        self.known = False


class Place(NamedTuple):
    """A row by the block that it belongs to: it stays the same when heights above it change."""

    block: int
    offset: int


class Document:
    """The blocks of a conversation, their heights, and which of them are unfolded."""

    def __init__(self, look: Look, clock: Callable[[], float]) -> None:
        self.look = look
        self.breath = False
        self.live_output = False
        self.entries: list[Entry] = []
        self._clock = clock
        self._heights = HeightIndex()
        self._past: Trail[Block] = Trail()
        self._all_unfolded = False
        self._turned: set[FoldKey] = set()
        self._drawn: OrderedDict[int, Entry] = OrderedDict()
        self._drawn_lines = 0

    def __len__(self) -> int:
        return len(self.entries)

    @property
    def rows(self) -> int:
        return self._heights.total

    def top(self, index: int) -> int:
        """The first row of a block; the blank rows above it count as its own."""
        return self._heights.top(index)

    def height(self, index: int) -> int:
        """The rows of a block, which is drawn for that if its height is only an estimate."""
        if not self.entries[index].known:
            self.lines(index)
        return self._heights[index]

    def find(self, row: int) -> Place:
        """The place of a row; the last one for a row behind the end."""
        index, offset = self._heights.find(max(row, 0))
        if index < len(self.entries):
            return Place(index, offset)
        last = max(len(self.entries) - 1, 0)
        return Place(last, max(self._heights[last] - 1, 0) if self.entries else 0)

    def show(self, past: Trail[Block], live: tuple[Block, ...]) -> int:
        """Take the blocks over. Returns the first block that is different; all before are untouched."""
        start = min(past.same_as(self._past), len(self.entries))
        self._past = past
        before_last = len(self.entries) - 1
        total = len(past) + len(live)
        first_changed = total
        many = total - len(self.entries) > _MANY
        for index, block in enumerate(chain(past.since(start), live), start):
            if index < len(self.entries) and self.entries[index].block is block:
                continue
            first_changed = min(first_changed, index)
            self._put(index, block, indexed=not many)
        if total < len(self.entries):
            self._truncate(total)
            first_changed = min(first_changed, total)
        if many:
            self._estimate_all()
        return self._last_changed(before_last, first_changed)

    def index_of(self, block: Block) -> int | None:
        """Where a block stands now that was shown before, though it may be another object."""
        name = block_name(block)
        found = (
            index
            for index, entry in enumerate(self.entries)
            if entry.block is block or block_name(entry.block) == name
        )
        return next(found, None)

    def clear(self) -> None:
        """Forget all blocks, and which of them were unfolded by themselves."""
        self._truncate(0)
        self._past = Trail()
        self._turned.clear()

    def lines(self, index: int) -> list[Line]:
        """The rows of a block without the blank ones above it."""
        entry = self.entries[index]
        if entry.lines is None:
            self._draw(index, entry)
        else:
            self._drawn.move_to_end(entry.serial)
        assert entry.lines is not None
        return entry.lines

    def line(self, place: Place) -> Line:
        """The row at a place."""
        if place.block >= len(self.entries):
            return BLANK
        row = place.offset - self.entries[place.block].gap
        lines = self.lines(place.block)
        return lines[row] if 0 <= row < len(lines) else BLANK

    def is_unfolded(self, block: Block) -> bool:
        key = fold_key(block)
        return key is not None and (key in self._turned) != self._all_unfolded

    def toggle(self, index: int) -> bool:
        """Fold or unfold a block. False: it is of a kind that does not fold."""
        key = fold_key(self.entries[index].block)
        if key is None:
            return False
        self._turned ^= {key}
        self._changed(index)
        if index + 1 < len(self.entries):
            self._update_gap(index + 1)
        return True

    def toggle_all(self) -> None:
        """Unfold all tool and reasoning blocks, or fold them all."""
        self._all_unfolded = not self._all_unfolded
        self._turned.clear()
        self.redraw()

    def redraw(self, look: Look | None = None) -> None:
        """Forget all drawings, as the look or the fold state changed."""
        self.look = look or self.look
        for entry in self.entries:
            entry.outdated()
        self._drawn.clear()
        self._drawn_lines = 0
        self._estimate_all()

    def tick(self, indices: Iterable[int]) -> list[int]:
        """Redraw the running clocks among these blocks; returns which have one."""
        last = len(self.entries) - 1
        ticking = [index for index in indices if ticks(self.entries[index].block, last=index == last)]
        for index in ticking:
            self._forget_lines(self.entries[index])
        return ticking

    def redraw_running(self) -> None:
        """Redraw the blocks whose height depends on `live_output`."""
        for index, entry in enumerate(self.entries):
            if ticks(entry.block, last=False):
                self._changed(index)

    def _put(self, index: int, block: Block, *, indexed: bool) -> None:
        if index < len(self.entries):
            entry = self.entries[index]
            entry.block = block
            self._forget_lines(entry)
            entry.outdated()
        else:
            self.entries.append(Entry(block))
            if indexed:
                self._heights.append(0)
        if indexed and index < len(self._heights):
            self._update_gap(index)
            self._changed(index)

    def _truncate(self, length: int) -> None:
        for entry in self.entries[length:]:
            self._forget_lines(entry)
        del self.entries[length:]
        self._heights.truncate(length)

    def _last_changed(self, before_last: int, first_changed: int) -> int:
        """Blocks are drawn differently while they are the last: see to the one that was, and that is."""
        last = len(self.entries) - 1
        if before_last == last:
            return first_changed
        for index in (before_last, last):
            if 0 <= index <= last:
                self._changed(index)
        return min(first_changed, max(min(before_last, last), 0))

    def _changed(self, index: int) -> None:
        entry = self.entries[index]
        self._forget_lines(entry)
        entry.outdated()
        self._heights.update(index, entry.gap + self._estimate(entry))

    def _update_gap(self, index: int) -> None:
        entry = self.entries[index]
        gap = self._gap(index)
        if gap != entry.gap:
            self._heights.update(index, self._heights[index] - entry.gap + gap)
            entry.gap = gap

    def _gap(self, index: int) -> int:
        before = self.entries[index - 1].block if index else None
        unfolded = before is not None and self.is_unfolded(before)
        return gap_before(before, self.entries[index].block, before_unfolded=unfolded)

    def _estimate(self, entry: Entry) -> int:
        return estimated_rows(entry.block, self.look.prose, unfolded=self.is_unfolded(entry.block))

    def _estimate_all(self) -> None:
        heights: list[int] = []
        for index, entry in enumerate(self.entries):
            entry.gap = self._gap(index)
            heights.append(entry.gap + (len(entry.lines) if entry.lines else self._estimate(entry)))
        self._heights = HeightIndex(heights)

    def _draw(self, index: int, entry: Entry) -> None:
        scene = Scene(
            look=self.look,
            now=self._clock(),
            last=index == len(self.entries) - 1,
            unfolded=self.is_unfolded(entry.block),
            breath=self.breath,
            live_output=self.live_output,
        )
        entry.lines = draw_block(entry.block, scene, self._stream(entry))
        entry.known = True
        self._heights.update(index, entry.gap + len(entry.lines) if entry.lines else 0)
        self._drawn[entry.serial] = entry
        self._drawn_lines += len(entry.lines)
        while self._drawn_lines > LINES_KEPT and len(self._drawn) > 1:
            _, oldest = self._drawn.popitem(last=False)
            self._drawn_lines -= len(oldest.lines or ())
            oldest.lines = None

    def _stream(self, entry: Entry) -> MarkdownStream | None:
        """The stream of a text that grows, fed with what is new; None for text that was never open."""
        block = entry.block
        if not isinstance(block, TextBlock) or not (block.open or entry.stream):
            entry.stream = None
            return None
        stream, streamed = entry.stream, entry.streamed
        if stream is None or not block.text.startswith(streamed):
            stream, streamed = MarkdownStream(), ""
        stream.feed(block.text[len(streamed) :])
        if not block.open:
            stream.finish()
        # A finished stream is of no more use: a later drawing starts from the whole text.
        entry.stream, entry.streamed = (stream, block.text) if block.open else (None, "")
        return stream

    def _forget_lines(self, entry: Entry) -> None:
        if self._drawn.pop(entry.serial, None) is not None:
            self._drawn_lines -= len(entry.lines or ())
        entry.lines = None
