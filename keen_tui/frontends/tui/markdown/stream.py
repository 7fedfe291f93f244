"""Draws growing Markdown. A new word costs the same no matter how long the text is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from keen_tui.frontends.tui.markdown.late_rows import AnyRow, Code, LateRows
from keen_tui.frontends.tui.markdown.markdown import render_blocks
from keen_tui.frontends.tui.markdown.splitter import Piece, Splitter
from keen_tui.frontends.tui.rows.lines import BLANK
from keen_tui.frontends.tui.rows.render_style import RenderStyle
from keen_tui.text.highlighting import load
from keen_tui.text.markdown import MarkdownBlock, parse

_Content: TypeAlias = Sequence[MarkdownBlock] | Code


class MarkdownStream:
    """The rows of a text that arrives bit by bit.

    Finished pieces are parsed once, and drawn once per look. The colours of fences are kept, too.
    """

    def __init__(self) -> None:
        self.finished = False
        self._splitter = Splitter()
        self._contents: list[_Content] = []
        """The parsed blocks, or the code, of each finished piece."""
        self._look: RenderStyle | None = None
        self._drawn: list[AnyRow] = []
        self._pieces_drawn = 0

    def feed(self, text: str) -> None:
        self._splitter.feed(text)

    def finish(self) -> None:
        """End the text."""
        self.finished = True
        self._splitter.finish()
        if self._splitter.definitions:
            self.forget_contents()  # a link definition applies to the text before it, too

    def forget_contents(self) -> None:
        """Forget what was parsed, coloured and drawn."""
        self._contents.clear()
        self.forget_rows()

    def forget_rows(self) -> None:
        """Forget what was drawn."""
        self._look, self._drawn, self._pieces_drawn = None, [], 0

    def draw_finished(self, look: RenderStyle) -> None:
        """Draw the pieces that have been finished since the last time."""
        if look != self._look:
            self.forget_rows()
            self._look = look
        pieces = self._splitter.pieces
        self._contents += map(self._content, pieces[len(self._contents) :])
        for number in range(self._pieces_drawn, len(pieces)):
            self._drawn += self._rows(pieces[number], self._contents[number], look)
        self._pieces_drawn = len(pieces)

    def lines(self, look: RenderStyle) -> LateRows:
        """All current rows, gutter included."""
        self.draw_finished(look)
        tail = self._splitter.tail()
        last = self._rows(tail, self._content(tail), look) if tail is not None else ()
        return LateRows([*self._drawn, *last])

    def _content(self, piece: Piece) -> _Content:
        if piece.code:
            return Code(piece.source, piece.language)
        if piece.blocks is not None and not self._splitter.definitions:
            return piece.blocks
        return parse(piece.source, self._splitter.definitions)

    def _rows(self, piece: Piece, content: _Content, look: RenderStyle) -> list[AnyRow]:
        rows = self._draw(piece, content, look)
        gap = [BLANK] * piece.gap if self._drawn and rows else []
        return [*gap, *rows]

    def _draw(self, piece: Piece, content: _Content, look: RenderStyle) -> Sequence[AnyRow]:
        if isinstance(content, Code):
            return content.rows(look)
        return render_blocks(content, look, number=piece.number, widths=piece.widths)


def render_markdown(text: str, look: RenderStyle) -> LateRows:
    """The rows of a whole text."""
    stream = MarkdownStream()
    stream.feed(text)
    stream.finish()
    return stream.lines(look)


def warm_up() -> None:
    """Load parser and highlighter. Call it in a thread after the first paint, so that the first reply doesn't
    have to."""
    parse("")
    load("python", "")
    load("", "warm.py")  # compiles the patterns for all file names
