"""Cuts streamed Markdown into pieces that later text can't change, and a short tail that may still change.

The cuts depend on the text alone, never on how it arrived. A finished top-level block is a piece. A block
that grows too long is cut inside: a fence every 64 lines, a list every 24 items, a table every 20 rows, a
paragraph at 4,000 characters. Only there may the drawing differ from one of the whole text: syntax colours
and emphasis start again, and column widths stay those of the first rows.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from msgspec import Struct, field

from keen_tui.frontends.tui.markdown.tables import table_columns
from keen_tui.text.markdown import MarkdownBlock, definitions, line_start, parse
from keen_tui.text.sanitize import clean

CODE_LINES: Final = 64
LIST_ITEMS: Final = 24
TABLE_ROWS: Final = 20
PARAGRAPH: Final = 4_000
"""Characters of a paragraph."""
LONGEST_BLOCK: Final = 16_384
"""Characters of any other block, such as a quotation; a longer one is cut at a line."""

_SLICE: Final = 2_048
_LETTER_AFTER_BLANK = re.compile(r"\s(?=[^\W\d_])")
_FENCE = re.compile(r"( {0,3})(`{3,}|~{3,})\s*(\S*)")
_HALF_ROW = re.compile(r"(?<=\n)[ >]*\| *\Z")
"""The first letter of a table's row: it is shown with the second one, since alone it ends the table."""
_HALF_ESCAPE = re.compile(r"(?:\r|\x1b[^\x1b]{0,80}|\x9b[0-?]{0,80}[ -/]*)\Z")
_WHOLE_ESCAPE = re.compile(
    r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\].*?(?:\x07|\x1b\\)|[ -/]+[^ -/]|[^ -/\[\]PX^_])", re.DOTALL
)


class Piece(Struct, frozen=True):
    """A piece of text that is drawn separately, `gap` empty rows below the piece before it.

    The `source` of code has no fence lines. A continued list begins with item `number`; a continued table
    repeats its head in `source`, and has the `widths` of its first piece. `blocks` is the parsed source, if
    the splitter has parsed it and no link was defined behind it.
    """

    source: str
    gap: int = 1
    code: bool = False
    language: str = ""
    number: int | None = None
    widths: tuple[int, ...] | None = None
    blocks: Sequence[MarkdownBlock] | None = None


class _Fence(Struct, frozen=True):
    """An open fence: its closing mark, and the indentation that is removed from its lines."""

    marker: str
    indent: int
    language: str

    def is_closed_by(self, line: str) -> bool:
        mark = line.strip()
        indent = len(line) - len(line.lstrip(" "))
        return indent <= 3 and len(mark) >= len(self.marker) and set(mark) == {self.marker[0]}

    def code(self, lines: Sequence[str]) -> str:
        return "\n".join(re.sub(rf"^ {{0,{self.indent}}}", "", line) for line in lines)


class _Carry(Struct, frozen=True):
    """How the tail continues the piece before it."""

    gap: int = 1
    number: int | None = None
    head: str = ""
    widths: tuple[int, ...] | None = None


class Splitter(Struct):
    """Takes text with `feed`; `pieces` only grows, and `tail()` is the rest. `definitions` are the link
    definitions in the pieces."""

    pieces: list[Piece] = field(default_factory=list)
    definitions: dict[str, str] = field(default_factory=dict)
    _tail: str = ""
    _held: str = ""
    _fence: _Fence | None = None
    _carry: _Carry = field(default_factory=_Carry)
    _judged: int = 0

    def feed(self, text: str) -> None:
        text = self._held + text
        held = _HALF_ESCAPE.search(text)
        cut = held.start() if held and not _WHOLE_ESCAPE.match(held[0]) else len(text)
        self._held = text[cut:]
        safe = clean(text[:cut], newlines=True, tabs=True)
        for start in range(0, len(safe), _SLICE):
            self._tail += safe[start : start + _SLICE]
            while self._advance(len(self._tail.rpartition("\n")[0]) + 1 if "\n" in self._tail else 0):
                pass

    def finish(self) -> None:
        """End the text: everything becomes pieces."""
        self._tail += clean(self._held, newlines=True, tabs=True)
        self._held = ""
        if self._tail and not self._tail.endswith("\n"):
            self._tail += "\n"
        while self._advance(len(self._tail)):
            pass
        rest = self.tail()
        if rest is not None:
            self._add(rest)
        self._tail, self._fence = "", None

    def tail(self) -> Piece | None:
        """The text after the pieces, which may still change, or None."""
        if self._fence is not None:
            lines = self._tail.removesuffix("\n").split("\n")
            if not self._tail and not self._carry.gap:
                return None
            return self._code_piece(self._fence, lines)
        text = _HALF_ROW.sub("", self._tail)
        return None if _is_blank(text) else self._block_piece(text)

    def _advance(self, complete: int) -> bool:
        """Cut one piece off the tail, looking at its first `complete` characters only. False if there is
        none."""
        if self._fence is not None:
            return self._advance_code(self._fence, self._tail[:complete])
        if complete > self._judged:
            self._judged = complete
            if self._advance_blocks(self._tail[:complete]):
                self._judged = 0
                return True
        return complete < len(self._tail) and self._advance_unbroken()

    def _advance_code(self, fence: _Fence, text: str) -> bool:
        lines = text.split("\n")[:-1]
        for count, line in enumerate(lines):
            closed = fence.is_closed_by(line)
            if not closed and count + 1 < CODE_LINES:
                continue
            content = lines[:count] if closed else lines[: count + 1]
            if content or self._carry.gap:
                self._add(self._code_piece(fence, content))
            self._tail = self._tail[sum(len(each) + 1 for each in lines[: count + 1]) :]
            self._carry = _Carry() if closed else _Carry(gap=0)
            self._fence = None if closed else fence
            return True
        return False

    def _advance_blocks(self, text: str) -> bool:
        if _is_blank(text):
            return False
        whole = self._carry.head + text
        blocks = parse(whole)
        starts = [*(line_start(whole, block.start) for block in blocks), len(whole)]
        for index, block in enumerate(blocks):
            source = whole[starts[index] : starts[index + 1]]
            last = index == len(blocks) - 1
            if not last and not _is_too_long(block, source) and not block.fenced:
                continue
            if index or block.fenced:
                parsed = None if "]:" in whole else blocks[:index]
                self._cut_at(starts[index] - len(self._carry.head), _Carry(), parsed)
                if block.fenced:
                    self._open_fence(source.partition("\n")[0])
                return True
            return _is_too_long(block, source) and self._cut_inside(block, whole, source)
        return False

    def _advance_unbroken(self) -> bool:
        """Cut a paragraph that is one long, incomplete line. Text that is longer by more than a slice wasn't
        one before."""
        if not PARAGRAPH < len(self._tail.strip()) <= PARAGRAPH + 2 * _SLICE:
            return False
        blocks = parse(self._tail)
        if len(blocks) != 1 or blocks[0].kind != "paragraph":
            return False
        self._cut_at(_paragraph_cut(self._tail), _Carry(gap=0))
        self._judged = 0
        return True

    def _open_fence(self, opener: str) -> None:
        """Enter the fence at the begin of the tail."""
        found = _FENCE.match(opener)
        assert found is not None
        self._tail = self._tail[len(opener) + 1 :]
        self._fence = _Fence(marker=found[2], indent=len(found[1]), language=found[3])

    def _cut_inside(self, block: MarkdownBlock, whole: str, source: str) -> bool:
        """Cut the tail's first block, which is too long, wherever necessary."""
        match block.kind:
            case "list":
                self._cut_list(block, whole)
            case "table":
                self._cut_table(block, whole)
            case "paragraph":
                self._cut_at(_paragraph_cut(whole), _Carry(gap=0))
            case _:
                self._cut_at(source.rfind("\n", 0, LONGEST_BLOCK) + 1 or LONGEST_BLOCK, _Carry(gap=0))
        return True

    def _cut_list(self, block: MarkdownBlock, whole: str) -> None:
        number = self._carry.number
        if number is None:
            number = 1 if block.number is None else block.number
        first = 0
        for item in block.blocks[LIST_ITEMS::LIST_ITEMS]:
            behind = line_start(whole, item.start)
            number += LIST_ITEMS
            gap = 0 if parse(whole[first:behind])[0].tight else 1
            self._cut_at(behind - first, _Carry(gap=gap, number=number))
            first = behind

    def _cut_table(self, block: MarkdownBlock, whole: str) -> None:
        head, widths = self._carry.head, self._carry.widths
        first = len(head)
        if not head:
            head = whole[line_start(whole, block.start) : line_start(whole, block.blocks[1].start)]
        for row in block.blocks[1 + TABLE_ROWS :: TABLE_ROWS]:
            behind = line_start(whole, row.start)
            widths = widths or table_columns(parse(whole[first:behind])[0])
            self._cut_at(behind - first, _Carry(gap=0, head=head, widths=widths))
            first = behind

    def _cut_at(self, position: int, carry: _Carry, blocks: Sequence[MarkdownBlock] | None = None) -> None:
        if not _is_blank(self._tail[:position]):
            self._add(self._block_piece(self._tail[:position], blocks))
        self._tail = self._tail[position:]
        self._carry = carry

    def _add(self, piece: Piece) -> None:
        self.pieces.append(piece)
        if not piece.code:
            for label, address in definitions(piece.source).items():
                self.definitions.setdefault(label, address)

    def _block_piece(self, text: str, blocks: Sequence[MarkdownBlock] | None = None) -> Piece:
        carry = self._carry
        source = carry.head + text
        return Piece(source, gap=carry.gap, number=carry.number, widths=carry.widths, blocks=blocks)

    def _code_piece(self, fence: _Fence, lines: Sequence[str]) -> Piece:
        return Piece(fence.code(lines), gap=self._carry.gap, code=True, language=fence.language)


def _is_blank(text: str) -> bool:
    """Whether the text is empty for Markdown. Other kinds of spaces, such as U+00A0, are text for
    Markdown."""
    return not text.strip(" \t\n")


def _is_too_long(block: MarkdownBlock, source: str) -> bool:
    match block.kind:
        case "list":
            return len(block.blocks) > LIST_ITEMS
        case "table":
            return len(block.blocks) - 1 > TABLE_ROWS
        case "paragraph":
            return len(source.rstrip()) > PARAGRAPH
    return len(source) > LONGEST_BLOCK


def _paragraph_cut(text: str) -> int:
    """The position to cut a long paragraph: before a word, so that the rest is a paragraph again."""
    cuts = [found.end() for found in _LETTER_AFTER_BLANK.finditer(text, 0, PARAGRAPH)]
    return cuts[-1] if cuts else PARAGRAPH
