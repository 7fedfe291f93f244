"""What a widget shows between a new size and the message about it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from textual.geometry import Region, Size
from textual.strip import Strip
from textual.widget import Widget


class RowsOfBefore:
    """The rows of a widget for the size that it had. They are shown until it has handled the message about
    its new size: rows that are drawn before that would be drawn in vain.

    Args:
        is_laid_out: says whether the widget knows its size.
    """

    def __init__(self, widget: Widget, is_laid_out: Callable[[], bool]) -> None:
        self._widget = widget
        self._is_laid_out = is_laid_out
        self._size = Size(0, 0)
        """The newest size that was painted before the widget knew it."""
        self._waits = False

    def instead(self, painted: Sequence[Strip], size: Size, crop: Region) -> list[Strip] | None:
        """The rows that were `painted` for `size`, cut or filled up for the size that the widget has now;
        None if it is time to draw new ones."""
        now = self._widget.size
        if not painted or now == size or self._is_laid_out():
            return None
        if now != self._size:
            self._size, self._waits = now, True
            self._widget.call_later(self._end)  # it comes behind the message about the size
        return self._fitted(painted, crop) if self._waits else None

    def _end(self) -> None:
        """Stop waiting, whatever the widget knows."""
        if self._waits:
            self._waits = False
            self._widget.refresh()

    def _fitted(self, painted: Sequence[Strip], crop: Region) -> list[Strip]:
        width, ground = self._widget.size.width, self._widget.rich_style
        rows = [
            row.adjust_cell_length(width, ground).crop(crop.x, crop.right)
            for row in painted[crop.y : crop.bottom]
        ]
        return rows + [Strip.blank(crop.width, ground)] * (crop.height - len(rows))
