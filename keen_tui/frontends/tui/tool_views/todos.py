"""A todo list: one row an item, with the sign of how far it is."""

from __future__ import annotations

from collections.abc import Sequence

from rich.segment import Segment

from keen_tui.domain.display import TodoItem, TodoStatus
from keen_tui.frontends.tui.look.glyphs import Glyphs
from keen_tui.frontends.tui.look.themes import Styles
from keen_tui.frontends.tui.markdown.code import PAD, CodeLine, lazy_code
from keen_tui.frontends.tui.rows.lazy_lines import LazyLines
from keen_tui.text.highlighting import safe_code

_MARK_CELLS = 2


def todo_mark(status: TodoStatus, glyphs: Glyphs) -> tuple[str, str, str]:
    """The glyph of an item, its role, and that of its text."""
    match status:
        case "done":
            return glyphs.done, "ok", "dim"
        case "in_progress":
            return glyphs.running, "accent", "text"
        case "pending":
            return glyphs.to_do, "dim", "soft"


def draw_todos(
    items: Sequence[TodoItem], width: int, styles: Styles, glyphs: Glyphs, ground: str
) -> LazyLines:
    """The rows of the list."""
    plain = styles("text", on=ground)
    indent = (Segment(" " * (PAD + _MARK_CELLS), plain),)

    def line(number: int) -> CodeLine:
        glyph, role, text_role = todo_mark(items[number].status, glyphs)
        mark = (Segment(" " * PAD, plain), Segment(glyph.ljust(_MARK_CELLS), styles(role, on=ground)))
        return CodeLine([(rows[number], text_role)], mark, indent, ground, PAD + _MARK_CELLS)

    rows = [safe_code(item.text) for item in items]
    return lazy_code(rows, line, width - 2 * PAD - _MARK_CELLS, width, styles)
