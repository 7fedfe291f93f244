"""A command with its output, and the files that it changed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from rich.segment import Segment

from keen_tui.domain.display import ChangedFile, CommandDisplay
from keen_tui.frontends.tui.look.glyphs import Glyphs
from keen_tui.frontends.tui.look.themes import Styles
from keen_tui.frontends.tui.markdown.code import PAD, CodeLine, lazy_code
from keen_tui.frontends.tui.rows.lazy_lines import LazyLines, joined
from keen_tui.frontends.tui.tool_views.diff import draw_diff
from keen_tui.frontends.tui.tool_views.text import draw_text
from keen_tui.text.highlighting import safe_code
from keen_tui.text.sanitize import clean

PROMPT: Final = "$ "


def draw_command(
    display: CommandDisplay, width: int, styles: Styles, glyphs: Glyphs, ground: str
) -> LazyLines:
    """The whole command, its output, the exit code where it is not zero, and each changed file."""
    parts = [_command(display.command, width, styles, ground)]
    if display.output.strip():
        parts.append(draw_text(display.output, width, styles, ground))
    if display.exit_code:
        parts.append(draw_text(f"exit {display.exit_code}", width, styles, ground, role="fail"))
    for file in display.changed:
        parts += _changed(file, width, styles, glyphs, ground)
    if display.more_changed:
        more = f"{glyphs.more} {display.more_changed:,} more changed"
        parts.append(draw_text(more, width, styles, ground, role="dim"))
    return joined(*parts)


def _changed(
    file: ChangedFile, width: int, styles: Styles, glyphs: Glyphs, ground: str
) -> Iterator[LazyLines]:
    came_to = f"+{file.diff.added} {glyphs.minus}{file.diff.removed}" if file.diff else file.note
    words = f"{glyphs.changed} {clean(file.path)}   {file.change}   {came_to}"
    yield draw_text(words, width, styles, ground, role="text")
    if file.diff and file.diff.hunks:
        yield draw_diff(file.diff, width, styles, glyphs, ground)


def _command(command: str, width: int, styles: Styles, ground: str) -> LazyLines:
    plain = styles("text", on=ground)
    indent = (Segment(" " * (PAD + len(PROMPT)), plain),)
    prompt = (Segment(" " * PAD, plain), Segment(PROMPT, styles("dim", on=ground)))
    rows = safe_code(command).split("\n")

    def line(number: int) -> CodeLine:
        first = indent if number else prompt
        return CodeLine([(rows[number], "text")], first, indent, ground, PAD + len(PROMPT))

    return lazy_code(rows, line, width - 2 * PAD - len(PROMPT), width, styles)
