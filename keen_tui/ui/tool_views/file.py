"""A part of a file: line numbers and code with syntax colours."""

from __future__ import annotations

from typing import Final

from rich.segment import Segment

from keen_tui.display import FileDisplay
from keen_tui.ui.highlight import highlight
from keen_tui.ui.themes import Styles
from keen_tui.ui.transcript.code import code_runs, safe_code
from keen_tui.ui.transcript.lines import Line, wrap_code

NUMBER_CELLS: Final = 5


def draw_file(display: FileDisplay, width: int, styles: Styles, ground: str) -> list[Line]:
    plain = styles("text", on=ground)
    blank = (Segment(" " * (NUMBER_CELLS + 2), plain),)
    lines: list[Line] = []
    rows = highlight(safe_code(display.text.removesuffix("\n")), path=display.path)
    for number, coloured in enumerate(rows, display.first_line):
        label = (Segment(f"{number:>{NUMBER_CELLS}}  ", styles("dim", on=ground)),)
        for part, line in enumerate(wrap_code(code_runs(coloured, styles, ground), width - NUMBER_CELLS - 3)):
            lines.append(line.behind(blank if part else label).filled(width, plain))
    return lines
