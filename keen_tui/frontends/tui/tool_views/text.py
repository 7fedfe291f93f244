"""Plain text, a list of paths, and a page of the web."""

from __future__ import annotations

from rich.segment import Segment

from keen_tui.domain.display import FileListDisplay, PageDisplay
from keen_tui.frontends.tui.look.glyphs import Glyphs
from keen_tui.frontends.tui.look.themes import Styles
from keen_tui.frontends.tui.markdown.code import PAD, CodeLine, lazy_code
from keen_tui.frontends.tui.rows.lazy_lines import LazyLines, joined
from keen_tui.text.highlighting import safe_code
from keen_tui.text.labels import page_line


def draw_text(text: str, width: int, styles: Styles, ground: str, role: str = "soft") -> LazyLines:
    pad = (Segment(" " * PAD, styles("text", on=ground)),)
    rows = safe_code(text.rstrip("\n")).split("\n")

    def line(number: int) -> CodeLine:
        return CodeLine([(rows[number], role)], pad, pad, ground, PAD)

    return lazy_code(rows, line, width - 2 * PAD, width, styles)


def draw_file_list(
    display: FileListDisplay, width: int, styles: Styles, glyphs: Glyphs, ground: str
) -> LazyLines:
    parts = []
    if display.lines:
        parts.append(draw_text("\n".join(display.lines), width, styles, ground, role="text"))
    if display.more:
        parts.append(draw_text(f"{glyphs.more} {display.more:,} more", width, styles, ground, role="dim"))
    return joined(*parts)


def draw_page(display: PageDisplay, width: int, styles: Styles, ground: str) -> LazyLines:
    """The title and what came from where, then the text."""
    parts = [draw_text(display.title, width, styles, ground, role="text")] if display.title else []
    parts.append(draw_text(page_line(display), width, styles, ground, role="dim"))
    return joined(*parts, draw_text(display.text, width, styles, ground))
