"""The rows of a block as the text that they show, and the way between the two.

What is searched, selected and copied is this text: rows that were wrapped are one line in it, and
decoration is left out. A place in it stays the same when the block is wrapped for another width.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from typing import Final, NamedTuple

from keen_tui.plain import clean
from keen_tui.ui.transcript.document import Document
from keen_tui.ui.transcript.lines import Line
from keen_tui.ui.transcript.recent import Recent

FLOWS_KEPT: Final = 256


class Spot(NamedTuple):
    """A character of a block's text, or the end of that text."""

    block: int
    place: int


class Flow:
    """`text` is what `lines` show. Places in it are counted in characters, columns in those of a row."""

    __slots__ = ("_edges", "_starts", "text")

    def __init__(self, lines: Sequence[Line]) -> None:
        pieces: list[str] = []
        self._starts: list[int] = []
        self._edges: list[tuple[int, int]] = []
        length = 0
        for number, line in enumerate(lines):
            whole = line.text
            content = clean(line.hidden, newlines=True) or whole[line.skip : len(whole) - line.trim]
            goes_on = number + 1 < len(lines) and lines[number + 1].joint == ""
            if not goes_on:
                content = content.rstrip()
            if number:
                joint = "\n" if line.joint is None else line.joint
                pieces.append(joint)
                length += len(joint)
            self._starts.append(length)
            self._edges.append((line.skip, line.skip + (0 if line.hidden else len(content))))
            pieces.append(content)
            length += len(content)
        self.text = "".join(pieces)

    def row(self, place: int) -> int:
        """The row that shows the character at `place`, or what is left of it."""
        return max(bisect_right(self._starts, place) - 1, 0)

    def place(self, row: int, column: int) -> int:
        """Where the character in `column` of `row` stands; the nearest place for decoration."""
        if not self._starts:
            return 0
        row = min(row, len(self._starts) - 1)
        first, last = self._edges[row]
        return self._starts[row] + min(max(column, first), last) - first

    def bounds(self, row: int) -> tuple[int, int]:
        """The text of `row`: its first character, and the one behind its last."""
        if not 0 <= row < len(self._starts):
            return 0, 0
        first, last = self._edges[row]
        return self._starts[row], self._starts[row] + last - first

    def columns(self, row: int, first: int, last: int) -> tuple[int, int] | None:
        """The columns of `row` that show text from `first` up to `last`; None where there are none."""
        if not 0 <= row < len(self._starts):
            return None
        start, (left, right) = self._starts[row], self._edges[row]
        begin = left + max(first - start, 0)
        end = min(left + last - start, right)
        return (begin, end) if begin < end else None


class Flows:
    """The flows of a document's blocks, each made once for its rows."""

    def __init__(self, document: Document) -> None:
        self._document = document
        self._kept: Recent[int, tuple[Sequence[Line], int, Line, Flow]] = Recent(FLOWS_KEPT)

    def of(self, index: int) -> Flow:
        """That of a block, which is drawn if it was not."""
        lines = self._document.lines(index)
        if not lines:
            return Flow(())
        serial, last = self._document.entries[index].serial, lines[-1]
        kept = self._kept.get(serial)
        if kept and kept[0] is lines and kept[1] == len(lines) and kept[2] is last:
            return kept[3]
        flow = Flow(lines)
        self._kept.keep(serial, (lines, len(lines), last, flow))
        return flow
