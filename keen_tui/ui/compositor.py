"""What Textual does to paint a change, cut down to what changed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import cast

from textual._compositor import Compositor
from textual.geometry import Region
from textual.strip import Strip


class FrugalCompositor(Compositor):
    """Asks for rows only where something is painted again.

    Textual's own asks every widget on the screen for every row it has, however little changed: a key in the
    composer costs as much as a new screen. This is private to Textual, like the attribute of a screen that
    holds its compositor; tests compare what is painted with a screen painted anew.
    """

    def _get_renders(self, crop: Region | None = None) -> Iterable[tuple[Region, Region, list[Strip]]]:
        if crop is None:
            crop = self.size.region
        rows = Region(0, crop.y, self.size.width, crop.height)
        for widget, (region, clip) in self.visible_widgets.items():
            seen = region.intersection(clip).intersection(rows)
            if seen and seen.overlaps(crop):
                strips = widget.render_lines(seen.translate((-region.x, -region.y)))
                yield region, seen, cast("list[Strip]", [_Row(strip) for strip in strips])


class _Row:
    """A strip, as far as painting asks for it.

    Textual's own `divide` keeps a strip that stays whole among its own pieces: a cycle, so that every row
    ever painted waits for the garbage collector.
    """

    __slots__ = ("_strip",)

    def __init__(self, strip: Strip) -> None:
        self._strip = strip

    def divide(self, cuts: Iterable[int]) -> Sequence[Strip]:
        cuts = [cut for cut in cuts if cut <= self._strip.cell_length]
        return [self._strip] if cuts == [self._strip.cell_length] else self._strip.divide(cuts)
