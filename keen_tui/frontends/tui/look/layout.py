"""Which parts the workspace shows at a terminal size."""

from __future__ import annotations

from msgspec import Struct
from textual.geometry import Size
from textual.widget import Widget

SMALLEST = Size(40, 10)
_SIDEBAR_FROM = 100
_HEADER_FROM = 16
_COMPOSER_PADS_FROM = 20
_TRANSCRIPT_BESIDE_QUESTION_FROM = 14
_SIDEBAR_COLUMNS = ((200, 52), (160, 48), (120, 40), (0, 36))
"""Columns of the sidebar beside the conversation, by the columns that the terminal has at least."""
_OVERLAY_COLUMNS = 40
_LEAST_COLUMNS = 28
SIDEBAR_STEP = 4
"""Columns by which the sidebar gets wider or narrower at once."""
TEXT_EDGE, RIGHT_MARGIN = 4, 2
"""Columns of the composer beside the text and its cursor: bar and prompt sign before it, nothing behind."""


class Layout(Struct, frozen=True):
    """`wide` terminals hold the sidebar beside the conversation, others lay it over as an overlay.

    `low` ones have no header, `flat` ones a composer without blank rows, `cramped` ones no transcript while a
    question is open, `tiny` ones nothing at all.
    `sidebar_columns` is its width in either place, `usual_columns` what it would be if nobody had said.
    """

    wide: bool
    low: bool
    flat: bool
    cramped: bool
    tiny: bool
    sidebar_columns: int
    usual_columns: int


def layout_of(size: Size, sidebar_wanted: int = 0) -> Layout:
    """The layout for a terminal of that size. `sidebar_wanted` are the columns that the user wants of the
    sidebar, 0 for none in particular; beside the conversation it gets half of the terminal at most."""
    wide = size.width >= _SIDEBAR_FROM
    usual = _beside(size.width) if wide else min(_OVERLAY_COLUMNS, size.width)
    most = size.width // 2 if wide else size.width
    wanted = min(max(sidebar_wanted, _LEAST_COLUMNS), most) if sidebar_wanted else usual
    return Layout(
        wide=wide,
        low=size.height < _HEADER_FROM,
        flat=size.height < _COMPOSER_PADS_FROM,
        cramped=size.height < _TRANSCRIPT_BESIDE_QUESTION_FROM,
        tiny=size.width < SMALLEST.width or size.height < SMALLEST.height,
        sidebar_columns=wanted,
        usual_columns=usual,
    )


def _beside(columns: int) -> int:
    return next(width for least, width in _SIDEBAR_COLUMNS if columns >= least)


def is_displayed(widget: Widget) -> bool:
    """Whether a widget and everything around it is to be shown, drawn yet or not.

    `Widget.is_on_screen` knows only the last layout: a panel that has just come out isn't in it yet.
    """
    around = (node for node in widget.ancestors_with_self if isinstance(node, Widget))
    return widget.is_attached and all(node.display for node in around)
