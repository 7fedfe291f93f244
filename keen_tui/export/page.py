"""A session as one HTML page: no scripts, nothing loaded, dark and light as the reader's system is."""

from __future__ import annotations

import base64
import hashlib
from functools import cache
from importlib import resources

from keen_tui.domain.events import (
    Compacted,
    ImagesAttached,
    ShellFinished,
    Steered,
    TurnAbandoned,
    TurnDone,
    TurnError,
    TurnIncomplete,
    WebSearched,
)
from keen_tui.domain.messages import Image, TurnMemory
from keen_tui.export.document import (
    ExportedCall,
    ExportedItem,
    ExportedSession,
    ExportedText,
    Thought,
    Turn,
    own_call,
)
from keen_tui.export.html_calls import call_html
from keen_tui.export.html_markdown import block_text, html_of, line_text
from keen_tui.export.phrases import (
    LOST,
    UNFINISHED,
    aside,
    end_detail,
    end_facts,
    header_facts,
    memory_entries,
    unknown_effects,
)
from keen_tui.export.usage_chart import usage_chart
from keen_tui.text.labels import (
    image_line,
    source_lines,
)
from keen_tui.text.units import duration

_GLYPH_CLASSES = {"✓": "ok", "✗": "failed", "▲": "wait"}


def write_html(document: ExportedSession) -> str:
    """The document as a whole HTML page, to be written as UTF-8."""
    title, style = line_text(document.title), _style()
    body = "".join(_turn(part) if isinstance(part, Turn) else _item(part, None) for part in document.parts)
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_content_policy(style)}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{title}</title>\n<style>{style}</style>\n</head>\n<body>\n"
        f"{_header(document)}<main>\n{body}</main>\n{usage_chart(document)}</body>\n</html>\n"
    )


@cache
def _style() -> str:
    return (resources.files("keen_tui.export") / "page.css").read_text(encoding="utf-8")


def _content_policy(style: str) -> str:
    """Nothing but this very style sheet, and images that the page itself holds."""
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    allowed = f"default-src 'none'; img-src data:; style-src 'sha256-{digest}'"
    return f"{allowed}; base-uri 'none'; form-action 'none'"


def _header(document: ExportedSession) -> str:
    facts = (f"<span><b>{label}</b> {line_text(fact)}</span>" for label, fact in header_facts(document))
    title = f'<h1><span class="brand">keen</span>{line_text(document.title)}</h1>'
    return f'<header>\n{title}\n<p class="facts">{"".join(facts)}</p>\n</header>\n'


def _turn(turn: Turn) -> str:
    items = "".join(_item(item, turn) for item in turn.items)
    unfinished = _end_row("▲", [f"turn {turn.number}", UNFINISHED]) if turn.state == "unfinished" else ""
    return (
        f'<section class="turn" aria-label="Turn {turn.number}">\n{_words(turn.words)}{items}{unfinished}'
        f"{_memory(turn.memory)}</section>\n"
    )


def _words(words: str) -> str:
    return _row("›", block_text(words.strip("\n")), "words") if words.strip() else ""


def _item(item: ExportedItem, turn: Turn | None) -> str:
    match item:
        case ExportedText():
            return _said(item)
        case Thought():
            text = f"<pre>{block_text(item.text.strip())}</pre>\n"
            return _folded("thought", "…", f"thought for {duration(item.seconds)}", text)
        case TurnDone() | TurnIncomplete() | TurnError() | TurnAbandoned():
            glyph, words = end_facts(item, turn.spent.cost if turn else None)
            detail = _row("", line_text(end_detail(item)), "soft") if end_detail(item) else ""
            doubts = (_row("■", line_text(words), "soft") for words in unknown_effects(item))
            return _end_row(glyph, words) + detail + "".join(doubts)
        case Compacted():
            summary = f'<div class="summary">\n{html_of(item.summary)}</div>\n{_memory(item.turn_memory)}'
            return _folded("summed", "✓", aside(item), summary)
        case Steered():
            return _words(item.text)
        case ImagesAttached():
            return "".join(map(_picture, item.images))
        case ExportedCall():
            return call_html(item)
        case WebSearched():
            found = (_row("", line_text(line), "dim") for line in source_lines(item))
            return _row("", line_text(aside(item)), "soft") + "".join(found)
        case ShellFinished():
            return call_html(own_call(item))
        case _:
            return _row("", line_text(aside(item)), "soft")


def _picture(image: Image) -> str:
    """The image itself: the page holds all that it shows."""
    content = base64.b64encode(image.content).decode("ascii")
    address, words = line_text(f"data:{image.media_type};base64,{content}"), line_text(image_line(image))
    return _row("", f'<img alt="{words}" src="{address}">{words}', "soft")


def _said(said: ExportedText) -> str:
    if not said.lost:
        return f'<div class="row said">\n{html_of(said.text)}</div>\n'
    return f'<div class="lost">\n{html_of(said.text)}</div>\n{_row("", LOST, "dim")}'


def _folded(kind: str, glyph: str, words: str, shown: str) -> str:
    role = _GLYPH_CLASSES.get(glyph, "dim")
    head = f'<span class="glyph {role}">{glyph}</span><span class="target soft">{line_text(words)}</span>'
    return f'<details class="{kind}">\n<summary>{head}</summary>\n{shown}</details>\n'


def _end_row(glyph: str, words: list[str]) -> str:
    role = _GLYPH_CLASSES.get(glyph, "dim")
    facts = "".join(f"<span>{line_text(word)}</span>" for word in words)
    return f'<p class="row end"><span class="glyph {role}">{glyph}</span>{facts}</p>\n'


def _row(glyph: str, html: str, role: str) -> str:
    sign = f'<span class="glyph">{glyph}</span>' if glyph else ""
    return f'<div class="row {role}">{sign}{html}</div>\n'


def _memory(memory: TurnMemory) -> str:
    if not memory:
        return ""
    rows = []
    for glyph, words, came_to in memory_entries(memory):
        end = f'<span class="came-to">{came_to}</span>' if came_to else ""
        rows.append(_row(glyph, line_text(words) + end, "entry"))
    entries = "".join(rows)
    return f'<div class="memory">\n<b>TurnMemory</b>\n{entries}</div>\n'
