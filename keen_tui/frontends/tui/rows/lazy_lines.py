"""Rows that are drawn only when somebody reads them."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate
from typing import Final, NamedTuple, overload

from keen_tui.frontends.tui.rows.lines import Line
from keen_tui.frontends.tui.rows.lru_cache import Recent

GROUPS_KEPT: Final = 256


class CopiedText(NamedTuple):
    """The text of a group of rows for the clipboard, and its joint to the group before."""

    joint: str
    text: str


class LazyLines(Sequence[Line]):
    """Rows in groups, for example a line of code with the rows that it is broken into.

    The heights of the groups are known from the beginning; `draw` returns the rows of a group on demand.
    `said` returns the text of a group. Without it, a group is drawn for its text.
    """

    def __init__(
        self,
        heights: Sequence[int],
        draw: Callable[[int], Sequence[Line]],
        said: Callable[[int], CopiedText] | None = None,
    ) -> None:
        self.heights = heights
        self.draw = draw
        self._said = said
        self.ends = list(accumulate(heights))
        """The number of rows up to the end of each group."""
        self._drawn: Recent[int, Sequence[Line]] = Recent(GROUPS_KEPT)

    def __len__(self) -> int:
        return self.ends[-1] if self.ends else 0

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
        group = bisect_right(self.ends, row)
        return self._group(group)[row - self.ends[group] + self.heights[group]]

    def __iter__(self) -> Iterator[Line]:
        for group in range(len(self.heights)):
            yield from self._group(group)

    def mapped(self, change: Callable[[Line], Line]) -> LazyLines:
        """The same rows, each changed by `change`, which MUST keep the text."""
        return LazyLines(self.heights, lambda group: [change(line) for line in self.draw(group)], self.say)

    def say(self, group: int) -> CopiedText:
        """The text of a group."""
        if self._said is not None:
            return self._said(group)
        return CopiedText("\n", "\n".join(line.copied() for line in self._group(group)))

    def forget(self) -> None:
        """Draw rows again when they are read: they look different now, but have the same height."""
        self._drawn = Recent(GROUPS_KEPT)

    def _group(self, group: int) -> Sequence[Line]:
        rows = self._drawn.get(group)
        if rows is None:
            rows = self.draw(group)
            self._drawn.keep(group, rows)
        return rows


def rows_kept(lines: Sequence[Line]) -> int:
    """About how many drawn rows are in memory."""
    return min(len(lines), GROUPS_KEPT) if isinstance(lines, LazyLines) else len(lines)


def joined(*parts: LazyLines) -> LazyLines:
    """The parts as one sequence of rows."""
    groups = [(part, group) for part in parts for group in range(len(part.heights))]
    heights = [part.heights[group] for part, group in groups]

    def draw(number: int) -> Sequence[Line]:
        part, group = groups[number]
        return part.draw(group)

    def say(number: int) -> CopiedText:
        part, group = groups[number]
        return part.say(group)

    return LazyLines(heights, draw, say)


def one_row(line: Line) -> LazyLines:
    """A single row that is drawn already."""
    return LazyLines([1], lambda _: [line])
