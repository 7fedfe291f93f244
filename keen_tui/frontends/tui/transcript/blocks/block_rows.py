"""Draws every kind of block as rows, and answers what the transcript asks about a block without drawing
it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Final, assert_never

from rich.segment import Segment

from keen_tui.domain.display import (
    AgentDisplay,
    CommandDisplay,
    DiffDisplay,
    FileDisplay,
    FileListDisplay,
    PageDisplay,
    TextDisplay,
    TodoDisplay,
)
from keen_tui.domain.events import TurnDone
from keen_tui.frontends.tui.markdown.stream import MarkdownStream, render_markdown
from keen_tui.frontends.tui.rows.lines import Line, sliced, wrap
from keen_tui.frontends.tui.rows.render_style import TEXT_EDGE, RenderStyle
from keen_tui.frontends.tui.state.displays import PackedDisplay, rows_of
from keen_tui.frontends.tui.state.state import (
    Block,
    CompactionBlock,
    EndBlock,
    NoticeBlock,
    ReasoningBlock,
    RetryBlock,
    TextBlock,
    ToolBlock,
    UserBlock,
)
from keen_tui.frontends.tui.transcript.blocks.block_context import BlockContext
from keen_tui.frontends.tui.transcript.blocks.compaction import draw_compaction
from keen_tui.frontends.tui.transcript.blocks.endings import draw_end, draw_retry
from keen_tui.frontends.tui.transcript.blocks.excerpt import extent_of, wrap_prose
from keen_tui.frontends.tui.transcript.blocks.folding import FoldState, fold_key
from keen_tui.frontends.tui.transcript.blocks.tool_rows import draw_tool, excerpt_rows, remarks
from keen_tui.frontends.tui.transcript.blocks.user_rows import FOLDED_ROWS, draw_user
from keen_tui.text.markdown import every, parse
from keen_tui.text.sanitize import clean
from keen_tui.text.units import duration

_LEFT_OUT: Final = re.compile(r"^\[… .+ left out", re.MULTILINE)
"""The line that replaces the middle of a command's long output."""

NOT_CARRIED: Final = "cut here: these words are not carried over"


def draw_block(block: Block, context: BlockContext, stream: MarkdownStream | None = None) -> Sequence[Line]:
    """The rows of `block`. `stream` has the parsed text of a text block, if that is kept."""
    match block:
        case UserBlock():
            return draw_user(block, context)
        case TextBlock():
            return _draw_text(block, context, stream)
        case ReasoningBlock():
            return _draw_reasoning(block, context)
        case ToolBlock():
            return draw_tool(block, context)
        case RetryBlock():
            return draw_retry(block, context)
        case NoticeBlock():
            return _prose(block.text, context, "soft")
        case CompactionBlock():
            return draw_compaction(block, context)
        case EndBlock():
            return draw_end(block, context)
        case _:
            assert_never(block)


def block_name(block: Block) -> tuple[object, ...]:
    """A name for a block that stays the same when the block changes. Only few blocks of a turn may share a
    name."""
    match block:
        case RetryBlock():
            return ("retry", block.retry.turn)
        case ToolBlock():
            return ("tool", block.turn, block.id)
        case TextBlock() | ReasoningBlock():
            return (type(block), block.turn, block.step)
    return (type(block), block.turn)


def gap_before(before: Block | None, block: Block, *, before_unfolded: bool) -> int:
    """The number of empty rows between two blocks. `before_unfolded`: the first block shows more than its
    row."""
    if before is None:
        return 0
    if isinstance(before, ToolBlock) and isinstance(block, ToolBlock):
        return 1 if before_unfolded else 0
    led_to_text = isinstance(before, ReasoningBlock) and isinstance(block, TextBlock)
    return 0 if led_to_text and not before_unfolded else 1


def ticks(block: Block, *, last: bool) -> bool:
    """True for a block that shows a running clock."""
    match block:
        case ToolBlock():
            return block.status == "running"
        case ReasoningBlock():
            return block.open and last
    return isinstance(block, RetryBlock)


def differs_as_last(block: Block) -> bool:
    """Whether a block is drawn differently while no other follows it."""
    match block:
        case TextBlock() | ReasoningBlock():
            return block.open
        case EndBlock():
            return not block.settled
    return False


def source(block: Block) -> str:
    """The block's text for the clipboard: unchanged Markdown, code without line numbers; of the end of a turn
    only why it isn't done."""
    match block:
        case UserBlock() | TextBlock() | ReasoningBlock() | NoticeBlock() | CompactionBlock():
            return clean(block.text, newlines=True, tabs=True)
        case ToolBlock():
            return _tool_source(block)
        case EndBlock(end=end):
            return "" if isinstance(end, TurnDone) else clean(end.detail, newlines=True)
        case RetryBlock():
            return block.retry.detail


def is_excerpt(block: Block) -> bool:
    """Whether the tool showed only a part: it printed, found or changed more."""
    match block.display if isinstance(block, ToolBlock) else None:
        case CommandDisplay() as display:
            return _LEFT_OUT.search(display.output) is not None
        case FileListDisplay() as display:
            return display.more > 0
        case DiffDisplay() as display:
            return display.left_out > 0
    return False


def extent(block: Block, view: FoldState) -> tuple[int, int]:
    """The basis for estimating the height of a block until it is first visible: the rows that it has at any
    width, and the characters that may break into more."""
    match block:
        case TextBlock():
            return block.text.count("\n") + 1, len(block.text)
        case UserBlock():
            is_folded = view != "unfolded" and fold_key(block) is not None
            lines, characters = (FOLDED_ROWS, 0) if is_folded else extent_of(block.text)
            return lines + len(block.images), characters
        case NoticeBlock():
            return extent_of(block.text)
        case ReasoningBlock() | CompactionBlock() if view == "unfolded":
            lines, characters = extent_of(block.text)
            return lines + 1, characters
        case ToolBlock() if view != "folded" and block.result is not None:
            rows = _display_rows(block)
            return 1 + len(remarks(block)) + (rows if view == "unfolded" else excerpt_rows(block, rows)), 0
        case ToolBlock():
            return 1 + len(remarks(block)), 0
    return 1, 0


def code_of(block: Block) -> list[str]:
    """The pieces of code in a block: those in a reply, or the whole text of any other block."""
    if not isinstance(block, TextBlock):
        text = source(block)
        return [text] if text else []
    return [part.text.removesuffix("\n") for part in every(parse(source(block))) if part.kind == "code"]


def _draw_text(block: TextBlock, context: BlockContext, stream: MarkdownStream | None) -> Sequence[Line]:
    look = context.look
    lines = stream.lines(look) if stream is not None else render_markdown(block.text, look)
    if block.lost:
        return [*_behind_lost_mark(lines, context), *_cut_here(context)] if lines else []
    if block.open and context.last and lines:
        return lines.with_last(_with_caret(lines[-1], look))
    return lines


def _with_caret(line: Line, look: RenderStyle) -> Line:
    """The row with the streaming caret after its text; on code the caret replaces a space."""
    length = len(line.text.rstrip())
    on_code = length < len(line.text)
    caret = Segment(look.glyphs.caret, look.styles("accent", on="panel" if on_code else None))
    before, after = sliced(line.segments, 0, length), sliced(line.segments, length + 1, len(line.text))
    return line._replace(segments=(*before, caret, *after), trim=max(len(line.text) - length, 1))


def _draw_reasoning(block: ReasoningBlock, context: BlockContext) -> list[Line]:
    look = context.look
    thinking = block.open and context.last
    words = f"thinking for {duration(block.seconds, running=True)}" if thinking else ""
    lost = ("not carried over", "dim") if block.lost else ("", "dim")
    lines = context.facts(
        look.glyphs.more, "dim", (words or f"thought for {duration(block.seconds)}", "dim"), lost
    )
    if not block.text.strip():
        return lines
    lines[0] = context.fold_mark(lines[0])
    return [*lines, *_prose(block.text, context, "dim")] if context.unfolded else lines


def _prose(text: str, context: BlockContext, role: str) -> list[Line]:
    look = context.look
    gutter = look.gutter()
    return [line.behind(gutter) for line in wrap_prose(text.strip(), look.styles(role), look)]


def _behind_lost_mark(lines: Iterable[Line], context: BlockContext) -> list[Line]:
    """Text that was cut off: dim and italic, after a dotted line."""
    style = context.look.styles("dim", italic=True)
    mark = context.look.gutter(context.look.glyphs.live, "dim")
    return [
        Line(
            (*mark, Segment(line.text[TEXT_EDGE:].rstrip(), style)),
            joint=line.joint,
            skip=max(line.skip, TEXT_EDGE),
        )
        for line in lines
    ]


def _cut_here(context: BlockContext) -> list[Line]:
    mark = context.look.gutter(context.look.glyphs.live, "dim")
    return [
        line.behind(mark)
        for line in wrap([Segment(NOT_CARRIED, context.look.styles("soft"))], context.look.prose)
    ]


def _tool_source(block: ToolBlock) -> str:
    match block.display:
        case CommandDisplay() as display:
            changed = (f"\n{file.change} {file.path}" for file in display.changed)
            return f"$ {display.command}\n{display.output}".rstrip("\n") + "".join(changed)
        case FileDisplay() | TextDisplay() | PageDisplay() | AgentDisplay() as display:
            return display.text
        case FileListDisplay() as display:
            return "\n".join(display.lines)
        case TodoDisplay() as display:
            return display.as_text
        case DiffDisplay() as display:
            return "\n".join(f"{row.sign}{row.text}" for hunk in display.hunks for row in hunk)
    return block.result.text if block.result is not None else block.tail or block.target


def _display_rows(block: ToolBlock) -> int:
    match block.shown:
        case PackedDisplay() as kept:
            return kept.rows
        case None:
            return 1 + (block.result.text.count("\n") if block.result is not None else 0)
    return rows_of(block.shown)
