"""Screens and widgets whose new size costs one layout of the screen instead of two."""

from __future__ import annotations

from textual import events, on
from textual.containers import Container, Horizontal, Vertical
from textual.geometry import Size
from textual.screen import Screen, ScreenResultType
from textual.widget import Widget


class LaidOutOnce(Widget):
    """A widget that Textual never gives scrollbars.

    When a layout changes the size of a widget's contents, Textual lays out the whole screen once more, as
    scrollbars may have come or gone. This widget does without.

    List it behind the base whose style applies: style sheets look at the first base of a class only.
    """

    def _size_updated(
        self, size: Size, virtual_size: Size, container_size: Size, layout: bool = True
    ) -> bool:
        return super()._size_updated(size, virtual_size, container_size, layout=False)


class KeenScreen(Screen[ScreenResultType], LaidOutOnce):
    """A screen that is laid out once for each size.

    A layout tells every widget its new size. When a screen is told its own, Textual would lay out everything
    again. If its contents overflow, it is laid out once more, for the scrollbar.
    """

    @on(events.Resize)
    def _keep_layout(self, event: events.Resize) -> None:
        if event.size == self.outer_size:
            event.prevent_default()


class PaneColumn(Vertical, LaidOutOnce):
    """Widgets one below the other."""


class PaneRow(Horizontal, LaidOutOnce):
    """Widgets side by side."""


class PaneStack(Container, LaidOutOnce):
    """Widgets of which one is shown at a time."""
