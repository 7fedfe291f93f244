"""Markdown that others wrote, made fit to stand in a larger Markdown document."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from html import unescape
from typing import TYPE_CHECKING

from keen_tui.text.sanitize import clean

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

_TAG = r"(?P<tag><(?=[a-z/!?]))"
_NOT_A_TAG = r"<(?:https?://|mailto:)[^<>\s]*>|\]\(<[^<>\n]*>"
_CODE_SPAN = r"(?P<ticks>`+)(?!`)(?:(?!\n\s*\n).)*?(?<!`)(?P=ticks)(?!`)|`+"
_ENTITY = r"(?P<entity>&(?:#x?[0-9a-f]{1,7}|[a-z]\w{1,31});)"
_FLAGS = re.DOTALL | re.IGNORECASE
_SUSPECT = re.compile(f"{_TAG}|{_ENTITY}", _FLAGS)
_SUSPECT_IN_PROSE = re.compile(rf"\\.|{_CODE_SPAN}|{_NOT_A_TAG}|{_TAG}|{_ENTITY}", _FLAGS)
_SUSPECT_ANYWHERE = re.compile(rf"\\.|{_TAG}|{_ENTITY}", _FLAGS)
_TICKS = re.compile("`+")


def safe_markdown(text: str) -> str:
    """`text` as it was written, but for three things: it holds no raw HTML (code excepted), no hidden
    character, written out or as an entity, and no fence that is left open."""
    text = clean(text.strip("\n"), newlines=True, tabs=True)
    is_suspect = bool(_SUSPECT.search(text))
    if not is_suspect and "```" not in text and "~~~" not in text:
        return text
    lines = text.split("\n")
    blocks = _structure_parser().parse(text)
    code = [block for block in blocks if block.type in ("fence", "code_block")]
    closing = [code[-1].markup] if code and _left_open(code[-1], lines) else []
    if not is_suspect:
        return "\n".join([*lines, *closing])
    safe = "\n".join([*_escaped(lines, code, _SUSPECT_IN_PROSE), *closing])
    if not _is_harmless(safe):
        safe = "\n".join([*_escaped(lines, code, _SUSPECT_ANYWHERE), *closing])
    return safe


@lru_cache(maxsize=1)
def _structure_parser() -> MarkdownIt:
    """Reads blocks; what stands inside a line is left unread."""
    from markdown_it import MarkdownIt  # noqa: PLC0415 - only an export needs it

    return MarkdownIt("commonmark", {"html": False}).enable("table").disable("inline")


@lru_cache(maxsize=1)
def _html_parser() -> MarkdownIt:
    """Reads Markdown as those do who trust its author."""
    from markdown_it import MarkdownIt  # noqa: PLC0415 - as above

    return MarkdownIt("commonmark").enable("table")


def _escaped(lines: list[str], code: list[Token], suspect: re.Pattern[str]) -> Iterator[str]:
    """The text with what is suspect escaped, outside blocks of code."""
    position = 0
    for first, behind in [*(block.map or [0, 0] for block in code), [len(lines), len(lines)]]:
        if position < first:
            yield suspect.sub(_as_text, "\n".join(lines[position:first]))
        yield from lines[first:behind]
        position = behind


def _as_text(match: re.Match[str]) -> str:
    """A tag, or the entity of a hidden character, with a backslash before it; all else as it is."""
    named = unescape(match["entity"] or "")
    return f"\\{match[0]}" if match["tag"] or clean(named) != named else match[0]


def _is_harmless(text: str) -> bool:
    blocks = _html_parser().parse(text)
    inside = (piece for block in blocks for piece in block.children or ())
    return not any(
        token.type in ("html_block", "html_inline")
        or (token.type == "text" and clean(token.content) != token.content)
        for token in (*blocks, *inside)
    )


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
