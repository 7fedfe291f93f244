"""Keys at random, in every state that a person meets: none ends the program but those that leave."""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path

import pytest
from textual.binding import Binding
from textual.events import Paste
from textual.widgets import TextArea

from keen_tui.domain.events import Event
from keen_tui.frontends.shared.commands.actions import ACTIONS
from tests.fuzz.budget import LONG
from tests.support import story
from tests.support.workspace import workspace

KEYS_PRESSED = 1_000 if LONG else 150
ROUNDS = 4 if LONG else 1
LEAVE = {"ctrl+c", "ctrl+d", "ctrl+q", "super+c", "ctrl+z", "ctrl+g"}
"""What leaves the program, suspends it or hands the terminal to another one."""

EDITING = [
    key.strip()
    for binding in TextArea.BINDINGS
    if isinstance(binding, Binding)
    for key in binding.key.split(",")
]
ACTING = [key for action in ACTIONS for key in action.keys]
WRITING = [*"ab1/@! é", "space", "enter", "ctrl+j", "tab", "shift+tab", "escape", "backspace", "home", "end"]
KEYS = sorted({*EDITING, *ACTING, *WRITING, "up", "down", "pageup", "pagedown", "f1"} - LEAVE)

DONE: Sequence[Event] = (story.started(1, "go"), *story.edit(1, "a"), story.done(1))
CUT: Sequence[Event] = (story.started(1, "go"), *story.edit(1, "a"), story.incomplete(1))
RUNNING: Sequence[Event] = (story.started(1, "go"), *story.edit(1, "a"))
ASKING: Sequence[Event] = (story.started(1, "go"), story.approval(1, "a"))


@pytest.mark.parametrize("key", sorted(set(EDITING) - LEAVE))
async def test_an_editing_key_does_no_harm_whatever_is_written(tmp_path: Path, key: str) -> None:
    async with workspace(tmp_path) as driver:
        await driver.press(key)
        await driver.press("a", "ctrl+j", key)
        driver.screen.prompt.post_message(Paste("a line of a log\n" * 2_000))
        await driver.until(lambda: "[pasted" in driver.written)
        await driver.press(key, "left", key, "up", key, "ctrl+end", "ctrl+j", key)
        assert driver.app.is_running and not driver.app.failure


@pytest.mark.parametrize(
    "events", [(), DONE, CUT, RUNNING, ASKING], ids=["new", "done", "cut", "runs", "asks"]
)
@pytest.mark.parametrize("seed", range(ROUNDS))
async def test_keys_at_random_do_no_harm(tmp_path: Path, events: Sequence[Event], seed: int) -> None:
    choose = random.Random(seed)
    pressed: list[str] = []
    async with workspace(tmp_path, size=choose.choice([(120, 40), (80, 24), (50, 14)])) as driver:
        for event in events:
            await driver.play(event)
        for _ in range(KEYS_PRESSED):
            pressed.append(choose.choice(KEYS))
            await driver.press(pressed[-1])
            if not driver.app.is_running:
                break
        assert not driver.app.failure, f"{driver.app.failure!r} after {pressed[-20:]}"
