"""Plain text, the output of a command, a list of paths."""

from __future__ import annotations

from typing import Final

from rich.segment import Segment

from keen_tui.domain.display import CommandDisplay, FileListDisplay
from keen_tui.frontends.tui.look.glyphs import Glyphs
from keen_tui.frontends.tui.look.themes import Styles
from keen_tui.frontends.tui.transcript.blocks.lazy_lines import LazyLines, joined
from keen_tui.frontends.tui.transcript.markdown.code import PAD, CodeLine, lazy_code
from keen_tui.text.highlighting import safe_code

PROMPT: Final = "$ "


def draw_text(text: str, width: int, styles: Styles, ground: str, role: str = "soft") -> LazyLines:
    pad = (Segment(" " * PAD, styles("text", on=ground)),)
    rows = safe_code(text.rstrip("\n")).split("\n")

    def line(number: int) -> CodeLine:
        return CodeLine([(rows[number], role)], pad, pad, ground, PAD)

    return lazy_code(rows, line, width - 2 * PAD, width, styles)


def draw_command(display: CommandDisplay, width: int, styles: Styles, ground: str) -> LazyLines:
    """The whole command, its output, and the exit code where it is not zero."""
    parts = [_command(display.command, width, styles, ground)]
    if display.output.strip():
        parts.append(draw_text(display.output, width, styles, ground))
    if display.exit_code:
        parts.append(draw_text(f"exit {display.exit_code}", width, styles, ground, role="fail"))
    return joined(*parts)


def draw_file_list(
    display: FileListDisplay, width: int, styles: Styles, glyphs: Glyphs, ground: str
) -> LazyLines:
    parts = []
    if display.lines:
        parts.append(draw_text("\n".join(display.lines), width, styles, ground, role="text"))
    if display.more:
        parts.append(draw_text(f"{glyphs.more} {display.more:,} more", width, styles, ground, role="dim"))
    return joined(*parts)


def _command(command: str, width: int, styles: Styles, ground: str) -> LazyLines:
    plain = styles("text", on=ground)
    indent = (Segment(" " * (PAD + len(PROMPT)), plain),)
    prompt = (Segment(" " * PAD, plain), Segment(PROMPT, styles("dim", on=ground)))
    rows = safe_code(command).split("\n")

    def line(number: int) -> CodeLine:
        first = indent if number else prompt
        return CodeLine([(rows[number], "text")], first, indent, ground, PAD + len(PROMPT))

    return lazy_code(rows, line, width - 2 * PAD - len(PROMPT), width, styles)
