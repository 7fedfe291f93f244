"""What Textual does to paint a change, cut down to what changed."""

from __future__ import annotations

from collections.abc import Iterable

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
                yield region, seen, widget.render_lines(seen.translate((-region.x, -region.y)))
