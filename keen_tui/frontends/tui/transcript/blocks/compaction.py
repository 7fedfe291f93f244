"""A compaction as rows: what is summarised, the summary as it streams, and what came of it."""

from __future__ import annotations

from rich.segment import Segment

from keen_tui.domain.events import Compacted, CompactionFailed
from keen_tui.frontends.tui.keys.keymap import shown
from keen_tui.frontends.tui.state.state import CompactionBlock
from keen_tui.frontends.tui.transcript.blocks.excerpt import wrap_prose
from keen_tui.frontends.tui.transcript.blocks.lines import Line, wrap
from keen_tui.frontends.tui.transcript.scene import Scene
from keen_tui.text.sanitize import clean
from keen_tui.text.units import counted, duration, size


def draw_compaction(block: CompactionBlock, scene: Scene) -> list[Line]:
    """One row, and the summary below it: while it streams, and later when the block is unfolded."""
    match block.end:
        case None:
            return [*_running(block, scene), *_summary(block, scene)]
        case Compacted():
            row = _done(block.end, scene)
            row[0] = scene.fold_mark(row[0])
            return [*row, *_summary(block, scene)] if scene.unfolded else row
        case CompactionFailed():
            return _failed(block.end, scene)


def _running(block: CompactionBlock, scene: Scene) -> list[Line]:
    why = "the context window is nearly full" if block.start.automatic else clean(block.start.focus)
    return scene.facts(
        scene.running_glyph,
        "accent",
        (f"summarising {counted(block.start.turns, 'turn')}", "accent"),
        (why, "dim"),
        (f"{shown('stop')} cancels", "dim"),
    )


def _done(end: Compacted, scene: Scene) -> list[Line]:
    glyphs = scene.look.glyphs
    return scene.facts(
        glyphs.done,
        "ok",
        (f"{counted(end.turns, 'turn')} summarised", "soft"),
        (f"{size(end.bytes_before)} {glyphs.right} {size(end.bytes_after)}", "dim"),
        (duration(end.seconds), "dim"),
    )


def _failed(end: CompactionFailed, scene: Scene) -> list[Line]:
    if end.reason == "interrupted":
        return scene.facts(scene.look.glyphs.stopped, "soft", ("summary cancelled, nothing changed", "soft"))
    why = Segment(clean(end.detail), scene.look.styles("soft"))
    head = scene.facts(
        scene.look.glyphs.failed, "fail", ("not summarised, the conversation is unchanged", "soft")
    )
    return [*head, *(line.behind(scene.look.gutter()) for line in wrap([why], scene.look.prose))]


def _summary(block: CompactionBlock, scene: Scene) -> list[Line]:
    if not block.text.strip():
        return []
    look = scene.look
    mark = look.gutter(look.glyphs.live, "dim")
    return [line.behind(mark) for line in wrap_prose(block.text.strip(), look.styles("soft"), look)]
