"""Markdown and code as HTML that holds nothing but text, marks and links to the web.

Raw HTML stays text, pictures become links, links that lead elsewhere than to http or https lose their
address, and there are no `style` attributes, so that the page's content policy can forbid them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from html import escape
from typing import Final

from keen_tui.text.highlighting import Coloured, highlight, safe_code
from keen_tui.text.markdown import Inline, InlineKind, MarkdownBlock, parse
from keen_tui.text.sanitize import clean

_TAGS: Final = {"em": "em", "strong": "strong", "strike": "s"}
_WEB = re.compile(r"https?://", re.IGNORECASE)


def html_of(markdown: str) -> str:
    """Markdown that anybody wrote as harmless HTML blocks."""
    return _all_html(parse(clean(markdown, newlines=True, tabs=True)))


def line_text(text: str) -> str:
    """One line of text, escaped."""
    return escape(clean(text))


def block_text(text: str) -> str:
    """Lines of text, escaped; for where white space is kept."""
    return escape(safe_code(text))


def code_html(code: str, language: str = "") -> str:
    """Code with its syntax colours, as a block."""
    lines = highlight(safe_code(code), language)
    return f"<pre><code>{chr(10).join(map(coloured_html, lines))}</code></pre>\n"


def coloured_html(line: Coloured) -> str:
    """One line of coloured code. The class of a piece is the name of its role."""
    return "".join(
        escape(text) if role == "text" else f'<span class="{role}">{escape(text)}</span>'
        for text, role in line
    )


def _all_html(blocks: Iterable[MarkdownBlock]) -> str:
    return "".join(map(_block_html, blocks))


def _block_html(block: MarkdownBlock) -> str:
    match block.kind:
        case "paragraph" | "html":
            return f"<p>{_inline_html(block.inline)}</p>\n"
        case "heading":
            return f"<h3>{_inline_html(block.inline)}</h3>\n"
        case "code":
            return code_html(block.text.removesuffix("\n"), block.language)
        case "quote":
            return f"<blockquote>\n{_all_html(block.blocks)}</blockquote>\n"
        case "list":
            return _list_html(block)
        case "table":
            return _table_html(block)
    return "<hr>\n"


def _list_html(block: MarkdownBlock) -> str:
    items = "".join(f"<li>{_item_html(item, tight=block.tight)}</li>\n" for item in block.blocks)
    if block.number is None:
        return f"<ul>\n{items}</ul>\n"
    start = "" if block.number == 1 else f' start="{block.number}"'
    return f"<ol{start}>\n{items}</ol>\n"


def _item_html(item: MarkdownBlock, *, tight: bool) -> str:
    """The content of an item. What a tight list says is in no paragraphs."""
    parts = (
        _inline_html(block.inline) if tight and block.kind == "paragraph" else f"\n{_block_html(block)}"
        for block in item.blocks
    )
    return "".join(parts)


def _table_html(table: MarkdownBlock) -> str:
    head, *body = table.blocks
    rows = "".join(_row_html(row, "td", table.columns) for row in body)
    body_html = f"<tbody>\n{rows}</tbody>\n" if body else ""
    return f"<table>\n<thead>\n{_row_html(head, 'th', table.columns)}</thead>\n{body_html}</table>\n"


def _row_html(row: MarkdownBlock, tag: str, columns: Sequence[str]) -> str:
    cells = (
        f"<{tag}{_aligned(column)}>{_inline_html(cell.inline)}</{tag}>\n"
        for cell, column in zip(row.blocks, columns, strict=False)
    )
    return f"<tr>\n{''.join(cells)}</tr>\n"


def _aligned(column: str) -> str:
    return f' class="{column}"' if column else ""


def _inline_html(inline: Iterable[Inline]) -> str:
    html: list[str] = []
    ends: list[str] = []
    is_linked = False
    for kind, text in inline:
        match kind:
            case "text" | "html":
                html.append(line_text(text))  # cleaned again: entities may have become hidden characters
            case "code":
                html.append(f"<code>{line_text(text)}</code>")
            case "soft":
                html.append("\n")
            case "hard":
                html.append("<br>\n")
            case "end":
                html.append(ends.pop())
                is_linked = is_linked and html[-1] != "</a>"
            case _:
                begin, end = _mark_html(kind, text, is_linked=is_linked)
                is_linked = is_linked or end == "</a>"
                html.append(begin)
                ends.append(end)
    return "".join(html)


def _mark_html(mark: InlineKind, address: str, *, is_linked: bool) -> tuple[str, str]:
    """The begin and the end of a mark. Pictures become links, but no link is inside another one."""
    if mark in _TAGS:
        return f"<{_TAGS[mark]}>", f"</{_TAGS[mark]}>"
    if _WEB.match(address) and not is_linked:
        return f'<a href="{escape(address)}" rel="noopener noreferrer">', "</a>"
    return "", ""
