"""Markdown that others wrote, made fit to stand in a larger Markdown document."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import unescape

from keen_tui.text.markdown import MarkdownBlock, every, line_start, parse
from keen_tui.text.sanitize import clean

_TAG = r"(?P<tag><(?=[a-z/!?]))"
_NOT_A_TAG = r"<(?:https?://|mailto:)[^<>\s]*>|\]\(<[^<>\n]*>"
_CODE_SPAN = r"(?P<ticks>`+)(?!`)(?:(?!\n\s*\n).)*?(?<!`)(?P=ticks)(?!`)|`+"
_ENTITY = r"(?P<entity>&(?:#x?[0-9a-f]{1,7}|[a-z]\w{1,31});)"
_FLAGS = re.DOTALL | re.IGNORECASE
_SUSPECT = re.compile(f"{_TAG}|{_ENTITY}", _FLAGS)
_SUSPECT_IN_PROSE = re.compile(rf"\\.|{_CODE_SPAN}|{_NOT_A_TAG}|{_TAG}|{_ENTITY}", _FLAGS)
_SUSPECT_ANYWHERE = re.compile(rf"\\.|{_TAG}|{_ENTITY}", _FLAGS)
_FENCE = re.compile("`{3,}|~{3,}")
_TICKS = re.compile("`+")


def safe_markdown(text: str) -> str:
    """`text` as it was written, but for three things: it holds no raw HTML (code excepted), no hidden
    character, written out or as an entity, and no fence that is left open."""
    text = clean(text.strip("\n"), newlines=True, tabs=True)
    is_suspect = bool(_SUSPECT.search(text))
    if not is_suspect and "```" not in text and "~~~" not in text:
        return text
    closing = _missing_fence(text)
    if not is_suspect:
        return text + closing
    code = [block for block in every(parse(text)) if block.kind == "code"]
    safe = "".join(_escaped(text, code, _SUSPECT_IN_PROSE))
    if not _is_harmless(safe):
        safe = "".join(_escaped(text, code, _SUSPECT_ANYWHERE))
    return safe + closing


def _escaped(text: str, code: list[MarkdownBlock], suspect: re.Pattern[str]) -> Iterator[str]:
    """The text with what is suspect escaped, outside blocks of code."""
    position = 0
    for block in code:
        first = line_start(text, block.start)
        yield suspect.sub(_as_text, text[position:first])
        yield text[first : block.end]
        position = block.end
    yield suspect.sub(_as_text, text[position:])


def _as_text(match: re.Match[str]) -> str:
    """A tag, or the entity of a hidden character, with a backslash before it; all else as it is."""
    named = unescape(match["entity"] or "")
    return f"\\{match[0]}" if match["tag"] or clean(named) != named else match[0]


def _is_harmless(text: str) -> bool:
    blocks = list(every(parse(text)))
    inside = (piece for block in blocks for piece in block.inline)
    return not any(block.kind == "html" for block in blocks) and not any(
        kind == "html" or (kind == "text" and clean(said, tabs=True) != said) for kind, said in inside
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


def _missing_fence(text: str) -> str:
    """The line that closes a fence outside lists and quotes which is left open."""
    last = parse(f"{text}\n.")[-1]
    mark = _FENCE.match(text, last.start) if last.fenced else None
    return f"\n{mark[0]}" if mark else ""


def _longer_than_any(text: str, least: int) -> str:
    longest = max((len(run) for run in _TICKS.findall(text)), default=0)
    return "`" * max(longest + 1, least)
