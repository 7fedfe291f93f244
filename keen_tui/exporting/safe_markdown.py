"""Markdown that others wrote, made fit to stand in a larger Markdown document."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from keen_tui.plain import clean

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

_TAG = r"(?P<tag><(?=[a-z/!?]))"
_NOT_A_TAG = r"<(?:https?://|mailto:)[^<>\s]*>|\]\(<[^<>\n]*>"
_CODE_SPAN = r"(?P<ticks>`+)(?!`)(?:(?!\n\s*\n).)*?(?<!`)(?P=ticks)(?!`)|`+"
_FLAGS = re.DOTALL | re.IGNORECASE
_TAGS = re.compile(rf"\\.|{_CODE_SPAN}|{_NOT_A_TAG}|{_TAG}", _FLAGS)
_ALL_TAGS = re.compile(rf"\\.|{_TAG}", _FLAGS)
_TICKS = re.compile("`+")


def safe_markdown(text: str) -> str:
    """`text` as it was written, but for three things: it holds no raw HTML (code excepted), no character
    that acts on a terminal, and no fence that is left open."""
    text = clean(text.strip("\n"), newlines=True, tabs=True)
    lines = text.split("\n")
    code = [block for block in _parser(html=False).parse(text) if block.type in ("fence", "code_block")]
    closing = [code[-1].markup] if code and _left_open(code[-1], lines) else []
    if not re.search(_TAG, text, _FLAGS):
        return "\n".join([*lines, *closing])
    safe = "\n".join([*_without_tags(lines, code, _TAGS), *closing])
    if _holds_html(safe):
        safe = "\n".join([*_without_tags(lines, code, _ALL_TAGS), *closing])
    return safe


def _parser(*, html: bool) -> MarkdownIt:
    from markdown_it import MarkdownIt  # noqa: PLC0415 - only an export needs it

    return MarkdownIt("commonmark", {"html": html}).enable("table")


def _without_tags(lines: list[str], code: list[Token], tags: re.Pattern[str]) -> Iterator[str]:
    """The text with the `<` of tags escaped, outside blocks of code."""
    position = 0
    for first, behind in [*(block.map or [0, 0] for block in code), [len(lines), len(lines)]]:
        if position < first:
            prose = "\n".join(lines[position:first])
            yield tags.sub(lambda match: r"\<" if match["tag"] else match[0], prose)
        yield from lines[first:behind]
        position = behind


def _holds_html(text: str) -> bool:
    blocks = _parser(html=True).parse(text)
    inside = (piece for block in blocks for piece in block.children or ())
    return any(token.type in ("html_block", "html_inline") for token in (*blocks, *inside))


def quoted(markdown: str) -> str:
    """A quote whose lines end where those of `markdown` end."""
    lines = [f"> {line}  " if line.strip() else ">" for line in markdown.split("\n")]
    return "\n".join(lines).rstrip(" ")


def code_span(text: str) -> str:
    """One line of text as code in a line, whatever it holds."""
    text = clean(text).strip()
    if not text:
        return ""
    ticks = _longer_than_any(text, 1)
    pad = " " if "`" in (text[0], text[-1]) else ""
    return f"{ticks}{pad}{text}{pad}{ticks}"


def fenced(text: str, language: str = "") -> str:
    """Text as a block of code behind a fence that it can't close."""
    text = clean(text, newlines=True, tabs=True).strip("\n")
    fence = _longer_than_any(text, 3)
    return f"{fence}{language}\n{text}\n{fence}"


def plain_words(text: str) -> str:
    """One line of text in which nothing is Markdown."""
    return re.sub(r"([\\`*_{}\[\]<>#|~!&])", r"\\\1", clean(text).strip())


def _left_open(fence: Token, lines: list[str]) -> bool:
    """True for a fence outside lists and quotes that lasts to the end of the text."""
    if fence.type != "fence" or fence.level or fence.map is None:
        return False
    first, behind = fence.map
    last = lines[behind - 1].strip()
    is_closed = behind - first > 1 and last.startswith(fence.markup) and not last.strip(fence.markup[0])
    return not is_closed


def _longer_than_any(text: str, least: int) -> str:
    longest = max((len(run) for run in _TICKS.findall(text)), default=0)
    return "`" * max(longest + 1, least)
