"""What all drawing of the transcript needs to know: the theme's styles, the glyphs, the width."""

from __future__ import annotations

from typing import Final

from msgspec import Struct
from rich.segment import Segment

from keen_tui.frontends.tui.look.glyphs import Glyphs
from keen_tui.frontends.tui.look.themes import Styles

GLYPH_COLUMN: Final = 2
TEXT_EDGE: Final = 4
"""The column where all text begins."""
RIGHT_MARGIN: Final = 4
PROSE_CELLS: Final = 96
"""Prose is never wider than this."""
ROW_CELLS: Final = 110
"""The same for a row of facts whose last ones stand at its right end."""


class RenderStyle(Struct, frozen=True):
    """`width` is that of the whole column in cells, gutter and right margin included."""

    styles: Styles
    glyphs: Glyphs
    width: int

    @property
    def wide(self) -> int:
        """Cells between the text edge and the right text edge: for code, diffs and tables."""
        return max(self.width - TEXT_EDGE - RIGHT_MARGIN, 8)

    @property
    def row(self) -> int:
        """Cells from the left edge to the end of a row that is spread over the column, right margin included:
        in a wide terminal its two ends still belong together."""
        return min(self.width, ROW_CELLS)

    @property
    def prose(self) -> int:
        return min(self.wide, PROSE_CELLS)

    def gutter(self, glyph: str = "", role: str = "text", *, on: str | None = None) -> tuple[Segment, ...]:
        """The four cells left of the text edge, with `glyph` in its column."""
        plain = None if on is None else self.styles(role, on=on)
        if not glyph:
            return (Segment(" " * TEXT_EDGE, plain),)
        pad = " " * max(TEXT_EDGE - GLYPH_COLUMN - len(glyph), 0)
        return (
            Segment(" " * GLYPH_COLUMN, plain),
            Segment(glyph, self.styles(role, on=on)),
            Segment(pad, plain),
        )
