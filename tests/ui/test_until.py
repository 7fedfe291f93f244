"""`/until` on the screen: a run begins, waits, is stopped, and is gone on with after a resume."""

from __future__ import annotations

from pathlib import Path

from keen_tui.domain.events import (
    RunBegun,
    RunEnded,
    RunWaiting,
    SessionOpened,
    SessionRestored,
)
from keen_tui.domain.runs import RunLimits, RunReport
from tests.support import story
from tests.support.fake_runs import FakeRuns
from tests.support.workspace import Driver, workspace


async def send(driver: Driver, text: str) -> None:
    await driver.type(text)
    await driver.press("enter")


BEGUN = RunBegun(check="make test", limits=RunLimits(turns=9, cost=2.0))
WAITING = RunWaiting(reason="provider", detail="", began=1_000_000.0, until=1_018_000.0, is_named=True)
REPORT = RunReport(
    check="make test",
    end="stopped",
    detail="You stopped it.",
    limits=RunLimits(),
    turns=2,
    retries=(),
    checks=2,
    failed_checks=2,
    cost=0.5,
    unpriced=0,
    work_seconds=70.0,
    waited_seconds=0.0,
    files_changed=("a.py",),
    asked=(),
    is_unfinished=True,
)


async def test_the_command_begins_a_run_with_its_limits(tmp_path: Path) -> None:
    runs = FakeRuns()
    async with workspace(tmp_path, runs=runs) as driver:
        await send(driver, "/until --max-turns 9 --max-cost 2 make test")
        await driver.until(lambda: runs.calls == [("begin", "make test", RunLimits(turns=9, cost=2.0))])
        await send(driver, "/until --max-turns none make test")
        await driver.until_shown("Put limits before the command")
        assert len(runs.calls) == 1


async def test_the_status_bar_shows_the_run_and_esc_ends_it(tmp_path: Path) -> None:
    runs = FakeRuns()
    async with workspace(tmp_path, runs=runs) as driver:
        await driver.play(BEGUN)
        await driver.until_shown("Run until this check passes: make test. Limits: 9 turns, $2.00.")
        await driver.play(story.started(1, "go"))
        await driver.until_shown("run: turn 1 of 9   $0.00 of $2.00   esc stop")
        runs.is_driven = True
        await driver.play(story.incomplete(1), WAITING)
        await driver.until_shown("run continues at")
        await driver.press("escape")
        await driver.until(lambda: runs.calls == [("stop",)])
        await driver.play(RunEnded(report=REPORT))
        await driver.until_shown("The run has ended. You stopped it.")
        await driver.until_shown("Turns: 2, 0 retries")
        await driver.until(lambda: not driver.shows("run continues at"))
        await driver.until_shown("pending: 4 calls")


async def test_in_a_narrow_terminal_the_wait_comes_first(tmp_path: Path) -> None:
    async with workspace(tmp_path, size=(60, 12), runs=FakeRuns()) as driver:
        await driver.play(BEGUN, story.started(1, "go"), story.incomplete(1), WAITING)
        await driver.until_shown("run continues at")
        assert "esc stop" in driver.rows()[-1]


async def test_a_resumed_session_offers_to_go_on_with_its_run(tmp_path: Path) -> None:
    runs = FakeRuns()
    async with workspace(tmp_path, runs=runs) as driver:
        await driver.play(SessionOpened(id="s", restoring=True), BEGUN, story.started(1, "go"))
        await driver.play(story.incomplete(1), SessionRestored())
        await driver.until_shown('The run "until make test" isn\'t finished; /until continues it.')
        runs.is_left_over = True
        await send(driver, "/until")
        await driver.until(lambda: runs.calls == [("go on",)])
