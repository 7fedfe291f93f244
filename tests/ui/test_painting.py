"""What is painted piece by piece is what a screen painted anew shows."""

from __future__ import annotations

import asyncio
import gc
import random
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
from textual.events import Resize
from textual.geometry import Size
from textual.strip import Strip

from keen_tui.domain.events import ReasoningDelta, TextDelta, TurnStarted
from keen_tui.frontends.tui.state.reducer import apply
from keen_tui.frontends.tui.transcript.painting import STRIPS_KEPT
from keen_tui.frontends.tui.transcript.widget import Transcript
from tests.support.painted import Painted, painted_workspace
from tests.support.waiting import LIMIT

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


async def panels_that_stay(workspace: Painted) -> None:
    await words_that_stream_in(workspace)
    await workspace.press("ctrl+b")


async def test_painted_rows_leave_nothing_to_the_garbage_collector(tmp_path: Path) -> None:
    async with painted_workspace(tmp_path, (120, 36)) as workspace:
        await words_that_stream_in(workspace)
        gc.collect()
        gc.set_debug(gc.DEBUG_SAVEALL)
        try:
            await workspace.play(*[delta("more words\n\n" * 12)] * (2 * STRIPS_KEPT // 24))
            gc.collect()
            rows = [each for each in gc.garbage if isinstance(each, Strip)]
        finally:
            gc.set_debug(0)
            gc.garbage.clear()
        assert rows == []


async def test_every_cell_is_painted_however_the_size_changes(tmp_path: Path) -> None:
    chance = random.Random(7)
    async with painted_workspace(tmp_path, (120, 36)) as workspace:
        app = workspace.screen.app
        await words_that_stream_in(workspace)
        for number in range(120):
            size = Size(chance.randrange(20, 200), chance.randrange(5, 60))
            app.post_message(Resize(size, size))
            if number % 3 == 0:
                workspace.screen.show(apply(workspace.screen.state, delta("more words\n\n"), 0.0))
            await asyncio.sleep(chance.choice([0, 0, 0.005, 0.02]))
        await asyncio.wait_for(workspace.painted(), LIMIT)


async def test_the_transcript_is_not_drawn_for_a_width_that_it_does_not_know_yet(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    widths: list[tuple[int, int]] = []
    strips = Transcript.strips

    def watched(transcript: Transcript) -> list[Strip]:
        widths.append((transcript.document.look.width, transcript.scrollable_content_region.width))
        return strips(transcript)

    async with painted_workspace(tmp_path, (120, 36)) as workspace:
        await words_that_stream_in(workspace)
        await asyncio.wait_for(workspace.painted(), LIMIT)
        monkeypatch.setattr(Transcript, "strips", watched)
        for _ in range(4):
            await workspace.press("ctrl+b")
            await asyncio.wait_for(workspace.painted(), LIMIT)
    assert len(set(widths)) > 1
    assert all(drawn == wanted for drawn, wanted in widths)


DEEDS = (
    words_that_stream_in,
    words_that_stay_in_their_row,
    a_draft_of_several_rows,
    scrolling_while_words_stream_in,
    the_block_cursor,
    panels_that_come_and_go,
    panels_that_stay,
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
