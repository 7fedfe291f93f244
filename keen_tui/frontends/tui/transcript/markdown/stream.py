"""Draws growing Markdown. A new word costs the same no matter how long the text is."""

from __future__ import annotations

from keen_tui.frontends.tui.transcript.blocks.lines import BLANK, Line
from keen_tui.frontends.tui.transcript.markdown.code import code_lines
from keen_tui.frontends.tui.transcript.markdown.markdown import render_blocks
from keen_tui.frontends.tui.transcript.markdown.splitter import Piece, Splitter
from keen_tui.frontends.tui.transcript.render_style import RenderStyle
from keen_tui.text.highlighting import load
from keen_tui.text.markdown import parse


class MarkdownStream:
    """The rows of a text that arrives in pieces. Rows of finished blocks are drawn once per look."""

    def __init__(self) -> None:
        self._splitter = Splitter()
        self._look: RenderStyle | None = None
        self._drawn: list[Line] = []
        self._pieces_drawn = 0

    def feed(self, text: str) -> None:
        self._splitter.feed(text)

    def finish(self) -> None:
        self._splitter.finish()
        if self._splitter.definitions:
            self.forget_rows()  # a link definition applies to the text before it, too

    def forget_rows(self) -> None:
        """Forget the drawn rows, so that everything is drawn again."""
        self._look = None

    def lines(self, look: RenderStyle) -> list[Line]:
        """All current rows, gutter included."""
        if look != self._look:
            self._look, self._drawn, self._pieces_drawn = look, [], 0
        for piece in self._splitter.pieces[self._pieces_drawn :]:
            self._drawn += self._rows(piece, look)
        self._pieces_drawn = len(self._splitter.pieces)
        tail = self._splitter.tail()
        return [*self._drawn, *(self._rows(tail, look) if tail is not None else ())]

    def _rows(self, piece: Piece, look: RenderStyle) -> list[Line]:
        rows = self._draw(piece, look)
        gap = [BLANK] * piece.gap if self._drawn and rows else []
        return [*gap, *rows]

    def _draw(self, piece: Piece, look: RenderStyle) -> list[Line]:
        if piece.code:
            gutter = look.gutter()
            rows = code_lines(piece.source, look.wide, look.styles, ground="panel", language=piece.language)
            return [row.behind(gutter) for row in rows]
        blocks = parse(piece.source, self._splitter.definitions)
        return render_blocks(blocks, look, number=piece.number, widths=piece.widths)


def render_markdown(text: str, look: RenderStyle) -> list[Line]:
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
