"""A block in its place in the document, and which blocks keep their drawn rows."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator, Sequence
from itertools import count
from typing import Final, NamedTuple

from msgspec import Struct, field

from keen_tui.frontends.tui.markdown.stream import MarkdownStream
from keen_tui.frontends.tui.rows.lazy_lines import rows_kept
from keen_tui.frontends.tui.rows.lines import Line
from keen_tui.frontends.tui.state.state import Block, TextBlock

LINES_KEPT: Final = 2_000
"""Drawn rows that are kept; the least recently seen blocks lose theirs, and what was parsed for them."""
BLOCKS_KEPT: Final = 500

_serials = count()


class Revision(NamedTuple):
    """Counts what changes all blocks at once."""

    folding: int
    """How often all blocks were folded or unfolded."""
    look: int
    """How often they got another width, theme or glyphs. Begins with 1: a block whose `measured` is 0 was
    never measured."""

    def next_folding(self) -> Revision:
        """The revision after one more folding."""
        return self._replace(folding=self.folding + 1)

    def next_look(self) -> Revision:
        """The revision after one more change of the look."""
        return self._replace(look=self.look + 1)


FIRST_REVISION: Final = Revision(folding=0, look=1)


class PlacedBlock(Struct, eq=False):
    """A block in its place, with the empty rows above it.

    Its height is known for the look with the number `measured`, and estimated from its `extent` for others.
    """

    block: Block
    gap: int
    extent: tuple[int, int]
    revision: Revision
    """The revision for which gap, extent and height were worked out."""
    measured: int = 0
    lines: Sequence[Line] | None = None
    serial: int = field(default_factory=lambda: next(_serials))
    _stream: MarkdownStream | None = None
    _streamed: str = ""

    def stream(self, block: TextBlock) -> MarkdownStream:
        """The parsed text of `block`. If the text has only grown since the last call, only the new part is
        parsed."""
        stream, text = self._stream, block.text
        is_further = stream is not None and not stream.finished and text.startswith(self._streamed)
        if stream is None or not (is_further or text == self._streamed):
            stream, self._streamed = MarkdownStream(), ""
        if len(text) > len(self._streamed):
            stream.feed(text[len(self._streamed) :])
        if not (block.open or stream.finished):
            stream.finish()
        self._stream, self._streamed = stream, text
        return stream

    def recolour(self) -> None:
        """Make the next drawing parse and colour the text again."""
        if self._stream is not None:
            self._stream.forget_contents()

    def forget_rows(self) -> None:
        """Forget the rows, but not the parsed text."""
        self.lines = None
        if self._stream is not None:
            self._stream.forget_rows()

    def forget(self) -> None:
        """Forget the rows and the parsed text."""
        self.lines = self._stream = None
        self._streamed = ""


class DrawnBlocks:
    """The blocks that were drawn most recently: up to `BLOCKS_KEPT`, with up to `LINES_KEPT` rows."""

    def __init__(self) -> None:
        self._entries: OrderedDict[int, PlacedBlock] = OrderedDict()
        self._rows = 0

    def __iter__(self) -> Iterator[PlacedBlock]:
        return iter(self._entries.values())

    def keep(self, entry: PlacedBlock) -> None:
        """Keep the rows of a block that was drawn just now. Others may lose theirs."""
        self._entries[entry.serial] = entry
        self._entries.move_to_end(entry.serial)
        self._rows += rows_kept(entry.lines or ())
        while len(self._entries) > (1 if self._rows > LINES_KEPT else BLOCKS_KEPT):
            _, oldest = self._entries.popitem(last=False)
            self.forget_lines(oldest)
            oldest.forget()

    def seen(self, entry: PlacedBlock) -> None:
        """Mark a drawn block as the one that was seen last."""
        self._entries.move_to_end(entry.serial)

    def forget_lines(self, entry: PlacedBlock) -> None:
        """Forget the rows of a block."""
        if entry.lines is not None:
            self._rows -= rows_kept(entry.lines)
        entry.lines = None

    def forget_all_lines(self) -> None:
        """Forget the rows of all blocks, but not their parsed texts."""
        for entry in self._entries.values():
            entry.forget_rows()
        self._rows = 0

    def remove(self, entry: PlacedBlock) -> None:
        """Forget a block that is no longer shown."""
        self.forget_lines(entry)
        self._entries.pop(entry.serial, None)
