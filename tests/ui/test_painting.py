"""What is painted after changes is what a screen painted anew would show."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from keen_tui.events import ReasoningDelta, TextDelta, TurnStarted
from tests.support.painted import all_painted, paint_anew, painted_workspace
from tests.support.workspace import Driver

Deed = Callable[[Driver], Awaitable[None]]

TEXT = (
    "Some words with **bold** in them, and `code`, so that a row has parts.\n\n- a point\n- another one\n\n"
)


def started() -> TurnStarted:
    return TurnStarted(turn=1, attempt=1, text="hello")


def delta(text: str) -> TextDelta:
    return TextDelta(turn=1, step=1, text=text)


async def words_that_stream_in(driver: Driver) -> None:
    await driver.play(started())
    for start in range(0, 40 * len(TEXT), 50):
        await driver.play(delta((TEXT * 40)[start : start + 50]))


async def words_that_stay_in_their_row(driver: Driver) -> None:
    await driver.play(started())
    for _ in range(5):
        await driver.play(delta("word "))


async def a_draft_of_several_rows(driver: Driver) -> None:
    await driver.type("x" * 200)
    await driver.press("shift+enter", "backspace", "y", "ctrl+j", "z")


async def scrolling_while_words_stream_in(driver: Driver) -> None:
    await words_that_stream_in(driver)
    driver.screen.transcript.action_page_up()
    await driver.play(delta("more words\n\n" * 3))
    driver.screen.transcript.action_scroll_up()
    await driver.pilot.pause()


async def the_block_cursor(driver: Driver) -> None:
    await words_that_stream_in(driver)
    driver.screen.transcript.focus()
    await driver.press("up", "up")


async def panels_that_come_and_go(driver: Driver) -> None:
    await driver.play(started(), ReasoningDelta(turn=1, step=1, text="Well.", seconds=1.0))
    await driver.press("ctrl+b")
    await driver.play(delta("word " * 50))
    await driver.press("ctrl+b")


async def another_theme(driver: Driver) -> None:
    await driver.play(started(), delta(TEXT))
    driver.app.theme = "keen-light"
    await driver.pilot.pause()
    await driver.play(delta(TEXT))


DEEDS = (
    words_that_stream_in,
    words_that_stay_in_their_row,
    a_draft_of_several_rows,
    scrolling_while_words_stream_in,
    the_block_cursor,
    panels_that_come_and_go,
    another_theme,
)


@pytest.mark.parametrize("deed", DEEDS, ids=lambda deed: deed.__name__)
@pytest.mark.parametrize("size", [(120, 36), (80, 24)], ids=str)
async def test_what_is_painted_piece_by_piece_is_the_whole_screen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, size: tuple[int, int], deed: Deed
) -> None:
    monkeypatch.setenv("COLORTERM", "truecolor")
    async with painted_workspace(tmp_path, size) as (driver, terminal):
        await deed(driver)
        await all_painted(driver)
        seen = terminal.rows()
        await paint_anew(driver, terminal)
        assert seen == terminal.rows()
