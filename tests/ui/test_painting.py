"""What is painted piece by piece is what a screen painted anew shows."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from keen_tui.events import ReasoningDelta, TextDelta, TurnStarted
from tests.support.painted import Painted, painted_workspace

Deed = Callable[[Painted], Awaitable[None]]

TEXT = (
    "Some words with **bold** in them, and `code`, so that a row has parts.\n\n- a point\n- another one\n\n"
)
STARTED = TurnStarted(turn=1, attempt=1, text="hello")


def delta(text: str) -> TextDelta:
    return TextDelta(turn=1, step=1, text=text)


async def words_that_stream_in(workspace: Painted) -> None:
    whole = TEXT * 12
    pieces = (whole[start : start + 50] for start in range(0, len(whole), 50))
    await workspace.play(STARTED, *map(delta, pieces))


async def words_that_stay_in_their_row(workspace: Painted) -> None:
    await workspace.play(STARTED, *[delta("word ")] * 5)


async def a_draft_of_several_rows(workspace: Painted) -> None:
    await workspace.press(*"x" * 150)
    await workspace.press("ctrl+j", "y", "ctrl+j", "z", "backspace", "backspace")


async def scrolling_while_words_stream_in(workspace: Painted) -> None:
    await words_that_stream_in(workspace)
    workspace.screen.transcript.action_page_up()
    await workspace.play(delta("more words\n\n" * 3))
    workspace.screen.transcript.action_scroll_up()


async def the_block_cursor(workspace: Painted) -> None:
    await words_that_stream_in(workspace)
    workspace.screen.transcript.focus()
    await workspace.press("up", "up", "down")


async def panels_that_come_and_go(workspace: Painted) -> None:
    await workspace.play(STARTED, ReasoningDelta(turn=1, step=1, text="Well.", seconds=1.0))
    await workspace.press("ctrl+b")
    await workspace.play(delta("word " * 50))
    await workspace.press("ctrl+b")


DEEDS = (
    words_that_stream_in,
    words_that_stay_in_their_row,
    a_draft_of_several_rows,
    scrolling_while_words_stream_in,
    the_block_cursor,
    panels_that_come_and_go,
)


@pytest.mark.parametrize("deed", DEEDS, ids=lambda deed: deed.__name__)
@pytest.mark.parametrize("size", [(120, 36), (80, 24)], ids=str)
async def test_what_is_painted_piece_by_piece_is_the_whole_screen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, size: tuple[int, int], deed: Deed
) -> None:
    monkeypatch.setenv("COLORTERM", "truecolor")
    async with painted_workspace(tmp_path, size) as workspace:
        await deed(workspace)
        await workspace.painted()
        seen = workspace.terminal.cells()
        await workspace.paint_anew()
        assert seen == workspace.terminal.cells()
