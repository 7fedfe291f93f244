"""Markdown and code as HTML that holds nothing but text, marks and links to the web.

Raw HTML stays text, pictures become links, links that lead elsewhere than to http or https lose their
address, and there are no `style` attributes, so that the page's content policy can forbid them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from html import escape
from typing import TYPE_CHECKING, Any

from keen_tui.text.highlighting import Coloured, highlight, safe_code
from keen_tui.text.sanitize import clean

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

_WEB = re.compile(r"https?://", re.IGNORECASE)


def html_of(markdown: str) -> str:
    """Markdown that anybody wrote as harmless HTML blocks."""
    parser = _parser()
    blocks = parser.parse(clean(markdown, newlines=True, tabs=True))
    for token in _all_tokens(blocks):
        _disarm(token)
    return str(parser.renderer.render(blocks, parser.options, {}))


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


@lru_cache(maxsize=1)
def _parser() -> MarkdownIt:
    from markdown_it import MarkdownIt  # noqa: PLC0415 - only an export needs it

    parser = MarkdownIt("commonmark", {"html": False, "xhtmlOut": False}).enable(["table", "strikethrough"])
    parser.add_render_rule("text", _render_text)
    parser.add_render_rule("code_inline", _render_code_span)
    parser.add_render_rule("fence", _render_code)
    parser.add_render_rule("code_block", _render_code)
    parser.add_render_rule("image", _render_picture)
    return parser


def _all_tokens(blocks: Iterable[Token]) -> Iterator[Token]:
    for token in blocks:
        yield token
        yield from token.children or ()


def _disarm(token: Token) -> None:
    """Leave only those attributes that are known to be harmless."""
    given = token.attrs
    token.attrs = {}
    match token.type:
        case "link_open" if _WEB.match(str(given.get("href", ""))):
            token.attrs = {"href": given["href"], "rel": "noopener noreferrer"}
        case "image" if _WEB.match(str(given.get("src", ""))):
            token.attrs = {"src": given["src"]}
        case "ordered_list_open" if "start" in given:
            token.attrs = {"start": given["start"]}
        case "th_open" | "td_open" if "style" in given:
            token.attrs = {"class": str(given["style"]).removeprefix("text-align:")}
        case "heading_open" | "heading_close":
            token.tag = "h3"


def _render_text(_: Any, tokens: Sequence[Token], index: int, *__: Mapping[str, Any]) -> str:
    return line_text(tokens[index].content)  # cleaned again: entities may have become hidden characters


def _render_code_span(_: Any, tokens: Sequence[Token], index: int, *__: Mapping[str, Any]) -> str:
    return f"<code>{line_text(tokens[index].content)}</code>"


def _render_code(_: Any, tokens: Sequence[Token], index: int, *__: Mapping[str, Any]) -> str:
    words = tokens[index].info.split()
    return code_html(tokens[index].content.removesuffix("\n"), words[0] if words else "")


def _render_picture(_: Any, tokens: Sequence[Token], index: int, *__: Mapping[str, Any]) -> str:
    words = line_text(tokens[index].content) or "picture"
    address = tokens[index].attrs.get("src")
    return f'<a href="{escape(str(address))}" rel="noopener noreferrer">{words}</a>' if address else words
