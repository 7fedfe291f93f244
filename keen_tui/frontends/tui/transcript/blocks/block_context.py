"""Everything besides the block itself that its drawing depends on."""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct
from rich.segment import Segment

from keen_tui.frontends.tui.rows.lines import Line, cells_of, wrap
from keen_tui.frontends.tui.rows.render_style import RenderStyle


class BlockContext(Struct, frozen=True):
    """`now` is seconds on the clock of `state.reducer.apply`; `last`: no block follows.

    `breath` is true in the half of the second in which a running call's dot is small. A block that isn't
    `unfolded` may show an `excerpt`. `labelled` returns a text with labels for the long pastes in it. While
    something is `asked`, no other key is highlighted. `has_ways_on`: an end that waits shows its keys.
    `is_low`: the terminal has few rows.
    """

    look: RenderStyle
    now: float
    last: bool = False
    unfolded: bool = False
    excerpt: bool = False
    breath: bool = False
    is_low: bool = False
    has_ways_on: bool = True
    labelled: Callable[[str], str] = str
    asked: bool = False

    @property
    def running_glyph(self) -> str:
        glyphs = self.look.glyphs
        return glyphs.running_alt if self.breath else glyphs.running

    def facts(self, glyph: str, glyph_role: str, *words: tuple[str, str]) -> list[Line]:
        """A row of facts, separated by three spaces, each a text and its role. Facts that don't fit go to
        more rows."""
        styles = self.look.styles
        runs: list[Segment] = []
        for text, role in words:
            if text:
                runs += (Segment("   "), Segment(text, styles(role)))
        lines = wrap(runs[1:], self.look.wide)
        return [
            line.behind(self.look.gutter() if row else self.look.gutter(glyph, glyph_role))
            for row, line in enumerate(lines)
        ]

    def fold_mark(self, row: Line) -> Line:
        """`row` with the fold mark at its right end."""
        mark = self.look.glyphs.unfolded if self.unfolded else self.look.glyphs.folded
        room = self.look.row - 3 - cells_of(row.segments)
        pieces = (Segment(" " * max(room, 0)), Segment(mark, self.look.styles("dim")))
        added = sum(len(piece.text) for piece in pieces)
        return row._replace(segments=(*row.segments, *pieces), trim=row.trim + added)
