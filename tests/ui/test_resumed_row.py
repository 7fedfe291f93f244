"""After a session was resumed, one row says how large its next request is, beside the whole history."""

from __future__ import annotations

from pathlib import Path

import pytest

from keen_tui.domain.events import Event, SessionOpened, SessionRestored
from keen_tui.domain.reports import NextSizes
from tests.support import story
from tests.support.workspace import Driver, workspace

PAST: tuple[Event, ...] = (story.started(1, "go"), *story.edit(1, "a"), story.done(1))


async def resume(driver: Driver, *past: Event) -> None:
    await driver.play(SessionOpened(id="s4", restoring=True), *past, SessionRestored())


@pytest.mark.parametrize(
    ("is_summarised", "whole"), [(False, "the whole history"), (True, "all calls since the summary")]
)
async def test_it_is_said_after_the_newest_reply_is_shown(
    tmp_path: Path, *, is_summarised: bool, whole: str
) -> None:
    async with workspace(tmp_path) as driver:
        driver.session.sizes = NextSizes(next_bytes=4_000, whole_bytes=310_000, is_summarised=is_summarised)
        await resume(driver, *PAST)
        await driver.until_shown("turn 1 done")
        await driver.until_shown(f"Next request 4.0 kB; {whole} would be 310 kB.")


async def test_nothing_is_said_where_there_is_nothing_to_compare_or_a_turn_runs(tmp_path: Path) -> None:
    async with workspace(tmp_path) as driver:
        driver.session.sizes = NextSizes(next_bytes=4_000, whole_bytes=4_000)
        await resume(driver, *PAST)
        await driver.until_shown("turn 1 done")
        await driver.pilot.pause(0.5)
        assert not driver.shows("Next request")
        driver.session.sizes = NextSizes(next_bytes=4_000, whole_bytes=310_000)
        driver.session.running = True
        await driver.play(SessionOpened(id="s5", restoring=True), *PAST, SessionRestored())
        await driver.pilot.pause(0.5)
        assert not driver.shows("Next request")
