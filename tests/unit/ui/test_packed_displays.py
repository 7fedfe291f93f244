"""Displays that the screen keeps packed: whatever it does with a call, it does as with the display itself."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from keen_tui.domain.display import (
    AgentDisplay,
    ChangedFile,
    CommandDisplay,
    Display,
    FileDisplay,
    FileListDisplay,
    PageDisplay,
    TextDisplay,
    TodoDisplay,
    TodoItem,
)
from keen_tui.domain.messages import ToolResult
from keen_tui.frontends.tui.state.displays import PackedDisplay
from keen_tui.frontends.tui.state.reducer import apply_all
from keen_tui.frontends.tui.state.state import ToolBlock, UiState
from keen_tui.frontends.tui.transcript.blocks.block_context import BlockContext
from keen_tui.frontends.tui.transcript.blocks.block_rows import draw_block, extent, is_excerpt, source
from keen_tui.frontends.tui.transcript.blocks.folding import FoldState, usual_view
from keen_tui.frontends.tui.transcript.places import links_in, named_in
from keen_tui.frontends.tui.transcript.words import count_hits
from keen_tui.text.find import Needle
from tests.support import story
from tests.support.screen import DIFF, look, tool_block

LONG = "".join(f"src/part{number}.py:{number}: see https://example.org/{number}\n" for number in range(60))
PAGE = PageDisplay(
    url="https://example.org", title="Parts", status=200, media_type="text/html", bytes=9_000, text=LONG
)
FOLDED: list[Display] = [
    TextDisplay(text=LONG),
    FileDisplay(path="src/a.py", text=LONG, first_line=7),
    FileListDisplay(lines=tuple(LONG.splitlines()), more=3),
    CommandDisplay(command="make", output=LONG, exit_code=0),
    PAGE,
    AgentDisplay(agent="explore", session="s", text=LONG, calls=3, kept_out=90_000),
]


@pytest.mark.parametrize("display", FOLDED, ids=lambda each: type(each).__name__)
def test_a_packed_display_is_handled_like_the_display_itself(display: Display) -> None:
    packed = tool_block(display=display)
    assert isinstance(packed.shown, PackedDisplay)
    assert packed.display == display
    _assert_alike(packed, replace(packed, shown=display))


def test_a_long_result_without_a_display_is_packed_as_text() -> None:
    packed = tool_block(name="recall", text=LONG)
    assert packed.display == TextDisplay(text=LONG)
    assert isinstance(packed.shown, PackedDisplay)
    assert packed.result is not None
    assert packed.result.text == ""
    _assert_alike(packed, replace(packed, shown=None, result=replace(packed.result, text=LONG)))


@pytest.mark.parametrize(
    "block",
    [
        tool_block(display=DIFF),
        tool_block(display=TodoDisplay(items=tuple(TodoItem(text=line) for line in LONG.splitlines()))),
        tool_block(display=CommandDisplay(command="make", output=LONG, exit_code=2), exit_code=2),
        tool_block(
            display=CommandDisplay(
                command="make",
                output=LONG,
                exit_code=0,
                changed=(ChangedFile(path="a", change="changed", diff=DIFF),),
            )
        ),
        tool_block(status="denied", text=LONG),
        tool_block(status="failed", text=LONG),
        tool_block(display=TextDisplay(text="short")),
    ],
)
def test_what_a_folded_call_shows_is_not_packed(block: ToolBlock) -> None:
    assert not isinstance(block.shown, PackedDisplay)


@pytest.mark.parametrize("restoring", [True, False])
def test_a_past_that_is_read_is_not_packed(restoring: bool) -> None:
    read = story.tool(1, "a", "read_file", "a.py", ToolResult(text="", display=FOLDED[1]))
    state = apply_all(UiState(restoring=restoring), [story.started(1, "go"), *read], 0.0)
    block = state.live[-1]
    assert isinstance(block, ToolBlock)
    assert isinstance(block.shown, PackedDisplay) is not restoring
    assert block.display == FOLDED[1]


def _assert_alike(packed: ToolBlock, plain: ToolBlock) -> None:
    assert usual_view(packed) == usual_view(plain)
    views: tuple[FoldState, ...] = ("folded", "unfolded")
    for view in views:
        context = BlockContext(look(), now=0.0, unfolded=view == "unfolded")
        assert _texts(packed, context) == _texts(plain, context)
        assert extent(packed, view) == extent(plain, view)
        assert count_hits(packed, Needle("part"), context) == count_hits(plain, Needle("part"), context)
    assert source(packed) == source(plain)
    assert is_excerpt(packed) == is_excerpt(plain)
    assert (named_in(packed), links_in(packed)) == (named_in(plain), links_in(plain))


def _texts(block: ToolBlock, context: BlockContext) -> list[str]:
    return [line.text for line in draw_block(block, context)]
