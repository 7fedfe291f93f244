"""Times, sizes, counts and cut texts as the screen shows them."""

from __future__ import annotations

from rich.cells import cell_len, set_cell_size

from keen_tui.domain.own_tools import own_tool
from keen_tui.frontends.tui.look.glyphs import Glyphs
from keen_tui.text.labels import beside_name

_MOST_MARKS = 16
"""Characters, marks without a width included, that stand in one cell at most."""


def cut(text: str, cells: int, more: str = "…") -> str:
    """`text` in at most `cells` terminal cells; where something is lost it ends with `more`."""
    shown = text[: _MOST_MARKS * max(cells, 1)]
    if len(shown) == len(text) and cell_len(text) <= cells:
        return text
    if cells < cell_len(more):
        return ""
    text = shown
    return set_cell_size(text, cells - cell_len(more)).rstrip() + more


def cut_path(path: str, cells: int, more: str = "…") -> str:
    """`path` in at most `cells`: it loses leading folders first, then the end of its name."""
    if cell_len(path) <= cells:
        return path
    parts = path.split("/")
    for first in range(1, len(parts)):
        shorter = "/".join((more, *parts[first:]))
        if cell_len(shorter) <= cells:
            return shorter
    return cut(parts[-1] or path, cells, more)


def cut_target(tool: str, target: str, cells: int, more: str = "…") -> str:
    """Returns the target of a tool call in at most `cells` cells, shortened as a path if the tool's target is
    one."""
    return (cut_path if own_tool(tool).takes_path else cut)(beside_name(tool, target), cells, more)


def meter(share: float, cells: int, glyphs: Glyphs) -> tuple[str, str]:
    """A meter of `cells`: its filled part and its track. Anything above nothing fills at least a half."""
    halves = round(min(max(share, 0.0), 1.0) * cells * 2)
    if share > 0:
        halves = max(halves, 1)
    filled = glyphs.meter_full * (halves // 2) + glyphs.meter_half * (halves % 2)
    return filled, glyphs.meter_track * (cells - len(filled))
