"""A part of a file: line numbers and code with syntax colours."""

from __future__ import annotations

from typing import Final

from rich.segment import Segment

from keen_tui.domain.display import FileDisplay
from keen_tui.frontends.tui.look.themes import Styles
from keen_tui.frontends.tui.markdown.code import CodeLine, lazy_code
from keen_tui.frontends.tui.markdown.highlight import ScreenColours
from keen_tui.frontends.tui.rows.lazy_lines import LazyLines
from keen_tui.text.highlighting import safe_code

NUMBER_CELLS: Final = 5


def draw_file(display: FileDisplay, width: int, styles: Styles, ground: str) -> LazyLines:
    blank = (Segment(" " * (NUMBER_CELLS + 2), styles("text", on=ground)),)
    dim = styles("dim", on=ground)
    colours = ScreenColours(safe_code(display.text.removesuffix("\n")), path=display.path)

    def line(number: int) -> CodeLine:
        label = f"{display.first_line + number:>{NUMBER_CELLS}}  "
        return CodeLine(colours[number], (Segment(label, dim),), blank, ground, len(label))

    return lazy_code(colours.lines, line, width - NUMBER_CELLS - 3, width, styles)
