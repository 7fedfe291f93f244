"""How what a tool shows is drawn: one module a kind, and plain text for any other.

The transcript and the approval pane draw with the same functions.
"""

from __future__ import annotations

from keen_tui.domain.display import (
    AgentDisplay,
    CommandDisplay,
    DiffDisplay,
    FileDisplay,
    FileListDisplay,
    PageDisplay,
    TextDisplay,
    TodoDisplay,
)
from keen_tui.frontends.tui.look.glyphs import Glyphs
from keen_tui.frontends.tui.look.themes import Styles
from keen_tui.frontends.tui.rows.lazy_lines import LazyLines
from keen_tui.frontends.tui.tool_views.command import draw_command
from keen_tui.frontends.tui.tool_views.diff import draw_diff
from keen_tui.frontends.tui.tool_views.file import draw_file
from keen_tui.frontends.tui.tool_views.text import draw_file_list, draw_page, draw_text
from keen_tui.frontends.tui.tool_views.todos import draw_todos


def render_display(
    display: object, width: int, styles: Styles, glyphs: Glyphs, *, ground: str = "panel"
) -> LazyLines:
    """The rows of a tool's display, `width` cells each, on the ground of that role."""
    match display:
        case DiffDisplay():
            return draw_diff(display, width, styles, glyphs, ground)
        case FileDisplay():
            return draw_file(display, width, styles, ground)
        case CommandDisplay():
            return draw_command(display, width, styles, glyphs, ground)
        case FileListDisplay():
            return draw_file_list(display, width, styles, glyphs, ground)
        case TodoDisplay():
            return draw_todos(display.items, width, styles, glyphs, ground)
        case PageDisplay():
            return draw_page(display, width, styles, ground)
        case TextDisplay() | AgentDisplay():
            return draw_text(display.text, width, styles, ground)
    return draw_text(str(display), width, styles, ground)
