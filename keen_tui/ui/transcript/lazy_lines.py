"""Rows of which only those that are looked at are drawn."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate
from typing import Final, overload

from keen_tui.ui.transcript.lines import Line
from keen_tui.ui.transcript.recent import Recent

GROUPS_KEPT: Final = 256


class LazyLines(Sequence[Line]):
    """Rows in groups, for example a line of code with the rows that it is broken into.

    How high the groups are is known from the beginning; `draw` gives the rows of one when they are wanted.
    """

    def __init__(self, heights: Sequence[int], draw: Callable[[int], Sequence[Line]]) -> None:
        self.heights = heights
        self.draw = draw
        self._ends = list(accumulate(heights))
        self._drawn: Recent[int, Sequence[Line]] = Recent(GROUPS_KEPT)

    def __len__(self) -> int:
        return self._ends[-1] if self._ends else 0

    @overload
    def __getitem__(self, index: int) -> Line: ...

    @overload
    def __getitem__(self, index: slice) -> list[Line]: ...

    def __getitem__(self, index: int | slice) -> Line | list[Line]:
        if isinstance(index, slice):
            return [self[row] for row in range(*index.indices(len(self)))]
        row = index + len(self) if index < 0 else index
        if not 0 <= row < len(self):
            raise IndexError(index)
        group = bisect_right(self._ends, row)
        return self._group(group)[row - self._ends[group] + self.heights[group]]

    def __iter__(self) -> Iterator[Line]:
        for group in range(len(self.heights)):
            yield from self._group(group)

    def mapped(self, change: Callable[[Line], Line]) -> LazyLines:
        """Every row changed."""
        return LazyLines(self.heights, lambda group: [change(line) for line in self.draw(group)])

    def _group(self, group: int) -> Sequence[Line]:
        rows = self._drawn.get(group)
        if rows is None:
            rows = self.draw(group)
            self._drawn.keep(group, rows)
        return rows


def rows_kept(lines: Sequence[Line]) -> int:
    """About how many rows lie drawn in memory."""
    return min(len(lines), GROUPS_KEPT) if isinstance(lines, LazyLines) else len(lines)


def joined(*parts: Sequence[Line]) -> LazyLines:
    """Rows one below the other."""
    heights: list[int] = []
    draws: list[tuple[Callable[[int], Sequence[Line]], int]] = []
    for part in parts:
        lazy = part if isinstance(part, LazyLines) else LazyLines([len(part)], lambda _, part=part: part)  # type: ignore[misc]
        heights += lazy.heights
        draws += [(lazy.draw, group) for group in range(len(lazy.heights))]
    return LazyLines(heights, lambda group: draws[group][0](draws[group][1]))
