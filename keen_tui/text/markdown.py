"""Markdown as a tree of blocks: CommonMark with tables and strikethrough.

pyromark reads the text; nothing else in the program sees its events. HTML stays text, as it was written.

The text to parse is clean (`text/sanitize.py`). An entity such as `&#27;` becomes a control character in the
tree, so whatever draws the tree cleans each text again.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from functools import cache
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias
from urllib.parse import quote

from msgspec import Struct

if TYPE_CHECKING:
    from pyromark import Markdown
    from pyromark.event import BrokenLink, BrokenLinkCallback, Range

    _Events: TypeAlias = Iterator[tuple[Any, Range]]

BlockKind: TypeAlias = Literal[
    "paragraph", "heading", "code", "html", "quote", "list", "item", "table", "row", "cell", "rule"
]
InlineKind: TypeAlias = Literal[
    "text", "code", "html", "soft", "hard", "em", "strong", "strike", "link", "image", "end"
]
Inline: TypeAlias = tuple[InlineKind, str]
"""A piece of a line and its text: words, code, HTML, a soft or hard break, or the start of a mark. The text
of a link or an image is its address. "end" ends the last open mark. An image without a description has the
word "image"."""

DEEPEST: Final = 20
"""The most lists, items and quotations inside each other. The content of deeper ones goes into those around
them."""

_KINDS: Final[Mapping[str, BlockKind]] = {
    "Paragraph": "paragraph",
    "Heading": "heading",
    "CodeBlock": "code",
    "HtmlBlock": "html",
    "BlockQuote": "quote",
    "List": "list",
    "Item": "item",
    "Table": "table",
    "TableHead": "row",
    "TableRow": "row",
    "TableCell": "cell",
}
_PIECES: Final[Mapping[str, InlineKind]] = {
    "Text": "text",
    "Code": "code",
    "Html": "html",
    "InlineHtml": "html",
    "SoftBreak": "soft",
    "HardBreak": "hard",
}
_MARKS: Final[Mapping[str, InlineKind]] = {
    "Emphasis": "em",
    "Strong": "strong",
    "Strikethrough": "strike",
    "Link": "link",
    "Image": "image",
}

_UNSAFE = re.compile(r"(?:javascript|vbscript|file|data(?!:image/(?:gif|png|jpeg|webp);)):", re.IGNORECASE)
"""Addresses that run something, or name something on this machine. A link to one stays text."""
_KEPT: Final = ";/?:@&=+$,-_.!~*'()#%"
"""What an address has besides letters and digits."""
_PLAIN = re.compile(rf"[\w{re.escape(_KEPT)}]*", re.ASCII)
_HOST = re.compile(r"(https?://(?:[^/?#@]*@)?)([^/?#:]+)", re.IGNORECASE)


class MarkdownBlock(Struct):
    """A block, from character `start` up to `end` of the text. A paragraph of a tight list has no `end`.

    Paragraphs, headings, cells and HTML have an `inline` content, code has a `text`, everything else has
    `blocks`: items of a list, rows of a table (the first one is its head), cells of a row. `level` is for
    headings. `fenced` and `language`, the first word after the mark, are for code. `number`, that of the
    first item, is None for bullets. The items of a `tight` list have no empty lines between them. `columns`
    are the alignments of a table: left, center, right, or nothing.
    """

    kind: BlockKind
    start: int
    end: int = 0
    inline: list[Inline] = []
    blocks: list[MarkdownBlock] = []
    text: str = ""
    level: int = 0
    fenced: bool = False
    language: str = ""
    number: int | None = None
    tight: bool = True
    columns: tuple[str, ...] = ()


def parse(text: str, known: Mapping[str, str] | None = None) -> list[MarkdownBlock]:
    """The blocks of a text. `known` are definitions of links, which win over those in the text."""
    return _Tree(text, known or {}).blocks()


def definitions(text: str) -> dict[str, str]:
    """The definitions of links in a text: addresses by label."""
    if "]:" not in text:
        return {}
    found = _plain_reader().reference_definitions(_encodable(text))
    return {_label(name): definition["dest"] for name, definition in found.items()}


def every(blocks: Iterable[MarkdownBlock]) -> Iterator[MarkdownBlock]:
    """The blocks, each followed by those in it."""
    for block in blocks:
        yield block
        yield from every(block.blocks)


def line_start(text: str, position: int) -> int:
    """The position where the line of `position` begins."""
    return text.rfind("\n", 0, position) + 1


class _Tree:
    """Builds the blocks of one text from its events."""

    def __init__(self, text: str, known: Mapping[str, str]) -> None:
        self._text = _encodable(text)
        self._known = known
        self._position = _Position(self._text)
        self._open = [MarkdownBlock("quote", 0)]
        self._inline: list[Inline] | None = None

    def blocks(self) -> list[MarkdownBlock]:
        root = self._open[0]
        reader = _reader(self._resolve) if self._known else _plain_reader()
        events: _Events = reader.events_with_range(self._text, merge_text=True)
        for event, place in events:
            name, value = (event, "") if isinstance(event, str) else event.popitem()
            piece = _PIECES.get(name)
            if piece is not None:
                line = self._paragraph(place) if self._inline is None else self._inline
                line.append((piece, value))
            elif name == "End":
                self._end(value, place)
            elif name == "Rule":
                self._begin_block("rule", None, place)
                self._end(name, place)
            else:
                self._begin(value, place, events)
        return root.blocks

    def _paragraph(self, place: Range) -> list[Inline]:
        """The content of a new paragraph. Those of a tight list have no events of their own."""
        paragraph = MarkdownBlock("paragraph", self._position(place["start"]))
        self._open[-1].blocks.append(paragraph)
        self._inline = paragraph.inline
        return paragraph.inline

    def _begin(self, tag: Any, place: Range, events: _Events) -> None:
        name, data = (tag, None) if isinstance(tag, str) else tag.popitem()
        mark = _MARKS.get(name)
        if mark is None:
            self._begin_block(_KINDS[name], data, place)
            return
        line = self._paragraph(place) if self._inline is None else self._inline
        if data is not None:
            line.append(self._link(mark, data, place, events))
        else:
            line.append(("text", "~") if self._is_tilde(mark, place) else (mark, ""))

    def _begin_block(self, kind: BlockKind, data: Any, place: Range) -> None:
        around = self._open[-1]
        self._inline = None
        is_deep = kind in ("list", "quote") and len(self._open) > DEEPEST
        if is_deep or (kind == "item" and around.kind != "list"):
            self._open.append(around)
            return
        block = MarkdownBlock(kind, self._position(place["start"]))
        around.blocks.append(block)
        self._open.append(block)
        match kind:
            case "paragraph" if around.kind == "item":
                self._open[-3].tight = False
            case "heading":
                block.level = int(data["level"][1:])
            case "code" if isinstance(data, dict):
                block.fenced, block.language = True, next(iter(data["Fenced"].split()), "")
            case "list":
                block.number = data
            case "table":
                block.columns = tuple("" if column == "None" else column.lower() for column in data)
        if kind in ("paragraph", "heading", "cell", "code", "html"):
            self._inline = block.inline

    def _end(self, tag: Any, place: Range) -> None:
        if isinstance(tag, str) and tag in _MARKS:
            self._end_mark(tag, place)
            return
        block = self._open.pop()
        block.end = self._position(place["end"])
        self._inline = None
        if block.kind == "code":
            block.text = "".join(text for _, text in block.inline)
            block.inline = []
        elif block.kind == "html":
            block.inline = _html_lines("".join(text for _, text in block.inline))

    def _end_mark(self, tag: str, place: Range) -> None:
        line = self._inline or []
        if tag == "Image" and line[-1][0] == "image":
            line.append(("text", "image"))
        line.append(("text", "~") if self._is_tilde(_MARKS[tag], place) else ("end", ""))

    def _is_tilde(self, mark: InlineKind, place: Range) -> bool:
        """Whether the mark is a single ~. It stays text: paths such as `~/bin` begin with one."""
        return mark == "strike" and not self._position.begins(place, b"~~")

    def _link(self, mark: InlineKind, data: Any, place: Range, events: _Events) -> Inline:
        """The start of a link or an image. One with an unsafe address is text, as it was written."""
        address = data["dest_url"]
        if self._known and data["id"]:
            address = self._known.get(_label(data["id"]), address)
        if _UNSAFE.match(address):
            next((event for event, where in events if where == place and "End" in event), None)
            return "text", self._position.text(place)
        scheme = "mailto:" if data["link_type"] == "Email" else ""
        return mark, scheme + _encoded(address)

    def _resolve(self, link: BrokenLink) -> tuple[str, str] | None:
        address = self._known.get(_label(link["reference"]))
        return None if address is None else (address, "")


class _Position:
    """The characters of a text that the bytes of an event stand for."""

    def __init__(self, text: str) -> None:
        self._bytes = text.encode()
        self._is_ascii = text.isascii()
        self._byte = self._character = 0

    def __call__(self, byte: int) -> int:
        """The position of a character. Only the text between this one and the last one is read."""
        if self._is_ascii:
            return byte
        first, last = sorted((self._byte, byte))
        characters = len(self._bytes[first:last].decode())
        self._character += characters if byte > self._byte else -characters
        self._byte = byte
        return self._character

    def text(self, place: Range) -> str:
        return self._bytes[place["start"] : place["end"]].decode()

    def begins(self, place: Range, sign: bytes) -> bool:
        return self._bytes.startswith(sign, place["start"])


@cache
def _plain_reader() -> Markdown:
    return _reader(None)


def _reader(lookup: BrokenLinkCallback | None) -> Markdown:
    from pyromark import Markdown, Options  # noqa: PLC0415 - 7 ms that the first paint must not pay

    return Markdown(options=Options.ENABLE_TABLES | Options.ENABLE_STRIKETHROUGH, broken_link_callback=lookup)


def _html_lines(text: str) -> list[Inline]:
    """Lines of HTML, as they were written."""
    inline: list[Inline] = []
    for line in text.rstrip("\n").split("\n"):
        inline += (("html", line), ("hard", ""))
    return inline[:-1]


def _encodable(text: str) -> str:
    """The text without lone surrogates, which can't be encoded."""
    return text if text.isascii() else text.encode(errors="replace").decode()


def _label(text: str) -> str:
    """The label of a link in the form that is compared."""
    return " ".join(text.split()).casefold()


def _encoded(address: str) -> str:
    """An address without characters that it must not have, and with the name of its host as DNS knows it."""
    if _PLAIN.fullmatch(address):
        return address
    host = _HOST.match(address)
    if host and not host[2].isascii():
        with suppress(UnicodeError):
            address = host[1] + host[2].encode("idna").decode() + address[host.end() :]
    return quote(address, safe=_KEPT)
