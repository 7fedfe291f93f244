"""The user's messages. A long paste is shown as a label until it is unfolded."""

from __future__ import annotations

from typing import Final

from keen_tui.frontends.tui.rows.lines import Line
from keen_tui.frontends.tui.state.state import UserBlock
from keen_tui.frontends.tui.transcript.blocks.block_context import BlockContext
from keen_tui.frontends.tui.transcript.blocks.excerpt import wrap_prose
from keen_tui.frontends.tui.transcript.blocks.folding import fold_key
from keen_tui.frontends.tui.widgets.pastes import is_long
from keen_tui.text.units import counted

_FIRST_LINES: Final = 3
_LAST_LINES: Final = 2
_CHARACTERS: Final = 400
"""Characters of those lines that are shown."""
FOLDED_ROWS: Final = _FIRST_LINES + 1 + _LAST_LINES
"""The approximate number of rows of a long text while it is folded."""


def draw_user(block: UserBlock, context: BlockContext) -> list[Line]:
    """The text after the prompt sign, and a row for its skill, each resource and each image."""
    look = context.look
    folds = fold_key(block) is not None
    text = _folded(block.text, context) if folds and not context.unfolded else block.text
    lines = wrap_prose(text.strip("\n"), look.styles("text", bold=True), look)
    first, rest = look.gutter(look.glyphs.prompt, "accent"), look.gutter()
    for words in filter(None, (block.skill, *block.resources, *block.images)):
        lines += wrap_prose(words, look.styles("soft"), look)
    rows = [line.behind(rest if number else first) for number, line in enumerate(lines)]
    return [context.fold_mark(rows[0]), *rows[1:]] if folds else rows


def _folded(text: str, context: BlockContext) -> str:
    """The text with a label for each known paste. A long text without known pastes loses its middle."""
    text = context.labelled(text)
    if not is_long(text):
        return text
    lines = text.strip("\n").split("\n")
    first, last = lines[:_FIRST_LINES], lines[_FIRST_LINES:][-_LAST_LINES:]
    head, tail = "\n".join(first)[:_CHARACTERS], "\n".join(last)[-_CHARACTERS:]
    more = context.look.glyphs.more
    if left := len(lines) - len(first) - len(last):
        return f"{head}\n[{more} {counted(left, 'more line')}]\n{tail}"
    hidden = counted(len(text) - len(head) - len(tail), "more character")
    return f"{head}\n[{more} {hidden}]" + (f"\n{tail}" if tail else "")
