"""The text of a block for a search: what the unfolded block shows, without drawing it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import assert_never

from msgspec.structs import replace

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
from keen_tui.frontends.tui.transcript.blocks.block_rows import draw_block
from keen_tui.frontends.tui.transcript.blocks.endings import done_facts
from keen_tui.frontends.tui.transcript.blocks.tool_rows import call_time, result_words, short_name
from keen_tui.frontends.tui.transcript.flow import Flow
from keen_tui.text.find import Needle
from keen_tui.text.labels import changed_words, page_line
from keen_tui.text.units import duration

_MARKS = re.compile(r"[*_`~]+|\]\([^)\s]*\)|\[")
"""The invisible parts of Markdown: emphasis, code marks, links."""


def count_hits(block: Block, needle: Needle, context: BlockContext) -> int:
    """How often the block contains the needle: exact for most blocks, an estimate for Markdown.

    The estimate may be too high, since the address of a link isn't visible. Stepping to the block draws it,
    and corrects the count.
    """
    if isinstance(block, TextBlock):
        return _in_markdown(block.text, needle)
    return needle.count("\n".join(_texts(block, context)))


def _in_markdown(text: str, needle: Needle) -> int:
    """Counts with and without marks: they may be part of the words, as in snake_case, or between them, as in
    **two** words."""
    written = needle.count(text)
    if len(needle.words) == 1:
        return written
    return max(written, needle.count(_MARKS.sub("", text)))


def _texts(block: Block, context: BlockContext) -> Iterator[str]:
    match block:
        case UserBlock():
            yield from (block.text, *block.images)
        case NoticeBlock() | TextBlock():
            yield block.text
        case ReasoningBlock():
            yield f"thought for {duration(block.seconds)}"
            yield block.text
        case ToolBlock():
            yield from _tool_texts(block, context)
        case EndBlock(end=TurnDone()):
            yield "   ".join(text for text, _ in done_facts(block) if text)
        case EndBlock() | CompactionBlock() | RetryBlock():
            yield Flow(draw_block(block, replace(context, unfolded=True))).text
        case _:
            assert_never(block)


def _tool_texts(block: ToolBlock, context: BlockContext) -> Iterator[str]:
    glyphs = context.look.glyphs
    name, results = short_name(block.name, glyphs), "".join(text for text, _ in result_words(block, glyphs))
    if block.result is None:
        yield f"{name} {block.target} {results}"
        return
    yield f"{name} {block.target} {results} {call_time(block, context.now)}"
    match block.display:
        case CommandDisplay() as display:
            yield display.command
            yield display.output
            yield f"exit {display.exit_code}" if display.exit_code else ""
            yield changed_words(display)
            for diff in (file.diff for file in display.changed if file.diff):
                yield from (f"{row.sign} {row.text}" for hunk in diff.hunks for row in hunk)
        case FileDisplay() as display:
            yield display.text
        case FileListDisplay() as display:
            yield from display.lines
            yield f"{display.more:,} more" if display.more else ""
        case DiffDisplay() as display:
            yield from (f"{row.sign} {row.text}" for hunk in display.hunks for row in hunk)
        case TextDisplay() | AgentDisplay() as display:
            yield display.text
        case PageDisplay() as display:
            yield display.title
            yield page_line(display)
            yield display.text
        case TodoDisplay() as display:
            yield from (item.text for item in display.items)
        case _:
            yield block.result.text
