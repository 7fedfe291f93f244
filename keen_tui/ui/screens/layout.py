"""Which parts the workspace shows at a terminal size."""

from __future__ import annotations

from msgspec import Struct
from textual.geometry import Size

from keen_tui.ui.widgets.sidebar import OVERLAY_WIDTH, sidebar_width

SMALLEST = Size(40, 10)
_SIDEBAR_FROM = 100
_HEADER_FROM = 16
_COMPOSER_PADS_FROM = 20


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
        sidebar_columns=sidebar_width(size.width) if wide else min(OVERLAY_WIDTH, size.width),
    )
