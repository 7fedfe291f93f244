"""Code on its own ground, with syntax colours."""

from __future__ import annotations

from typing import Final

from rich.segment import Segment

from keen_tui.ui.highlight import Coloured, highlight
from keen_tui.ui.highlight import safe_code as safe_code
from keen_tui.ui.themes import Styles
from keen_tui.ui.transcript.lines import Line, wrap_code

PAD: Final = 2
"""Blank cells between the edge of the ground and the code."""


def code_lines(
    code: str, cells: int, styles: Styles, *, ground: str, language: str = "", path: str = ""
) -> list[Line]:
    """The rows of a piece of code, `cells` wide; lines that are too long are wrapped."""
    plain = styles("text", on=ground)
    pad = (Segment(" " * PAD, plain),)
    return [
        row.behind(pad).filled(cells, plain)
        for coloured in highlight(safe_code(code), language, path)
        for row in wrap_code(code_runs(coloured, styles, ground), cells - 2 * PAD)
    ]


def code_runs(coloured: Coloured, styles: Styles, ground: str) -> list[Segment]:
    """One coloured line on `ground`; comments are italic."""
    return [Segment(text, styles(role, on=ground, italic=role == "comment")) for text, role in coloured]
