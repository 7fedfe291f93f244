"""A tool call: one row with glyph, name, target, result and time, and the rows that it unfolds to."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from rich.segment import Segment

from keen_tui.domain.display import CommandDisplay, DiffDisplay, TextDisplay
from keen_tui.domain.events import HostContacted
from keen_tui.frontends.tui.look.cells import cut, cut_target
from keen_tui.frontends.tui.look.glyphs import Glyphs
from keen_tui.frontends.tui.rows.lazy_lines import joined, one_row
from keen_tui.frontends.tui.rows.lines import Line, cells_of
from keen_tui.frontends.tui.rows.render_style import TEXT_EDGE, RenderStyle
from keen_tui.frontends.tui.state.displays import TAIL_LINES
from keen_tui.frontends.tui.state.state import OWN_COMMAND, ToolBlock, ToolStatus
from keen_tui.frontends.tui.tool_views import render_display
from keen_tui.frontends.tui.tool_views.excerpts import diff_excerpt, draw_output, output_excerpt
from keen_tui.frontends.tui.transcript.blocks.block_context import BlockContext
from keen_tui.frontends.tui.transcript.blocks.folding import MOST_DIFF_ROWS, MOST_OUTPUT_ROWS
from keen_tui.text.highlighting import safe_code
from keen_tui.text.labels import changed_words, tool_label
from keen_tui.text.outcomes import SIGNS, outcome_parts, place_words
from keen_tui.text.sanitize import clean
from keen_tui.text.units import counted, duration

NAME_CELLS: Final = 5
"""Cells of a name; a sixth separates it from the target."""
TARGET_COLUMN: Final = 10
TIME_CELLS: Final = 8
LIVE_LINES_UNFOLDED: Final = 8


def short_name(name: str, glyphs: Glyphs) -> str:
    """A tool's name as the screen shows it, in at most five cells."""
    return cut(tool_label(name), NAME_CELLS, glyphs.more)


def status_glyph(status: ToolStatus, glyphs: Glyphs) -> tuple[str, str]:
    """The glyph of a call with that status, and its role."""
    if status == "running":
        return glyphs.running, "accent"
    if status == "asks":
        return glyphs.asks, "wait"
    signs = SIGNS[status]
    return getattr(glyphs, signs.glyph), signs.role


def result_words(block: ToolBlock, glyphs: Glyphs) -> list[tuple[str, str]]:
    """The result of a call in a few words, each with its role."""
    match block.status:
        case "running":
            return [("tried read-only", "dim")] if block.is_tried else []
        case "asks":
            return [("waits for you", "wait")]
    result = block.result
    if result is None:
        return []
    if result.outcome == "stopped" and (result.is_error or not isinstance(block.shown, DiffDisplay)):
        return [("stopped by you" if result.summary in ("", "stopped") else clean(result.summary), "soft")]
    parts = outcome_parts(result, block.shown, glyphs.minus)
    return parts if len(parts) > 1 else _listed(*parts, (place_words(result), "dim"))


def _listed(*words: tuple[str, str]) -> list[tuple[str, str]]:
    """The words that aren't empty, with commas between them."""
    said = [each for each in words if each[0]]
    return [(f", {text}" if place else text, role) for place, (text, role) in enumerate(said)]


def draw_tool(block: ToolBlock, context: BlockContext) -> Sequence[Line]:
    rows = [_row(block, context), *(_remark(words, context.look) for words in remarks(block))]
    if block.status == "running" or (block.status == "asks" and block.tail):
        shown = LIVE_LINES_UNFOLDED if context.unfolded else TAIL_LINES
        return [*rows, *_tail(block, context.look, shown)]
    if context.unfolded and block.result is not None:
        look = context.look
        display = block.display or TextDisplay(text=block.result.text)
        gutter = look.gutter()
        drawn = render_display(display, look.wide, look.styles, look.glyphs)
        return joined(*map(one_row, rows), drawn.mapped(lambda line: line.behind(gutter)))
    return _with_excerpt(rows, block, context) if context.excerpt else rows


def excerpt_rows(block: ToolBlock, rows: int) -> int:
    """About how many of a display's `rows` are in its excerpt."""
    if isinstance(block.shown, DiffDisplay):
        return min(rows, MOST_DIFF_ROWS)
    if block.name == OWN_COMMAND:
        return rows
    return min(rows, TAIL_LINES if block.tail else MOST_OUTPUT_ROWS)


def _with_excerpt(rows: list[Line], block: ToolBlock, context: BlockContext) -> Sequence[Line]:
    """The rows of a call, followed by the part of its display that needs attention."""
    look = context.look
    gutter = look.gutter()
    match block.display:
        case DiffDisplay() as display:
            drawn = diff_excerpt(display, MOST_DIFF_ROWS, look.wide, look.styles, look.glyphs)
        case CommandDisplay() as display if block.name == OWN_COMMAND:
            whole = draw_output(display.output, look.wide, look.styles)
            return joined(*map(one_row, rows), whole.mapped(lambda line: line.behind(gutter)))
        case CommandDisplay() if block.tail:
            return [*rows, *_tail(block, look, TAIL_LINES)]
        case CommandDisplay() as display:
            drawn = output_excerpt(display.output, MOST_OUTPUT_ROWS, look.wide, look.styles, look.glyphs)
        case None if block.result is not None:
            reason = block.result.text.removeprefix("Error: ")
            drawn = output_excerpt(reason, MOST_OUTPUT_ROWS, look.wide, look.styles, look.glyphs)
        case _:
            drawn = []
    return [*rows, *(line.behind(gutter) for line in drawn)]


def _row(block: ToolBlock, context: BlockContext) -> Line:
    look, glyphs, styles = context.look, context.look.glyphs, context.look.styles
    glyph, role = status_glyph(block.status, glyphs)
    if block.status == "running":
        glyph = context.running_glyph
    name = short_name(block.name, glyphs)
    left = [
        *look.gutter(glyph, role),
        Segment(name.ljust(TARGET_COLUMN - TEXT_EDGE), styles("soft")),
    ]
    right = _right(block, context)
    room = look.row - 3 - TARGET_COLUMN - cells_of(right) - 3
    target = cut_target(block.name, clean(block.target), max(room, 8), glyphs.more)
    left.append(Segment(target, styles("text")))
    blanks = max(look.row - 3 - cells_of(left) - cells_of(right), 1)
    row = Line((*left, Segment(" " * blanks), *right), skip=TEXT_EDGE)
    return context.fold_mark(row) if block.status != "asks" else row


def _right(block: ToolBlock, context: BlockContext) -> list[Segment]:
    """Result and time, ending one space before the fold mark."""
    styles = context.look.styles
    time = call_time(block, context.now)
    room = max(context.look.row // 3, 12)
    words = [
        Segment(cut(text, room, context.look.glyphs.more), styles(role))
        for text, role in _words_of(block, context)
    ]
    role = styles("accent", bold=True) if block.status == "running" else styles("dim")
    return [*words, Segment(time.rjust(TIME_CELLS), role), Segment(" ")]


def _words_of(block: ToolBlock, context: BlockContext) -> list[tuple[str, str]]:
    """The result in a few words; above the last lines of a command, how many lines aren't shown."""
    if not (context.excerpt and block.tail and block.result):
        return result_words(block, context.look.glyphs)
    above = block.lines - block.tail.count("\n") - 1
    words = f"{counted(above, 'line')} above" if above > 0 else ""
    return _listed((words, "dim"), (place_words(block.result), "dim"))


def call_time(block: ToolBlock, now: float) -> str:
    """How long a call took, or has been running; "" if it never ran, or nobody knows."""
    if block.status == "running":
        return duration(now - block.started_at, running=True)
    is_known = block.seconds and block.status in ("done", "failed", "stopped")
    return duration(block.seconds) if is_known else ""


def contact_words(contacts: Sequence[HostContacted]) -> str:
    """The hosts that a command reached or was refused, in one row; "" for none."""
    reached = dict.fromkeys(clean(each.host) for each in contacts if not each.problem)
    refused = dict.fromkeys(clean(each.host) for each in contacts if each.problem)
    parts = (("network: ", reached), ("not reached: ", refused))
    return "; ".join(words + ", ".join(hosts) for words, hosts in parts if hosts)


def remarks(block: ToolBlock) -> list[str]:
    """Returns the remarks below a call, one for each row: the hosts that its command reached, the files that
    it changed."""
    changed = changed_words(block.shown) if isinstance(block.shown, CommandDisplay) else ""
    return [words for words in (contact_words(block.contacts), changed) if words]


def _remark(words: str, look: RenderStyle) -> Line:
    return Line((Segment(cut(words, look.wide, look.glyphs.more), look.styles("dim")),)).behind(look.gutter())


def _tail(block: ToolBlock, look: RenderStyle, shown: int) -> Iterator[Line]:
    """The newest output of a running call, or the last lines of a command that ended well."""
    rows = [row for row in safe_code(block.tail).split("\n") if row.strip()]
    mark = (*look.gutter(), Segment(look.glyphs.live + " ", look.styles("dim")))
    for row in rows[-shown:]:
        text = cut(row.rstrip(), look.wide - 2, look.glyphs.more)
        yield Line((Segment(text, look.styles("soft")),)).behind(mark)
