"""Commands that the user runs from the composer."""

from __future__ import annotations

from pathlib import Path

from keen_tui.domain.display import CommandDisplay
from keen_tui.domain.events import (
    MessageTakenBack,
    ShellFinished,
    ShellStarted,
    ToolOutput,
    TurnError,
    TurnStarted,
)
from keen_tui.domain.messages import ToolResult
from keen_tui.frontends.tui.state.reducer import apply_all
from keen_tui.frontends.tui.state.state import EndBlock, ToolBlock, UiState, UserBlock
from tests.support import story
from tests.support.workspace import workspace

STARTED = ShellStarted(turn=0, id="s1", command="make test")
FAILED = ShellFinished(
    turn=0,
    id="s1",
    command="make test",
    result=ToolResult(
        text="2 failed\n[exit code 2]",
        summary="exit 2",
        exit_code=2,
        display=CommandDisplay(command="make test", output="2 failed", exit_code=2),
    ),
    seconds=1.2,
)


async def test_a_message_with_a_bang_is_run_and_not_sent(tmp_path: Path) -> None:
    async with workspace(tmp_path) as driver:
        await driver.type("!make test")
        await driver.until_shown("run in your shell")
        assert driver.shows("$ !make test")
        await driver.press("enter")
        await driver.until(lambda: ("run_own", "make test") in driver.session.calls)
        assert driver.written == ""
        assert not driver.shows("run in your shell")
        await driver.press("up")
        assert driver.written == "!make test"
        await driver.press("home", "space", "enter")
        await driver.until(lambda: ("submit", " !make test") in driver.session.calls)


async def test_the_key_that_hands_a_message_in_runs_it_too(tmp_path: Path) -> None:
    async with workspace(tmp_path) as driver:
        await driver.type("!ls")
        driver.screen.run("steer")
        await driver.until(lambda: ("run_own", "ls") in driver.session.calls)


async def test_its_output_comes_live_and_stays_unfolded(tmp_path: Path) -> None:
    async with workspace(tmp_path) as driver:
        output = ToolOutput(turn=0, id="s1", text="collecting\n", lines=1, bytes=11)
        await driver.play(STARTED, output)
        assert driver.shows("shell make test")
        assert driver.shows("collecting")
        assert driver.shows("esc stop")
        await driver.play(FAILED)
        assert driver.shows("exit 2")
        assert driver.shows("2 failed")
        await driver.press("ctrl+o", "ctrl+o")
        await driver.until(lambda: not driver.shows("2 failed"))


async def test_one_that_is_refused_comes_back(tmp_path: Path) -> None:
    async with workspace(tmp_path) as driver:
        driver.session.refusal = "A turn is running: stop it first, then run a command."
        await driver.type("!ls")
        await driver.press("enter")
        await driver.until_shown("A turn is running: stop it first")
        assert driver.written == "!ls"


async def test_the_sign_alone_runs_nothing(tmp_path: Path) -> None:
    async with workspace(tmp_path) as driver:
        await driver.type("!")
        await driver.press("enter")
        await driver.until_shown("Write a command after the !")
        assert driver.written == "!"


def test_it_stands_before_an_end_that_waits_and_stays_when_that_message_is_taken_back() -> None:
    error = TurnError(turn=1, attempt=1, reason="auth", detail="no", seconds=1.0)
    started, finished = (
        ShellStarted(turn=1, id="s1", command="ls"),
        ShellFinished(turn=1, id="s1", command="ls", result=ToolResult(text="a"), seconds=0.1),
    )
    state = apply_all(UiState(), [story.started(1, "hi"), error, started, finished], 1.0)
    assert [type(block) for block in state.live] == [UserBlock, ToolBlock, EndBlock]
    assert state.phase == "idle"
    taken = apply_all(state, [MessageTakenBack(turn=1, text="hi")], 1.0)
    assert [type(block) for block in (*taken.past, *taken.live)] == [ToolBlock]
    again = apply_all(taken, [TurnStarted(turn=1, attempt=1, text="there")], 1.0)
    assert [type(block) for block in (*again.past, *again.live)] == [ToolBlock, UserBlock]
