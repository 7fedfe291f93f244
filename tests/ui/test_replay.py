"""A saved session played again on the real screen, where nothing can be changed; so in the tour."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from textual.pilot import Pilot

from keen_tui.agent.services.playback import Playback
from keen_tui.demo.play import tour_session
from keen_tui.domain.events import Event, SessionRenamed, TextDelta
from keen_tui.frontends.shared.action import Action
from keen_tui.frontends.shared.commands.actions import ACTIONS, BY_ID
from keen_tui.frontends.shared.port import FrontEndSetup, Guided, SessionControls, WatchedSession
from keen_tui.frontends.tui.app import KeenApp
from keen_tui.settings.schema import Settings
from keen_tui.storage.reading import SessionFile
from tests.support import story
from tests.support.recording import recording
from tests.support.waiting import until
from tests.support.workspace import Driver

NEARLY_STILL = 1e-6
REFUSED = "This is a replay; you can't change anything in it."
LONG_TEXT = "one two three four five six seven eight nine ten eleven twelve"
ON_SCREEN = [action for action in ACTIONS if action.bound and action.where == "anywhere"]


@asynccontextmanager
async def shown(
    session: WatchedSession, *, controls: SessionControls | None = None, plays: Playback | None = None
) -> AsyncIterator[Driver]:
    """The workspace on that session, without saved sessions and without a choice of models."""

    async def play(_: Guided) -> None:
        if plays:
            await plays.play()

    setup = FrontEndSetup(session=session, controls=controls, companion=play)
    app = KeenApp(lambda: setup)
    async with app.run_test(size=(120, 40)) as pilot:
        driver = _driver(app, session, pilot)
        await driver.until(lambda: app.live)
        yield driver


def _driver(app: KeenApp, session: WatchedSession, pilot: Pilot[str | None]) -> Driver:
    return Driver(app, session, pilot)  # type: ignore[arg-type]


@asynccontextmanager
async def replay(saved: SessionFile, speed: float = 0) -> AsyncIterator[Driver]:
    """The workspace that plays the file."""
    playback = Playback(saved, Path("/home/me/shop"), speed=speed)
    async with shown(playback, plays=playback) as driver:
        yield driver


def incomplete_session() -> list[Event]:
    return [*story.three_turns(), *story.discount_turn(), *story.edit(4, "d4"), story.incomplete(4)]


async def test_at_speed_0_the_screen_shows_what_the_file_holds() -> None:
    events = [*story.three_turns(), SessionRenamed(title="Round totals")]
    async with replay(recording(events, pause=3_600.0)) as driver:
        await driver.until_shown("turn 3 done")
        assert driver.shows("Round totals")
        assert driver.shows("All 71 tests pass.")
        assert driver.shows("± src/money.py")
        assert not driver.screen.state.running


async def test_text_comes_in_pieces_and_esc_has_the_rest_at_once() -> None:
    events = [TextDelta(turn=1, step=1, text=LONG_TEXT), *story.three_turns()]
    async with replay(recording(events, pause=60.0), NEARLY_STILL) as driver:
        await driver.until_shown("one two three")
        assert not driver.shows("twelve")
        await driver.press("escape")
        await driver.until_shown("turn 3 done")


async def test_esc_between_two_turns_has_the_rest_at_once() -> None:
    async with replay(recording([story.done(1), *story.three_turns()], pause=60.0), NEARLY_STILL) as driver:
        await driver.until_shown("turn 1 done")
        assert not driver.screen.state.running
        await driver.press("escape")
        await driver.until_shown("turn 3 done")


async def test_an_unfinished_session_ends_and_does_not_run_on() -> None:
    events = [*story.discount_turn(1), *story.edit(1, "e1"), *story.running_bash(1)]
    async with replay(recording(events)) as driver:
        await driver.until_shown("± src/cart.py")
        await driver.until_shown("Turn incomplete")
        assert not driver.screen.state.running


@pytest.mark.parametrize("speed", [0, 1_000.0])
async def test_a_damaged_session_is_played_and_says_what_is_missing(speed: float) -> None:
    async with replay(recording(story.three_turns(), damage=(b"half a line",)), speed) as driver:
        await driver.until_shown("1 damaged place (11 bytes)")
        await driver.until_shown("turn 3 done")


async def test_leaving_asks_nothing_while_it_plays() -> None:
    events: list[Event] = [story.started(1, "hi"), story.done(1)]
    async with replay(recording(events, pause=60.0), NEARLY_STILL) as driver:
        await driver.until(lambda: driver.screen.state.running)
        driver.screen.run("leave")
        await driver.until(lambda: not driver.app.is_running)


SENTENCES = {
    "retry": REFUSED,
    "discard": REFUSED,
    "next_mode": REFUSED,
    "compact": REFUSED,
    "context": REFUSED,
    "models": "There is no other model to choose here.",
    "check_connection": "There is no other model to choose here.",
    "enter_key": "There is no other model to choose here.",
    "name_server": "There is no other model to choose here.",
    "sessions": "Sessions aren't saved here.",
    "new_session": "Sessions aren't saved here.",
    "fork": "Sessions aren't saved here.",
    "rename": "Sessions aren't saved here.",
    "export": "Sessions aren't saved here.",
    "diff": "Changes aren't recorded here.",
    "undo": "Changes aren't recorded here.",
    "keep_on_disk": "Sessions aren't saved here.",
}
"""What actions say that can't be done in a replay. All others change nothing but the screen."""


@pytest.mark.parametrize("words", ["", "3"])
async def test_every_action_on_a_replay_is_refused_in_a_sentence_or_changes_only_the_screen(
    words: str,
) -> None:
    async with replay(recording(incomplete_session())) as driver:
        await driver.until_shown("Turn incomplete")
        before = driver.screen.state
        for action in _harmless():
            driver.screen.say("")
            driver.screen.run(action.id, words)
            if action.id in SENTENCES:
                await driver.until_shown(SENTENCES[action.id])
            await _back(driver)
        driver.screen.prompt.clear_away()  # a command that takes no such words has come back
        driver.screen.prompt.focus()
        await driver.type("hi")
        await driver.press("enter")
        await driver.until_shown(REFUSED)
        assert driver.screen.state == before


async def test_every_action_while_a_replay_plays_is_survived() -> None:
    events = [*story.three_turns(), *story.discount_turn(), *story.running_bash()]
    async with replay(recording([story.done(1), *events], pause=60.0), NEARLY_STILL) as driver:
        await driver.until_shown("turn 1 done")
        for action in _harmless():
            if action.id != "stop":
                driver.screen.run(action.id)
                if action.id in SENTENCES:
                    await driver.until_shown(SENTENCES[action.id])
                await _back(driver)
        assert len(driver.screen.state.turns) == 0, "it still plays"
        driver.screen.run("stop")
        await driver.until_shown("Turn incomplete")


async def test_another_policy_is_refused_in_a_replay() -> None:
    async with replay(recording(story.three_turns())) as driver:
        await driver.until_shown("turn 3 done")
        for words in ("", "full-trace"):
            driver.screen.run("memory", words)
            await driver.until_shown(REFUSED)
            driver.screen.say("")


@pytest.mark.parametrize("words", ["", "3"])
async def test_every_action_in_the_tour_is_survived(words: str) -> None:
    with tour_session(Settings(), 0.0) as session:
        try:
            async with shown(session, controls=session) as driver:
                await driver.until(lambda: driver.screen.is_mounted)
                for action in _harmless():
                    driver.screen.say("")
                    driver.screen.run(action.id, words)
                    sentence = SENTENCES.get(action.id, REFUSED)
                    if sentence != REFUSED:
                        await driver.until_shown(sentence)
                    await _back(driver)
                assert driver.app.is_running
        finally:
            await session.close()


def _harmless() -> list[Action]:
    """All actions of the screen but the one that ends it."""
    return [action for action in ON_SCREEN if action.id != "leave"]


async def _back(driver: Driver) -> None:
    """Close what the action has opened."""
    await driver.pilot.pause()
    await driver.until(lambda: not _is_opening(driver))
    await until(lambda: driver.app.screen is driver.screen, moment=lambda: driver.press("escape"))
    if driver.screen.question_pane.question:
        driver.screen.close_question()


def _is_opening(driver: Driver) -> bool:
    return any(worker.group == "context" and not worker.is_finished for worker in driver.app.workers)


def test_all_actions_that_are_refused_are_known() -> None:
    assert SENTENCES.keys() <= BY_ID.keys()


async def test_a_replay_shows_the_keys_of_a_replay() -> None:
    events = incomplete_session()
    async with replay(recording([story.done(1), *events], pause=60.0), NEARLY_STILL) as driver:
        await driver.until_shown("esc play the rest")
        assert driver.shows("ctrl+d quit")
        await driver.press("escape")
        await driver.until_shown("ctrl+f find")
        await driver.until_shown("4 calls, 1 changed file, 18.2 kB")
        await driver.until_shown("This is a replay; you can't send messages")
        for key in ("ctrl+r", "ctrl+x", "play the rest", "ask "):
            assert not driver.shows(key), key
