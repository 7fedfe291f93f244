"""The block cursor: with the focus, keys move it from block to block and act on the blocks it stands on."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Literal

from keen_tui.frontends.tui.state.state import Block, TextBlock, UserBlock
from keen_tui.frontends.tui.transcript.blocks.block_rows import block_name, code_of, is_excerpt, source
from keen_tui.frontends.tui.transcript.copying import CopyingView
from keen_tui.frontends.tui.transcript.document import Place

ROWS_ABOVE_REVEALED = 2
_NEAR = 2
"""How far a block may move when one is added or taken away before it: only at the end of a turn."""

Step = Literal[-1, 1]


class CursorView(CopyingView, can_focus=True):
    """A view with a block cursor, which may be drawn out over several blocks."""

    _cursor: int | None = None
    _range_from: int | None = None
    """Where a range of blocks began; the cursor is its other end."""
    _code_copied: tuple[int, int] = (-1, 0)
    """The block whose code was copied last, and how many of its pieces."""

    @property
    def block_under_cursor(self) -> Block | None:
        """The block that the cursor stands on, None as long as there is no cursor."""
        return None if self._cursor is None else self._document.entries[self._cursor].block

    def on_focus(self) -> None:
        self._ensure_cursor()
        self._cursor_moved()

    def on_blur(self) -> None:
        self.refresh()

    def action_cursor_up(self) -> None:
        self._move(-1, extend=False)

    def action_cursor_down(self) -> None:
        self._move(1, extend=False)

    def action_extend_up(self) -> None:
        self._move(-1, extend=True)

    def action_extend_down(self) -> None:
        self._move(1, extend=True)

    def action_turn_above(self) -> None:
        """To the beginning of this turn or, from there, of the one before."""
        cursor = self._ensure_cursor()
        if cursor is not None and not self._stand_on_turn(range(cursor - 1, -1, -1)):
            self.action_first_block()

    def action_turn_below(self) -> None:
        """To the beginning of the next turn; from the last one, to the end."""
        cursor = self._ensure_cursor()
        if cursor is not None and not self._stand_on_turn(range(cursor + 1, len(self._document))):
            self.action_last_block()

    def action_first_block(self) -> None:
        self.action_scroll_home()
        self._stand_on(0)

    def action_last_block(self) -> None:
        self.action_scroll_end()
        self._stand_on(len(self._document) - 1)

    def action_page_up(self) -> None:
        super().action_page_up()
        self._fetch_cursor(1)

    def action_page_down(self) -> None:
        super().action_page_down()
        self._fetch_cursor(-1)

    @property
    def can_fold(self) -> bool:
        return self._cursor is not None and self._document.folds(self._cursor)

    def action_fold(self) -> None:
        if self._cursor is not None and self._document.toggle(self._cursor):
            # What is unfolded in view must not be pushed out of it.
            self.following = False
            self._settle()
            self._stopped()

    def action_copy_block(self) -> None:
        """Copy the blocks under the cursor as they were written: Markdown, code without line numbers."""
        blocks = [self._document.entries[index].block for index in self._under_cursor()]
        self._copy(_joined(blocks), "of an excerpt" if any(map(is_excerpt, blocks)) else "")

    def action_copy_code(self) -> None:
        """Copy the code in the block under the cursor; once more, its next piece."""
        if self._cursor is None:
            return
        entry = self._document.entries[self._cursor]
        pieces = code_of(entry.block)
        serial, taken = self._code_copied
        number = taken % len(pieces) if pieces and serial == entry.serial else 0
        self._code_copied = (entry.serial, number + 1)
        which = f", piece {number + 1} of {len(pieces)}" if len(pieces) > 1 else ""
        self._copy(iter(pieces[number : number + 1]), "of code" + which, nothing="no code in this block")

    def copy_reply(self, *, code: bool = False) -> None:
        """Copy the newest reply, or all the code in it."""
        entries = self._document.entries
        newest = next((each.block for each in reversed(entries) if _is_reply(each.block)), None)
        if newest is None:
            self._copy(iter(()), nothing="no reply to copy yet")
        elif code:
            code_in_it = "\n\n".join(code_of(newest))
            self._copy(iter((code_in_it,)), "of code", nothing="no code in the newest reply")
        else:
            self._copy(_joined((newest,)))

    def copy_everything(self) -> None:
        """Copy the whole conversation as it was written."""
        blocks = (entry.block for entry in tuple(self._document.entries))
        self._copy(_joined(blocks), nothing="nothing to copy yet")

    def _is_under_cursor(self, block: int) -> bool:
        """Whether a block is painted as the cursor's, alone or in a range."""
        return self.has_focus and block in self._under_cursor()

    def _under_cursor(self) -> range:
        if self._cursor is None:
            return range(0)
        other = self._cursor if self._range_from is None else self._range_from
        return range(min(self._cursor, other), max(self._cursor, other) + 1)

    def _ensure_cursor(self) -> int | None:
        """The block under the cursor; it begins on the last one in view."""
        if self._cursor is None and len(self._document):
            self._cursor = self._in_view().stop - 1
        return self._cursor

    def _keep_cursor(self, before: Block | None) -> None:
        """The blocks changed: stay on the block that was under the cursor, which was `before`."""
        entries = self._document.entries
        if self._cursor is None or before is None or not entries:
            self._cursor = self._range_from = None
            return
        name = block_name(before)
        near = (self._cursor, *range(self._cursor - _NEAR, self._cursor + _NEAR + 1))
        there = (index for index in near if 0 <= index < len(entries))
        same = (index for index in there if block_name(entries[index].block) == name)
        self._cursor = next(same, min(self._cursor, len(entries) - 1))
        if self._range_from is not None:
            self._range_from = min(self._range_from, len(entries) - 1)

    def _in_view(self) -> range:
        """The blocks of which at least one row is seen."""
        first = self._document.find(self.scroll_offset.y).block
        last, offset = self._document.find(self.scroll_offset.y + self._viewport - 1)
        only_gap = last > first and offset < self._document.entries[last].gap
        return range(first, last + (0 if only_gap else 1))

    def _move(self, step: Step, *, extend: bool) -> None:
        """To the next block; through one that is higher than the view, a page at a time."""
        cursor = self._ensure_cursor()
        if cursor is None:
            return
        self._range_from = (cursor if self._range_from is None else self._range_from) if extend else None
        if cursor not in self._in_view():
            self._fetch_cursor(step)
        elif hidden := self._hidden_rows(cursor, step):
            self._scroll_rows(step * min(hidden, max(self._viewport - 2, 1)))
        else:
            self._cursor = min(max(cursor + step, 0), len(self._document) - 1)
            self._scroll_into_view(self._cursor, step)
        self._cursor_moved()

    def _fetch_cursor(self, step: Step) -> None:
        """A cursor that is out of view goes on from the edge of the view that it would come in by."""
        seen = self._in_view()
        if self.has_focus and self._ensure_cursor() not in (None, *seen):
            self._cursor = seen.start if step > 0 else seen.stop - 1
            self._cursor_moved()

    def _hidden_rows(self, block: int, step: Step) -> int:
        """How many rows of a block are beyond the edge of the view."""
        top = self._document.top(block) + self._document.entries[block].gap
        end = self._document.top(block) + self._document.height(block)
        first = self.scroll_offset.y
        return max(end - first - self._viewport, 0) if step > 0 else max(first - top, 0)

    def _scroll_into_view(self, block: int, step: Step) -> None:
        """Have all of a block in view or, of one that is higher, the part that comes first that way."""
        top, height = self._document.top(block), self._document.height(block)
        # Measuring it may have moved what is in view: it is higher, or lower, than was estimated.
        above = top - self._document.top(self._anchor.block) - self._anchor.offset
        below = above + height - self._viewport
        if height > self._viewport:
            self._scroll_rows(above if step > 0 else below)
        elif above < 0:
            self._scroll_rows(above)
        elif below > 0:
            self._scroll_rows(below)

    def _stand_on_turn(self, blocks: Iterable[int]) -> bool:
        """Put the cursor on the first of these blocks that begins a turn. False: none of them does."""
        entries = self._document.entries
        begin = next((index for index in blocks if isinstance(entries[index].block, UserBlock)), None)
        if begin is None:
            return False
        self._stand_on(begin)
        self._go(Place(begin, 0))
        self._scroll_rows(-min(ROWS_ABOVE_REVEALED, self._viewport // 3))
        return True

    def _stand_on(self, block: int) -> None:
        if 0 <= block < len(self._document):
            self._cursor, self._range_from = block, None
            self._cursor_moved()

    def _cursor_moved(self) -> None:
        self.refresh()
        self._announce()


def _is_reply(block: Block) -> bool:
    return isinstance(block, TextBlock) and bool(block.text.strip())


def _joined(blocks: Iterable[Block]) -> Iterator[str]:
    """What the blocks are copied as, a blank line between them."""
    for number, block in enumerate(blocks):
        yield "\n\n" * (number > 0) + source(block)
