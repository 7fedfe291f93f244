"""The text of a block's rows, and the conversion between rows and text.

Searching, selecting and copying work on this text: wrapped rows are one line in it, and decoration is left
out. A position in it stays the same when the block is wrapped for another width.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from operator import itemgetter
from typing import Final, NamedTuple

from keen_tui.frontends.tui.rows.lazy_lines import CopiedText, LazyLines
from keen_tui.frontends.tui.rows.lines import Line
from keen_tui.frontends.tui.rows.lru_cache import Recent
from keen_tui.frontends.tui.transcript.document import Document
from keen_tui.text.sanitize import clean

FLOWS_KEPT: Final = 256


class Spot(NamedTuple):
    """A character of a block's text, or the end of that text."""

    block: int
    place: int


class _Edge(NamedTuple):
    """The text of a row: it begins at `place` and fills the columns from `left` up to `right`."""

    place: int
    left: int
    right: int


class Flow:
    """`text` is the text of `lines`. Positions in it, and columns of a row, are counted in characters.

    Lazy rows are asked for their text only; the positions of the text in the rows are looked up group by
    group.
    """

    __slots__ = ("_ends", "_groups", "_lines", "_starts", "text")

    def __init__(self, lines: Sequence[Line]) -> None:
        self._lines = lines
        self._groups: dict[int, list[_Edge]] = {}
        if isinstance(lines, LazyLines):
            pieces, self._starts = _said(lines)
            self._ends: Sequence[int] = lines.ends
        else:
            pieces, self._groups[0] = _contents(lines, 0)
            self._starts, self._ends = [0], [len(lines)]
        self.text = "".join(pieces)

    def row(self, place: int) -> int:
        """The row with the character at `place`, or the row before it."""
        group = max(bisect_right(self._starts, place) - 1, 0)
        row = bisect_right(self._edges(group), place, key=itemgetter(0)) - 1
        return max(self._first_row(group) + max(row, 0), 0)

    def place(self, row: int, column: int) -> int:
        """The position of the character in `column` of `row`; for decoration the nearest position."""
        if not len(self._lines):
            return 0
        edge = self._edge(min(row, len(self._lines) - 1))
        return edge.place + min(max(column, edge.left), edge.right) - edge.left

    def bounds(self, row: int) -> tuple[int, int]:
        """The text of `row`: the positions of its first character and of the one after its last."""
        if not 0 <= row < len(self._lines):
            return 0, 0
        place, left, right = self._edge(row)
        return place, place + right - left

    def columns(self, row: int, first: int, last: int) -> tuple[int, int] | None:
        """The columns of `row` with text from `first` up to `last`, or None."""
        if not 0 <= row < len(self._lines):
            return None
        place, left, right = self._edge(row)
        begin = left + max(first - place, 0)
        end = min(left + last - place, right)
        return (begin, end) if begin < end else None

    def _edge(self, row: int) -> _Edge:
        group = bisect_right(self._ends, row)
        return self._edges(group)[row - self._first_row(group)]

    def _first_row(self, group: int) -> int:
        return self._ends[group - 1] if group else 0

    def _edges(self, group: int) -> list[_Edge]:
        """The edges of the rows of a group. Draws the group."""
        edges = self._groups.get(group)
        if edges is None:
            rows = self._lines[self._first_row(group) : self._ends[group]]
            goes_on = self._goes_on_behind(group)
            edges = self._groups[group] = _contents(rows, self._starts[group], goes_on=goes_on)[1]
        return edges

    def _goes_on_behind(self, group: int) -> bool:
        """Whether the next group begins in the middle of a word, or of spaces."""
        is_last = group + 1 >= len(self._ends)
        return isinstance(self._lines, LazyLines) and not is_last and self._lines.say(group + 1).joint == ""


def _contents(lines: Sequence[Line], start: int, *, goes_on: bool = False) -> tuple[list[str], list[_Edge]]:
    """The text of the rows with the joints between them, and the edges of each row, counted from `start`.
    `goes_on`: a row that isn't among these continues the last one."""
    pieces: list[str] = []
    edges: list[_Edge] = []
    for number, line in enumerate(lines):
        is_last = number + 1 == len(lines)
        hidden = clean(line.hidden, newlines=True) if line.hidden else ""
        on = goes_on if is_last else lines[number + 1].joint == ""
        content = hidden if hidden else line.copied(goes_on=on)
        if number:
            joint = "\n" if line.joint is None else line.joint
            pieces.append(joint)
            start += len(joint)
        edges.append(_Edge(start, line.skip, line.skip + (0 if hidden else len(content))))
        pieces.append(content)
        start += len(content)
    return pieces, edges


def _said(lines: LazyLines) -> tuple[list[str], list[int]]:
    """The text of the groups with the joints between them, and the beginning of each."""
    pieces: list[str] = []
    starts: list[int] = []
    length = 0
    for group, height in enumerate(lines.heights):
        said = lines.say(group) if height else CopiedText("", "")
        for piece in (said.joint if length or pieces else "", said.text):
            pieces.append(piece)
            length += len(piece)
        starts.append(length - len(said.text))
    return pieces, starts


class Flows:
    """The flows of a document's blocks, each created once for its rows."""

    def __init__(self, document: Document) -> None:
        self._document = document
        self._kept: Recent[int, tuple[Sequence[Line], Flow]] = Recent(FLOWS_KEPT)

    def of(self, index: int) -> Flow:
        """The flow of a block. Draws the block if necessary."""
        lines = self._document.lines(index)
        if not lines:
            return Flow(())
        serial = self._document.entries[index].serial
        kept = self._kept.get(serial)
        if kept and kept[0] is lines:
            return kept[1]
        flow = Flow(lines)
        self._kept.keep(serial, (lines, flow))
        return flow
