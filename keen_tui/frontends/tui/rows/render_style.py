"""The styles of the theme, the glyphs and the width that the transcript is drawn with."""

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
"""The most cells of prose."""
ROW_CELLS: Final = 110
"""The most cells of a row of facts whose last ones are at its right end."""


class RenderStyle(Struct, frozen=True):
    """`width` is the width of the whole column in cells, with gutter and right margin."""

    styles: Styles
    glyphs: Glyphs
    width: int

    @property
    def wide(self) -> int:
        """Cells between the left and right text edges, for code, diffs and tables."""
        return max(self.width - TEXT_EDGE - RIGHT_MARGIN, 8)

    @property
    def row(self) -> int:
        """Cells of a row that is spread over the column, with the right margin. Limited, so that its two ends
        stay close together in a wide terminal."""
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
