"""Markdown as rows: a renderer of markdown-it's block tokens."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

from rich.segment import Segment

from keen_tui.frontends.tui.transcript.blocks.lines import BLANK, Line, wrap
from keen_tui.frontends.tui.transcript.markdown.code import code_lines
from keen_tui.frontends.tui.transcript.markdown.inline import inline_runs
from keen_tui.frontends.tui.transcript.markdown.tables import draw_table, table_columns, table_rows
from keen_tui.frontends.tui.transcript.render_style import RenderStyle

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

BULLET_CELLS: Final = 3


@lru_cache(maxsize=1)
def parser() -> MarkdownIt:
    """The shared parser: CommonMark with tables and strikethrough, HTML kept as text."""
    from markdown_it import MarkdownIt  # noqa: PLC0415 - 60 ms that the first paint must not pay

    return MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])


def parse(text: str, env: dict[str, Any]) -> list[Token]:
    """The block tokens of `text`; link definitions are looked up in and added to `env`."""
    return parser().parse(text, env)


@lru_cache(maxsize=1)
def _structure_parser() -> MarkdownIt:
    from markdown_it import MarkdownIt  # noqa: PLC0415 - as above

    return MarkdownIt("commonmark", {"html": False}).enable("table").disable("inline")


def parse_structure(text: str, env: dict[str, Any]) -> list[Token]:
    """Like `parse`, but without parsing inside lines, which is half the work."""
    return _structure_parser().parse(text, env)


def children(tokens: Sequence[Token]) -> Iterator[Sequence[Token]]:
    """The blocks in `tokens`, each with all its own tokens."""
    depth = start = 0
    for position, token in enumerate(tokens):
        depth += token.nesting
        if depth == 0:
            yield tokens[start : position + 1]
            start = position + 1


def render_blocks(
    tokens: Sequence[Token],
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
    for block in children(tokens):
        if block[0].type == "blockquote_open":
            gutter = look.gutter(look.glyphs.quote, "edge")
            drawn = _inner(block[1:-1], look, look.prose, role="soft")
        else:
            gutter = look.gutter()
            drawn = _block(block, look, look.prose, number=number, widths=widths)
        lines += [BLANK] if lines and drawn else []
        lines += [line.behind(gutter) if line.segments or len(gutter) > 1 else line for line in drawn]
        number = widths = None
    return lines


def _inner(
    tokens: Sequence[Token], look: RenderStyle, cells: int, *, role: str, tight: bool = False
) -> list[Line]:
    lines: list[Line] = []
    for block in children(tokens):
        drawn = _block(block, look, cells, role=role)
        lines += [BLANK] if lines and drawn and not tight else []
        lines += drawn
    return lines


def _block(
    block: Sequence[Token],
    look: RenderStyle,
    cells: int,
    *,
    role: str = "text",
    number: int | None = None,
    widths: tuple[int, ...] | None = None,
) -> list[Line]:
    """The rows of one block, from column 0 and at most `cells` wide; code and tables use all the width."""
    first = block[0]
    wide = cells + look.wide - look.prose
    match first.type:
        case "paragraph_open":
            return wrap(inline_runs(block[1].children or (), look.styles, role=role), cells)
        case "heading_open":
            sign = Segment(f"{'#' * int(first.tag[1:])} ", look.styles("dim"))
            return wrap(
                [sign, *inline_runs(block[1].children or (), look.styles, role=role, bold=True)], cells
            )
        case "fence" | "code_block":
            language = first.info.split()[0] if first.info.split() else ""
            code = first.content.removesuffix("\n")
            return code_lines(code, wide, look.styles, ground="panel", language=language)
        case "bullet_list_open" | "ordered_list_open":
            return _list(block, look, cells, role, number)
        case "blockquote_open":
            bar = (Segment(look.glyphs.quote + " ", look.styles("edge")),)
            return [line.behind(bar) for line in _inner(block[1:-1], look, cells - 2, role="soft")]
        case "table_open":
            head, body = table_rows(block, look.styles)
            drawn_head = () if widths is not None else head
            natural = table_columns(block) if widths is None else widths
            return draw_table(drawn_head, body, natural, wide, look.styles, look.glyphs.rule)
        case "hr":
            return [Line((Segment(look.glyphs.rule * cells, look.styles("edge")),), skip=cells)]
    return wrap([Segment(first.content.rstrip("\n"), look.styles(role))], cells)


def _list(block: Sequence[Token], look: RenderStyle, cells: int, role: str, number: int | None) -> list[Line]:
    ordered = block[0].type == "ordered_list_open"
    if number is None:
        number = int(block[0].attrs.get("start", 1))
    tight = is_tight(block)
    lines: list[Line] = []
    for count, item in enumerate(children(block[1:-1])):
        mark = f"{number + count}. " if ordered else look.glyphs.bullet
        mark = mark.ljust(BULLET_CELLS)
        rows = _inner(item[1:-1], look, cells - len(mark), role=role, tight=tight) or [BLANK]
        if lines and not tight:
            lines.append(BLANK)
        # The mark isn't decoration: it is copied with its item.
        lines.append(rows[0].behind((Segment(mark, look.styles("dim")),))._replace(skip=rows[0].skip))
        indent = (Segment(" " * len(mark)),)
        lines += [row.behind(indent) if row.segments else row for row in rows[1:]]
    return lines


def is_tight(block: Sequence[Token]) -> bool:
    """True for a list without empty lines between its items; its paragraphs are marked as hidden."""
    return all(token.hidden for token in block if token.type == "paragraph_open" and token.level == 2)
