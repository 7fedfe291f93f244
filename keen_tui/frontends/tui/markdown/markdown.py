"""Markdown as rows: draws the tree of blocks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from rich.segment import Segment

from keen_tui.frontends.tui.markdown.code import code_block
from keen_tui.frontends.tui.markdown.highlight import highlight
from keen_tui.frontends.tui.markdown.inline import inline_runs
from keen_tui.frontends.tui.markdown.tables import draw_table, table_columns, table_rows
from keen_tui.frontends.tui.rows.lines import BLANK, Line, wrap
from keen_tui.frontends.tui.rows.render_style import RenderStyle
from keen_tui.text.highlighting import safe_code
from keen_tui.text.markdown import MarkdownBlock

BULLET_CELLS: Final = 3


def render_blocks(
    blocks: Sequence[MarkdownBlock],
    look: RenderStyle,
    *,
    number: int | None = None,
    widths: tuple[int, ...] | None = None,
) -> list[Line]:
    """The rows of top-level blocks, gutter included, with an empty row between two blocks that have rows.

    If the first block continues one that is drawn already, `number` is the number of its first list item, and
    `widths` are the columns of the table, whose head is then left out.
    """
    lines: list[Line] = []
    for block in blocks:
        if block.kind == "quote":
            gutter = look.gutter(look.glyphs.quote, "edge")
            drawn = _inner(block.blocks, look, look.prose, role="soft")
        else:
            gutter = look.gutter()
            drawn = _block(block, look, look.prose, number=number, widths=widths)
        lines += [BLANK] if lines and drawn else []
        lines += [line.behind(gutter) if line.segments or len(gutter) > 1 else line for line in drawn]
        number = widths = None
    return lines


def _inner(
    blocks: Sequence[MarkdownBlock], look: RenderStyle, cells: int, *, role: str, tight: bool = False
) -> list[Line]:
    lines: list[Line] = []
    for block in blocks:
        drawn = _block(block, look, cells, role=role)
        lines += [BLANK] if lines and drawn and not tight else []
        lines += drawn
    return lines


def _block(
    block: MarkdownBlock,
    look: RenderStyle,
    cells: int,
    *,
    role: str = "text",
    number: int | None = None,
    widths: tuple[int, ...] | None = None,
) -> list[Line]:
    """The rows of one block, from column 0 and at most `cells` wide; code and tables use all the width."""
    wide = cells + look.wide - look.prose
    match block.kind:
        case "paragraph" | "html":
            return wrap(inline_runs(block.inline, look.styles, role=role), cells)
        case "heading":
            sign = Segment(f"{'#' * block.level} ", look.styles("dim"))
            return wrap([sign, *inline_runs(block.inline, look.styles, role=role, bold=True)], cells)
        case "code":
            code = safe_code(block.text.removesuffix("\n"))
            coloured = highlight(code, block.language)
            rows = code_block(code.split("\n"), coloured.__getitem__, wide, look.styles, ground="panel")
            return list(rows)
        case "list":
            return _list(block, look, cells, role, number)
        case "quote":
            bar = (Segment(look.glyphs.quote + " ", look.styles("edge")),)
            return [line.behind(bar) for line in _inner(block.blocks, look, cells - 2, role="soft")]
        case "table":
            head, body = table_rows(block, look.styles)
            drawn_head = () if widths is not None else head
            natural = table_columns(block) if widths is None else widths
            return draw_table(drawn_head, body, natural, wide, look.styles, look.glyphs.rule)
    return [Line((Segment(look.glyphs.rule * cells, look.styles("edge")),), skip=cells)]


def _list(block: MarkdownBlock, look: RenderStyle, cells: int, role: str, number: int | None) -> list[Line]:
    first = block.number or 0 if number is None else number
    lines: list[Line] = []
    for count, item in enumerate(block.blocks):
        mark = look.glyphs.bullet if block.number is None else f"{first + count}. "
        mark = mark.ljust(BULLET_CELLS)
        rows = _inner(item.blocks, look, cells - len(mark), role=role, tight=block.tight) or [BLANK]
        if lines and not block.tight:
            lines.append(BLANK)
        # The mark isn't decoration: it is copied with its item.
        lines.append(rows[0].behind((Segment(mark, look.styles("dim")),))._replace(skip=rows[0].skip))
        indent = (Segment(" " * len(mark)),)
        lines += [row.behind(indent) if row.segments else row for row in rows[1:]]
    return lines
