"""Which parts the workspace shows at a terminal size."""

from __future__ import annotations

from msgspec import Struct
from textual.geometry import Size

SMALLEST = Size(40, 10)
_SIDEBAR_FROM = 100
_HEADER_FROM = 16
_COMPOSER_PADS_FROM = 20
_SIDEBAR_COLUMNS = ((200, 52), (160, 48), (120, 40), (0, 36))
"""Columns of the sidebar beside the conversation, by the columns that the terminal has at least."""
_OVERLAY_COLUMNS = 40


class Layout(Struct, frozen=True):
    """`wide` terminals hold the sidebar beside the conversation, others lay it over as an overlay.

    `low` ones have no header, `flat` ones a composer without blank rows, `tiny` ones nothing at all.
    `sidebar_columns` is its width in either place.
    """

    wide: bool
    low: bool
    flat: bool
    tiny: bool
    sidebar_columns: int


def layout_of(size: Size) -> Layout:
    """The layout for a terminal of that size."""
    wide = size.width >= _SIDEBAR_FROM
    return Layout(
        wide=wide,
        low=size.height < _HEADER_FROM,
        flat=size.height < _COMPOSER_PADS_FROM,
        tiny=size.width < SMALLEST.width or size.height < SMALLEST.height,
        sidebar_columns=_beside(size.width) if wide else min(_OVERLAY_COLUMNS, size.width),
    )


def _beside(columns: int) -> int:
    return next(width for least, width in _SIDEBAR_COLUMNS if columns >= least)
