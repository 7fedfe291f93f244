"""Notices leave the screen when what they say no longer holds."""

from __future__ import annotations

from pathlib import Path

from keen_tui.domain.events import Notice, NoticeOver, RunBegun, SessionOpened, SessionRestored
from keen_tui.domain.reports import NextSizes
from keen_tui.domain.runs import RunLimits
from tests.support import story
from tests.support.workspace import workspace

FULL = "The session can't be saved (No space left on device)."


async def test_above_the_composer_only_the_sentence_that_is_over_goes(tmp_path: Path) -> None:
    here, again = "Another Keen is working in this folder.", "The session is saved again."
    async with workspace(tmp_path) as driver:
        said = driver.screen.said
        for text in (here, FULL):
            driver.session.publish(Notice(turn=0, text=text))
        await driver.until(lambda: FULL in said.text)
        said.say(f"{here} {FULL}")  # both, however fast they came
        driver.session.publish(NoticeOver(text=FULL))
        driver.session.publish(Notice(turn=0, text=again))
        await driver.until(lambda: said.text == f"{here} {again}")
        driver.session.publish(Notice(turn=0, text=FULL))
        await driver.until(lambda: said.text == f"{here} {again} {FULL}")


async def test_in_a_running_turn_it_goes_and_a_finished_turn_keeps_it(tmp_path: Path) -> None:
    waits = "The MCP server docs isn't ready yet."
    async with workspace(tmp_path) as driver:
        driver.session.running = True
        await driver.play(story.started(1, "go"), Notice(turn=1, text=waits))
        await driver.until_shown(waits)
        await driver.play(NoticeOver(text=waits))
        await driver.until(lambda: not driver.shows(waits))
        await driver.play(Notice(turn=1, text=waits), story.done(1), story.started(2, "and now?"))
        await driver.play(NoticeOver(text=waits))
        await driver.until_shown("and now?")
        assert driver.shows(waits)


async def test_what_is_said_of_a_resumed_session_goes_when_its_next_turn_begins(tmp_path: Path) -> None:
    past = (RunBegun(check="make test", limits=RunLimits()), story.started(1, "go"), story.done(1))
    async with workspace(tmp_path) as driver:
        driver.session.sizes = NextSizes(next_bytes=4_000, whole_bytes=310_000)
        await driver.play(SessionOpened(id="s4", restoring=True), *past, SessionRestored())
        await driver.until_shown("isn't finished; /until continues it.")
        await driver.until(lambda: "Next request" in driver.screen.said.text)
        driver.session.running = True
        await driver.play(story.started(2, "go on"))
        await driver.until(lambda: not driver.screen.said.text)
