"""Heights of many blocks, with sums that cost O(log n): a Fenwick tree."""

from __future__ import annotations

from collections.abc import Iterable


class HeightIndex:
    """The heights of blocks in rows, in order. `top` and `find` convert between blocks and rows."""

    def __init__(self, heights: Iterable[int] = ()) -> None:
        self._heights: list[int] = list(heights)
        self._sums: list[int] = []
        self._build()

    def __len__(self) -> int:
        return len(self._heights)

    def __getitem__(self, index: int) -> int:
        return self._heights[index]

    @property
    def total(self) -> int:
        """The rows of all blocks together."""
        return self.top(len(self._heights))

    def append(self, height: int) -> None:
        self._heights.append(height)
        position = len(self._heights)
        # The new node covers the blocks after `position` without its lowest set bit.
        below = self.top(position - 1) - self.top(position & (position - 1))
        self._sums.append(below + height)

    def update(self, index: int, height: int) -> None:
        change = height - self._heights[index]
        if not change:
            return
        self._heights[index] = height
        position = index + 1
        while position <= len(self._sums):
            self._sums[position - 1] += change
            position += position & -position

    def truncate(self, length: int) -> None:
        """Forget all blocks from `length` on."""
        del self._heights[length:]
        del self._sums[length:]

    def top(self, index: int) -> int:
        """The first row of block `index`: the sum of the heights before it."""
        rows = 0
        while index > 0:
            rows += self._sums[index - 1]
            index &= index - 1
        return rows

    def find(self, row: int) -> tuple[int, int]:
        """The block of `row`, and the number of that row in the block.

        For a row after the end: the number of blocks, and the distance from the end.
        """
        position, step = 0, 1 << len(self._sums).bit_length()
        while step:
            ahead = position + step
            if ahead <= len(self._sums) and self._sums[ahead - 1] <= row:
                position = ahead
                row -= self._sums[ahead - 1]
            step >>= 1
        return position, row

    def _build(self) -> None:
        sums = self._sums = list(self._heights)
        for position in range(1, len(sums) + 1):
            parent = position + (position & -position)
            if parent <= len(sums):
                sums[parent - 1] += sums[position - 1]
