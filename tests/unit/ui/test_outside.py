"""What the terminal and the desktop are told."""

from __future__ import annotations

import pytest

from keen_tui.domain.errors import STOPPED
from keen_tui.domain.events import Event, TurnError
from keen_tui.frontends.tui.state.reducer import apply
from keen_tui.frontends.tui.state.state import UiState
from keen_tui.frontends.tui.workspace.desktop_notification import (
    BELL,
    has_title,
    news_of,
    notification,
    title_of,
)
from tests.support import story

BEGAN = UiState(session_id="s")
PLAIN = {"TERM": "xterm-256color"}


def after(*events: Event, now: float = 0.0, state: UiState = BEGAN) -> UiState:
    for event in events:
        state = apply(state, event, now)
    return state


def news(*events: Event, running: tuple[Event, ...], now: float = 60.0, least: float = 20.0) -> str:
    before = after(*running)
    return news_of(before, after(*events, now=now, state=before), now, least)


def test_the_title_says_what_the_project_is_up_to() -> None:
    running = after(story.started(1, "go"))
    assert title_of(BEGAN, "cart") == "keen: cart"
    assert title_of(running, "cart") == "keen: cart, working"
    assert title_of(after(story.incomplete(1), state=running), "cart") == "keen: cart, incomplete"
    assert title_of(after(story.done(1), state=running), "cart") == "keen: cart"


def test_a_title_cannot_drive_the_terminal() -> None:
    title = title_of(BEGAN, "a\x1b]2;b\x07c\nd\x9b1m")
    assert all(character.isprintable() for character in title)


@pytest.mark.parametrize(("term", "has"), [("xterm", True), ("linux", False), ("dumb", False)])
def test_only_terminals_with_a_title_get_one(term: str, has: bool) -> None:
    assert has_title({"TERM": term}) is has


def test_a_long_turn_that_ends_is_news_and_a_short_one_is_not() -> None:
    started = (story.started(1, "go"),)
    assert news(story.done(1, seconds=52.0), running=started).startswith("turn 1 is done   52 s")
    assert news(story.done(1, seconds=7.0), running=started) == ""
    again = (*started, story.incomplete(1), story.started(1, None, attempt=2, recovering=4))
    assert news(story.done(1, seconds=48.0), running=again) == "", "of these it took seven"
    assert news(story.incomplete(1), running=started).startswith("turn 1 is incomplete: ")
    error = TurnError(turn=1, attempt=1, reason="auth", detail="no", seconds=41.0)
    assert news(error, running=started).startswith("turn 1 failed: ")


def test_a_question_is_news_once_the_turn_has_run_for_long() -> None:
    started = (story.started(1, "go"),)
    assert news(story.approval(1, "a"), running=started) == "turn 1 waits for you: edit"
    assert news(story.approval(1, "a"), running=started, now=5.0) == ""


def test_another_session_is_no_news() -> None:
    running = after(story.started(1, "go"))
    other = UiState(session_id="other", turns=after(story.done(1, seconds=60.0), state=running).turns)
    assert news_of(running, other, 60.0, 20.0) == ""


@pytest.mark.parametrize(
    ("environ", "passes", "told"),
    [
        (PLAIN, False, BELL),
        (PLAIN | {"KITTY_WINDOW_ID": "1"}, False, "\x1b]9;keen cart: done; now\x07"),
        (PLAIN | {"VTE_VERSION": "7000"}, False, "\x1b]777;notify;keen;cart: done, now\x07"),
        ({"TERM": "foot"}, False, "\x1b]777;notify;keen;cart: done, now\x07"),
        (PLAIN | {"KITTY_WINDOW_ID": "1", "TMUX": "x"}, False, BELL),
        (
            PLAIN | {"KITTY_WINDOW_ID": "1", "TMUX": "x"},
            True,
            "\x1bPtmux;\x1b\x1b]9;keen cart: done; now\x07\x1b\\",
        ),
    ],
)
def test_each_terminal_is_told_as_it_understands(environ: dict[str, str], passes: bool, told: str) -> None:
    assert notification("cart", "done; now", environ, passes=passes) == told


def test_a_notification_cannot_drive_the_terminal() -> None:
    told = notification(
        "a\x07b", f"\x1b]52;c;x\x07{STOPPED}\x9c", PLAIN | {"KITTY_WINDOW_ID": "1"}, passes=False
    )
    assert all(character.isprintable() for character in told.removeprefix("\x1b]9;").removesuffix("\x07"))
