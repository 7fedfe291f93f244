"""A compaction as rows: what is summarised, the streaming summary, and the result."""

from __future__ import annotations

from rich.segment import Segment

from keen_tui.domain.events import Compacted, CompactionFailed
from keen_tui.frontends.tui.keys.keymap import shown
from keen_tui.frontends.tui.rows.lines import Line, wrap
from keen_tui.frontends.tui.state.state import CompactionBlock
from keen_tui.frontends.tui.transcript.blocks.block_context import BlockContext
from keen_tui.frontends.tui.transcript.blocks.excerpt import wrap_prose
from keen_tui.text.sanitize import clean
from keen_tui.text.units import counted, duration, size


def draw_compaction(block: CompactionBlock, context: BlockContext) -> list[Line]:
    """One row, and the summary below it while it streams or when the block is unfolded."""
    match block.end:
        case None:
            return [*_running(block, context), *_summary(block, context)]
        case Compacted():
            row = _done(block.end, context)
            row[0] = context.fold_mark(row[0])
            return [*row, *_summary(block, context)] if context.unfolded else row
        case CompactionFailed():
            return _failed(block.end, context)


def _running(block: CompactionBlock, context: BlockContext) -> list[Line]:
    why = "the context window is nearly full" if block.start.automatic else clean(block.start.focus)
    return context.facts(
        context.running_glyph,
        "accent",
        (f"summarising {counted(block.start.turns, 'turn')}", "accent"),
        (why, "dim"),
        (f"{shown('stop')} cancels", "dim"),
    )


def _done(end: Compacted, context: BlockContext) -> list[Line]:
    glyphs = context.look.glyphs
    return context.facts(
        glyphs.done,
        "ok",
        (f"{counted(end.turns, 'turn')} summarised", "soft"),
        (f"{size(end.bytes_before)} {glyphs.right} {size(end.bytes_after)}", "dim"),
        (duration(end.seconds), "dim"),
    )


def _failed(end: CompactionFailed, context: BlockContext) -> list[Line]:
    if end.reason == "interrupted":
        return context.facts(
            context.look.glyphs.stopped, "soft", ("summary cancelled, nothing changed", "soft")
        )
    why = Segment(clean(end.detail), context.look.styles("soft"))
    head = context.facts(
        context.look.glyphs.failed, "fail", ("not summarised, the conversation is unchanged", "soft")
    )
    return [*head, *(line.behind(context.look.gutter()) for line in wrap([why], context.look.prose))]


def _summary(block: CompactionBlock, context: BlockContext) -> list[Line]:
    if not block.text.strip():
        return []
    look = context.look
    mark = look.gutter(look.glyphs.live, "dim")
    return [line.behind(mark) for line in wrap_prose(block.text.strip(), look.styles("soft"), look)]
