"""Scrolling without a layout of the whole screen."""

from __future__ import annotations

from textual.geometry import Size
from textual.scroll_view import ScrollView
from textual.widget import Widget


def scroll_to_row(widget: ScrollView, row: int, rows: int) -> None:
    """Have `row` be the first in view of contents that are `rows` high, at once.

    `virtual_size` is a reactive that lays everything out anew, though nothing but this widget's scroll range
    depends on it: it is set beside that.
    """
    size = Size(widget.size.width, rows)
    if size != widget.virtual_size:
        widget.set_reactive(Widget.virtual_size, size)
        widget._scroll_update(size)
    if widget.scroll_offset.y != row:
        widget.scroll_y = row
        widget.scroll_target_y = row
