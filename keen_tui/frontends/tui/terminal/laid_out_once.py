"""Widgets whose new size costs one layout of the screen instead of two."""

from __future__ import annotations

from textual.containers import Container, Horizontal, Vertical
from textual.geometry import Size
from textual.widget import Widget


class LaidOutOnce(Widget):
    """A widget without scrollbars of Textual.

    A layout tells each widget the size of its contents, and Textual's own lays out the whole screen once
    more where that is new: scrollbars may appear or go.
    """

    def _size_updated(
        self, size: Size, virtual_size: Size, container_size: Size, layout: bool = True
    ) -> bool:
        return super()._size_updated(size, virtual_size, container_size, layout=False)


class PaneColumn(LaidOutOnce, Vertical):
    """Widgets one below the other."""


class PaneRow(LaidOutOnce, Horizontal):
    """Widgets side by side."""


class PaneStack(LaidOutOnce, Container):
    """Widgets of which one is shown at a time."""
