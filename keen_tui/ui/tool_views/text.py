"""Plain text, the output of a command, a list of paths."""

from __future__ import annotations

from typing import Final

from rich.segment import Segment

from keen_tui.display import CommandDisplay, FileListDisplay
from keen_tui.ui.glyphs import Glyphs
from keen_tui.ui.themes import Styles
from keen_tui.ui.transcript.code import PAD, safe_code
from keen_tui.ui.transcript.lines import Line, wrap_code

PROMPT: Final = "$ "


def draw_text(text: str, width: int, styles: Styles, ground: str, role: str = "soft") -> list[Line]:
    plain = styles("text", on=ground)
    pad = (Segment(" " * PAD, plain),)
    return [
        line.behind(pad).filled(width, plain)
        for row in safe_code(text.rstrip("\n")).split("\n")
        for line in wrap_code([Segment(row, styles(role, on=ground))], width - 2 * PAD)
    ]


def draw_command(display: CommandDisplay, width: int, styles: Styles, ground: str) -> list[Line]:
    """The whole command, its output, and the exit code where it is not zero."""
    plain = styles("text", on=ground)
    prompt = (Segment(" " * PAD, plain), Segment(PROMPT, styles("dim", on=ground)))
    indent = (Segment(" " * (PAD + len(PROMPT)), plain),)
    lines: list[Line] = []
    for row in safe_code(display.command).split("\n"):
        for line in wrap_code([Segment(row, plain)], width - 2 * PAD - len(PROMPT)):
            lines.append(line.behind(indent if lines else prompt).filled(width, plain))
    if display.output.strip():
        lines += draw_text(display.output, width, styles, ground)
    if display.exit_code:
        lines += draw_text(f"exit {display.exit_code}", width, styles, ground, role="fail")
    return lines


def draw_file_list(
    display: FileListDisplay, width: int, styles: Styles, glyphs: Glyphs, ground: str
) -> list[Line]:
    lines = draw_text("\n".join(display.lines), width, styles, ground, role="text") if display.lines else []
    if display.more:
        lines += draw_text(f"{glyphs.more} {display.more:,} more", width, styles, ground, role="dim")
    return lines
