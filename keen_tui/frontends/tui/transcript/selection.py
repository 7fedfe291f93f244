"""Selected text: two positions in the texts of blocks, which stay valid when rows move and wrap."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from typing import NamedTuple

from rich.cells import cell_len

from keen_tui.frontends.tui.transcript.document import Document, Place
from keen_tui.frontends.tui.transcript.flow import Flow, Flows, Spot
from keen_tui.frontends.tui.transcript.painting import Mark

_WORD = re.compile(r"[\w./~+@%#=&?:$-]+")
"""A double click takes a whole path, option or address."""
_NO_END_OF_A_WORD = ".,:;?!"


class Grip(NamedTuple):
    """The character under the pointer: its two edges, which are equal if there is no text."""

    block: int
    left: int
    right: int


class Span(NamedTuple):
    """The text from `first` up to `last`, possibly in another block."""

    first: Spot
    last: Spot


EVERYTHING = Span(Spot(0, 0), Spot(sys.maxsize, sys.maxsize))


class TextSelection:
    """The selection in a document, or none."""

    def __init__(self, document: Document, flows: Flows) -> None:
        self.span: Span | None = None
        self._document = document
        self._flows = flows
        self._held: Grip | None = None

    def hold(self, row: int, cell: int) -> None:
        """Fix one end of the next selection at that row of the document and cell of the row."""
        self._held = self._grip(row, cell)

    def reach(self, row: int, cell: int) -> None:
        """Select from the fixed end to there, both ends included."""
        there = self._grip(row, cell)
        held = self._held or there
        first, last = sorted((held, there))
        self.span = Span(Spot(first.block, first.left), Spot(last.block, last.right))

    def take_word(self, row: int, cell: int) -> None:
        """Select the word at that cell; a path, an option and an address are one word."""
        block, place, _ = self._grip(row, cell)
        for word in _WORD.finditer(self._flows.of(block).text):
            end = word.start() + len(word[0].rstrip(_NO_END_OF_A_WORD))
            if word.start() <= place < end:
                self._take(block, word.start(), end)
                return

    def take_line(self, row: int, cell: int) -> None:
        """Select the whole line, even if it is wrapped over several rows."""
        block, place, _ = self._grip(row, cell)
        text = self._flows.of(block).text
        end = text.find("\n", place)
        self._take(block, text.rfind("\n", 0, place) + 1, len(text) if end < 0 else end)

    def forget(self) -> None:
        """Clear the selection and its fixed end."""
        self.span = self._held = None

    def moved_down(self, blocks: int) -> None:
        """So many blocks were inserted at the beginning."""
        if self.span:
            first, last = self.span
            self.span = Span(
                first._replace(block=first.block + blocks),
                last._replace(block=min(last.block + blocks, sys.maxsize)),
            )
        if self._held:
            self._held = self._held._replace(block=self._held.block + blocks)

    def marks(self, place: Place) -> list[Mark]:
        """The marks for the selected characters of a row."""
        columns = self.columns(place)
        return [Mark(*columns, self._document.look.styles("text", on="select"))] if columns else []

    def columns(self, place: Place) -> tuple[int, int] | None:
        """The selected characters of a row, from the first to the one after the last."""
        if self.span is None or not self.span.first.block <= place.block <= self.span.last.block:
            return None
        row = place.offset - self._document.entries[place.block].gap
        return self._flows.of(place.block).columns(row, *self._part(self.span, place.block))

    def pieces(self, span: Span) -> Iterator[str]:
        """The text of a span in pieces. Blocks that aren't on the screen are drawn for this, one per
        piece."""
        document = self._document
        for block in range(span.first.block, min(span.last.block + 1, len(document))):
            if block >= len(document):
                return
            first, last = self._part(span, block)
            lines = document.drawn(block) if last else ()
            if lines:
                yield "\n" * (1 + document.entries[block].gap) if block > span.first.block else ""
                yield Flow(lines).text[first:last]

    def _part(self, span: Span, block: int) -> tuple[int, int]:
        """The characters of a block's text that belong to the span."""
        first = span.first.place if block == span.first.block else 0
        return first, span.last.place if block == span.last.block else sys.maxsize

    def _take(self, block: int, first: int, last: int) -> None:
        self._held = Grip(block, first, last)
        self.span = Span(Spot(block, first), Spot(block, last))

    def _grip(self, row: int, cell: int) -> Grip:
        block, offset = self._document.find(row)
        if block >= len(self._document):
            return Grip(0, 0, 0)
        row = offset - self._document.entries[block].gap
        if row < 0:
            return Grip(block, 0, 0)
        text = self._document.line(Place(block, offset)).text
        flow, column = self._flows.of(block), _column(text, cell)
        left = flow.place(row, column)
        right = flow.place(row, column + 1) if column < len(text) else left
        return Grip(block, left, right)


def _column(text: str, cell: int) -> int:
    """The character in a cell of a row; the position after the last one if there is none."""
    if text.isascii():
        return min(max(cell, 0), len(text))
    cells = 0
    for column, character in enumerate(text):
        cells += cell_len(character)
        if cells > cell:
            return column
    return len(text)
