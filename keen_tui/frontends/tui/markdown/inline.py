"""Markdown inside a line: emphasis, code, links, images, as styled runs."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache

from msgspec import Struct
from msgspec.structs import replace
from rich.segment import Segment
from rich.style import Style

from keen_tui.frontends.tui.look.themes import Styles
from keen_tui.text.markdown import Inline, InlineKind
from keen_tui.text.sanitize import clean

_ADDRESS = re.compile(r"https?://[^\s<>\"'`]*[^\s<>\"'`.,:;!?)\]}]")
_HOST = re.compile(
    r"(?:https?://)?(?:[^\s/@]*@)?((?:[\w-]+\.)+[a-z]{2,}|\d+(?:\.\d+){3})(?![\w.])", re.IGNORECASE
)
_OPENABLE = re.compile(r"(https?|mailto):", re.IGNORECASE)


class _Face(Struct, frozen=True):
    """The style of text inside nested marks."""

    role: str
    bold: bool = False
    italic: bool = False
    strike: bool = False
    href: str = ""


def inline_runs(inline: Sequence[Inline], styles: Styles, *, role: str, bold: bool = False) -> list[Segment]:
    """The runs of a line; a hard break is a `\\n`. HTML is shown as text."""
    runs: list[Segment] = []
    faces = [_Face(role, bold=bold)]
    marks: list[tuple[InlineKind, int]] = []
    for kind, text in inline:
        face = faces[-1]
        match kind:
            case "text" | "html":
                # Cleaned again: an entity such as `&#27;` is a control character only now.
                runs += _text(clean(text), face, styles)
            case "code":
                runs.append(Segment(clean(text), _code_style(face, styles)))
            case "soft":
                runs.append(Segment(" ", _style(face, styles)))
            case "hard":
                runs.append(Segment("\n", None))
            case "end":
                mark, start = marks.pop()
                if mark == "link":
                    runs += _truth("".join(run.text for run in runs[start:]), face.href, styles)
                faces.pop()
            case _:
                faces.append(_inside(face, kind, text))
                marks.append((kind, len(runs)))
    return runs


def _inside(face: _Face, mark: InlineKind, address: str) -> _Face:
    match mark:
        case "strong":
            return replace(face, bold=True)
        case "em":
            return replace(face, italic=True)
        case "strike":
            return replace(face, strike=True)
    return replace(face, href=address)


def _truth(said: str, href: str, styles: Styles) -> Iterator[Segment]:
    """The real address of a link whose text names another one."""
    named = _HOST.search(said)
    host = _HOST.match(href)
    where = host[1].lower() if host and host[1] else clean(href)
    if named and (named[1] or "").lower() != where:
        yield Segment(f" ({where})", styles("dim"))


def _text(text: str, face: _Face, styles: Styles) -> Iterator[Segment]:
    """Text with its web addresses turned into links."""
    end = 0
    if not face.href and "://" in text:
        for found in _ADDRESS.finditer(text):
            if found.start() > end:
                yield Segment(text[end : found.start()], _style(face, styles))
            yield Segment(found[0], _style(replace(face, href=found[0]), styles))
            end = found.end()
    if end < len(text):
        yield Segment(text[end:], _style(face, styles))


def _style(face: _Face, styles: Styles) -> Style:
    role = "link" if face.href else face.role
    style = styles(role, bold=face.bold, italic=face.italic, strike=face.strike, underline=bool(face.href))
    return style + _opened(face.href) if _OPENABLE.match(face.href) else style


@lru_cache(maxsize=256)
def _opened(href: str) -> Style:
    """Returns the style of a link: the terminal can open it, and so can a click."""
    return Style(link=href) + Style.from_meta({"href": href})


def _code_style(face: _Face, styles: Styles) -> Style:
    style = styles("link", on="panel", bold=face.bold, italic=face.italic)
    return style + Style.from_meta({"href": face.href}) if _OPENABLE.match(face.href) else style
