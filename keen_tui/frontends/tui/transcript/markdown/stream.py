"""Draws growing Markdown. A new word costs the same no matter how long the text is."""

from __future__ import annotations

from typing import Any

from keen_tui.frontends.tui.transcript.blocks.lines import BLANK, Line
from keen_tui.frontends.tui.transcript.markdown.code import code_lines
from keen_tui.frontends.tui.transcript.markdown.markdown import children, parse, render_blocks
from keen_tui.frontends.tui.transcript.markdown.splitter import PARAGRAPH, Piece, Splitter, is_cut_apart
from keen_tui.frontends.tui.transcript.render_style import RenderStyle
from keen_tui.text.highlighting import load
from keen_tui.text.sanitize import clean


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

    def forget_rows(self) -> None:
        """Forget the drawn rows, so that everything is drawn again."""
        self._look = None

    def lines(self, look: RenderStyle) -> list[Line]:
        """All current rows, gutter included."""
        if look != self._look:
            self._look, self._drawn, self._pieces_drawn = look, [], 0
        for piece in self._splitter.pieces[self._pieces_drawn :]:
            self._drawn = self._joined(piece, look)
        self._pieces_drawn = len(self._splitter.pieces)
        tail = self._splitter.tail()
        return list(self._drawn) if tail is None else self._joined(tail, look)

    def _joined(self, piece: Piece, look: RenderStyle) -> list[Line]:
        rows = self._draw(piece, look)
        gap = [BLANK] * piece.gap if self._drawn and rows else []
        return [*self._drawn, *gap, *rows]

    def _draw(self, piece: Piece, look: RenderStyle) -> list[Line]:
        if piece.code:
            gutter = look.gutter()
            rows = code_lines(piece.source, look.wide, look.styles, ground="panel", language=piece.language)
            return [row.behind(gutter) for row in rows]
        # A copy: the tail may contain half a link definition, which must not stay.
        env = {"references": dict(self._splitter.env.get("references", {}))}
        tokens = parse(piece.source, env)
        return render_blocks(tokens, look, number=piece.number, widths=piece.widths)


def render_markdown(text: str, look: RenderStyle) -> list[Line]:
    """The rows of a whole text. A text that a stream wouldn't cut inside a block is parsed at once, not in
    pieces."""
    safe = clean(text, newlines=True, tabs=True)
    if not safe.endswith("\n"):
        safe += "\n"
    env: dict[str, Any] = {}
    if len(safe) <= PARAGRAPH and "\x1b" not in text:
        tokens = parse(safe, env)
        # The effect of a link definition on the text before it depends on how the text arrived.
        lines = safe.split("\n")
        if not env.get("references") and not any(is_cut_apart(block, lines) for block in children(tokens)):
            return render_blocks(tokens, look)
    stream = MarkdownStream()
    stream.feed(text)
    stream.finish()
    return stream.lines(look)


def warm_up() -> None:
    """Load parser and highlighter. Call it in a thread after the first paint, so that the first reply doesn't
    have to."""
    parse("", {})
    load("python", "")
    load("", "warm.py")  # compiles the patterns for all file names
