"""Runs at the level of the wire: what they send, wait for and end with (rule 21 of docs/turn.md)."""

from __future__ import annotations

from pathlib import Path

import pytest

from keen_tui.demo.script import Answer, Call, HttpAnswer, NoAnswer, Reply, Say
from keen_tui.domain.errors import SessionRefused
from keen_tui.domain.events import (
    RunAsked,
    RunEnded,
    RunWaited,
    RunWaiting,
    ShellFinished,
    StepRestarted,
    TurnIncomplete,
    TurnStarted,
)
from keen_tui.domain.models import ModelInfo, Price
from keen_tui.domain.runs import RetriedTurns, RunLimits
from keen_tui.text.run_words import report_lines
from tests.support.agent import QUICK_RETRIES, at_work
from tests.support.compacting import CUT
from tests.support.faults import refused
from tests.support.runs import SkippingClock, driven, run_to_end
from tests.support.saving import place
from tests.support.waiting import until, until_idle

CHECK = "echo looking; test -e ready"
DONE = Reply([Say("Done.")])


def does(command: str) -> Reply:
    return Reply([Call("bash", {"command": command})])


def lines(file: Path) -> list[str]:
    return file.read_text().splitlines() if file.exists() else []


async def test_the_output_of_the_check_goes_before_the_message_that_follows_it(tmp_path: Path) -> None:
    async with at_work([does("true"), DONE, does("touch ready"), DONE], tmp_path) as bench:
        async with driven(bench.session) as driver:
            report = await run_to_end(driver, bench.log, CHECK, "make it ready")
        assert (report.end, report.turns, report.checks, report.failed_checks) == ("passed", 2, 2, 1)
        first, answer, second = bench.messages(2)
        assert (first.text, answer.text) == ("make it ready", "Done.")
        assert "I ran this command myself" in second.text and "looking" in second.text
        assert second.text.endswith(
            "The check failed with exit code 1; its command and its output are above. Continue until it "
            "passes."
        )
        checks = bench.log.of(ShellFinished)
        assert [check.is_check for check in checks] == [True, True]
        bench.assert_valid_requests()


async def test_without_a_task_the_check_comes_first(tmp_path: Path) -> None:
    async with at_work([does("touch ready"), DONE], tmp_path) as bench, driven(bench.session) as driver:
        assert (await run_to_end(driver, bench.log, CHECK)).turns == 1
        assert (await run_to_end(driver, bench.log, CHECK)).turns == 0
        assert len(bench.server.requests) == 2


async def test_the_report_counts_the_waits_within_turns(tmp_path: Path) -> None:
    busy = refused(429, "too many requests")
    script: list[Answer] = [does("touch ready"), busy, refused(500, "oh"), DONE]
    async with (
        at_work(script, tmp_path, retries=QUICK_RETRIES) as bench,
        driven(bench.session) as driver,
    ):
        report = await run_to_end(driver, bench.log, CHECK, "go")
        assert report.retries == (RetriedTurns(reason="provider", count=2),)
        assert [event.reason for event in bench.log.of(StepRestarted)] == ["provider"] * 2
        assert report.waited_seconds == sum(event.seconds for event in bench.log.of(StepRestarted)) > 0
        assert report.cost is None and "Cost: unknown" in report_lines(report)


async def test_an_incomplete_turn_is_retried_after_the_wait_that_the_server_named(tmp_path: Path) -> None:
    """Worked case 30."""
    limit = refused(429, "limit reached, try again later", {"retry-after": "18000"})
    script: list[Answer] = [does("echo x >> log"), limit, does("touch ready"), DONE]
    clock = SkippingClock()
    async with at_work(script, tmp_path) as bench, driven(bench.session, clock=clock) as driver:
        report = await run_to_end(driver, bench.log, CHECK, "go")
        assert clock.waits == [18000.0]
        (waiting,) = bench.log.of(RunWaiting)
        assert (waiting.until - waiting.began, waiting.is_named) == (18000.0, True)
        (waited,) = bench.log.of(RunWaited)
        assert waited.seconds == report.waited_seconds == 18000.0
        assert report.retries == (RetriedTurns(reason="provider", count=1),)
        assert lines(tmp_path / "log") == ["x"], "nothing runs twice"
        assert bench.lines(2) == bench.lines(1), "the retry repeats the request that was refused"


async def test_connections_that_fail_are_tried_again_with_growing_waits(tmp_path: Path) -> None:
    script: list[Answer] = [NoAnswer("close"), NoAnswer("reset"), CUT, does("touch ready"), DONE]
    clock = SkippingClock()
    async with at_work(script, tmp_path) as bench, driven(bench.session, clock=clock) as driver:
        report = await run_to_end(driver, bench.log, CHECK, "go")
        assert report.end == "passed" and clock.waits == [10.0, 20.0, 40.0]
        assert [each.text for each in bench.log.of(TurnStarted)] == ["go", None, None, None]


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (refused(401, "invalid key"), "invalid key"),
        (refused(400, "no such parameter"), "no such parameter"),
        (refused(429, "used up", code="insufficient_quota"), "used up"),
    ],
)
async def test_what_no_wait_cures_ends_the_run(tmp_path: Path, answer: HttpAnswer, words: str) -> None:
    clock = SkippingClock()
    async with at_work([answer], tmp_path) as bench, driven(bench.session, clock=clock) as driver:
        report = await run_to_end(driver, bench.log, CHECK, "go")
        assert report.end == "failed" and words in report.detail and report.is_unfinished
        assert clock.waits == [] and len(bench.server.requests) == 1


async def test_at_the_step_limit_the_turn_goes_on(tmp_path: Path) -> None:
    script: list[Answer] = [does("echo a >> log"), does("echo b >> log"), does("touch ready"), DONE]
    async with at_work(script, tmp_path, max_steps=2) as bench, driven(bench.session) as driver:
        report = await run_to_end(driver, bench.log, CHECK, "go")
        assert report.retries == (RetriedTurns(reason="step_limit", count=1),)
        assert lines(tmp_path / "log") == ["a", "b"]


async def test_the_same_failure_three_times_ends_the_run(tmp_path: Path) -> None:
    """Worked case 31."""
    async with at_work(lambda _: DONE, tmp_path) as bench, driven(bench.session) as driver:
        report = await run_to_end(driver, bench.log, CHECK, "go")
        assert (report.end, report.turns, report.failed_checks) == ("same_failure", 3, 3)


async def test_a_turn_that_changes_a_file_counts_as_progress(tmp_path: Path) -> None:
    def write(number: int) -> Reply:
        return Reply([Call("write_file", {"path": f"{number}.py", "content": "x"})])

    script = [each for number in range(5) for each in (write(number), DONE)]
    async with at_work(script, tmp_path) as bench, driven(bench.session) as driver:
        report = await run_to_end(driver, bench.log, CHECK, "go", turns=5)
        assert (report.end, report.turns) == ("turns", 5)
        assert report.files_changed == tuple(f"{number}.py" for number in range(5))


async def test_what_nobody_can_answer_is_named_and_ends_the_run(tmp_path: Path) -> None:
    """Worked case 32."""
    script = [does("touch ready"), DONE]
    async with (
        at_work(script, tmp_path, mode="ask", attended=False) as bench,
        driven(bench.session) as driver,
    ):
        report = await run_to_end(driver, bench.log, CHECK, "go")
        assert (report.end, report.asked) == ("asked", ("bash touch ready",))
        (asked,) = bench.log.of(RunAsked)
        assert "--mode auto" in asked.advice


async def test_a_question_of_the_model_is_named_likewise(tmp_path: Path) -> None:
    choices = [{"label": "one"}, {"label": "two"}]
    script = [Reply([Call("ask_user", {"question": "Which database?", "choices": choices})]), DONE]
    async with at_work(script, tmp_path, attended=False) as bench, driven(bench.session) as driver:
        report = await run_to_end(driver, bench.log, CHECK, "go")
        assert (report.end, report.asked) == ("asked", ("Which database?",))


PRICED = ModelInfo(
    provider="p", id="scripted", api="openai-chat", price=Price(input=1000.0, output=1000.0)
)  # 0.12 dollars for each reply of the scripted server


async def test_a_limit_of_cost_stops_the_turn_between_two_steps(tmp_path: Path) -> None:
    script = lambda _: does("echo x >> log")  # noqa: E731
    async with at_work(script, tmp_path, info=PRICED) as bench, driven(bench.session) as driver:
        report = await run_to_end(driver, bench.log, CHECK, "go", cost=0.5)
        assert report.end == "cost" and report.cost and 0.5 <= report.cost < 0.9
        (end,) = bench.log.of(TurnIncomplete)
        assert end.detail == "The run reached its limit of $0.5."
        assert len(lines(tmp_path / "log")) < 9


async def test_a_limit_of_cost_without_a_price_is_refused(tmp_path: Path) -> None:
    async with at_work([], tmp_path) as bench, driven(bench.session) as driver:
        with pytest.raises(SessionRefused, match="it doesn't know the price of scripted"):
            driver.begin(CHECK, RunLimits(cost=1.0), "go")


async def test_a_stop_by_the_user_ends_the_run_whatever_runs(tmp_path: Path) -> None:
    script: list[Answer] = [NoAnswer("stall"), DONE, DONE]
    async with at_work(script, tmp_path) as bench, driven(bench.session) as driver:
        driver.begin(CHECK, RunLimits(), "go")
        await bench.server.wait_for_requests(1)
        assert driver.stop()
        assert (await bench.log.wait_for(RunEnded, 1)).report.end == "stopped"
        bench.session.discard()
        driver.begin("echo begun >> log; sleep 60", RunLimits(), "go")
        await until(lambda: lines(tmp_path / "log"))
        bench.session.stop()
        assert (await bench.log.wait_for(RunEnded, 2)).report.end == "stopped"
        assert not driver.stop(), "none is on"


async def test_a_stop_right_after_the_beginning_is_kept(tmp_path: Path) -> None:
    async with at_work([], tmp_path) as bench, driven(bench.session) as driver:
        driver.begin(CHECK, RunLimits(), "go")
        assert driver.stop()
        assert (await bench.log.wait_for(RunEnded)).report.end == "stopped"
        await until_idle(bench.session)
        assert bench.server.requests == [] and not driver.is_driven


async def test_a_run_that_is_left_as_it_begins_is_not_driven(tmp_path: Path) -> None:
    async with at_work([], tmp_path) as bench, driven(bench.session) as driver:
        driver.begin(CHECK, RunLimits(), "go")
        driver.leave()
        await driver.caught_up()
        await until_idle(bench.session)
        assert driver.is_left_over and bench.server.requests == []


async def test_a_stop_during_a_wait_ends_the_run(tmp_path: Path) -> None:
    clock = SkippingClock()
    clock.released.clear()
    async with at_work([NoAnswer("close")], tmp_path) as bench, driven(bench.session, clock=clock) as driver:
        driver.begin(CHECK, RunLimits(), "go")
        await bench.log.wait_for(RunWaiting)
        await until(lambda: clock.waits)
        clock.time += 4.0
        assert driver.stop()
        report = (await bench.log.wait_for(RunEnded)).report
        assert (report.end, report.waited_seconds, report.is_unfinished) == ("stopped", 4.0, True)


async def test_a_message_of_the_user_goes_first_and_the_run_goes_on(tmp_path: Path) -> None:
    """Worked case 33."""
    clock = SkippingClock()
    clock.released.clear()
    script: list[Answer] = [does("echo x >> log"), CUT, does("touch ready"), DONE]
    async with at_work(script, tmp_path) as bench, driven(bench.session, clock=clock) as driver:
        driver.begin(CHECK, RunLimits(), "go")
        await bench.log.wait_for(RunWaiting)
        await until(lambda: clock.waits)
        clock.time += 3.0
        bench.session.submit("use touch")
        report = (await bench.log.wait_for(RunEnded)).report
        assert (report.end, report.turns, report.waited_seconds) == ("passed", 2, 3.0)
        assert lines(tmp_path / "log") == ["x"]
        assert [line for line in bench.lines(2) if line.startswith("user")] == ["user: go", "user: use touch"]


async def test_a_turn_that_runs_already_belongs_to_the_run(tmp_path: Path) -> None:
    script: list[Answer] = [does("echo x >> log"), CUT, does("touch ready"), DONE]
    async with at_work(script, tmp_path) as bench, driven(bench.session) as driver:
        bench.session.submit("go")
        report = await run_to_end(driver, bench.log, CHECK)
        assert (report.end, lines(tmp_path / "log")) == ("passed", ["x"])


async def test_another_session_leaves_the_run_to_be_continued(tmp_path: Path) -> None:
    """Worked case 34."""
    script: list[Answer] = [does("echo x >> log"), CUT, does("touch ready"), DONE]
    clock = SkippingClock()
    async with place(tmp_path, "openai-chat", script) as here:
        async with here.program(durable=False) as bench, driven(bench.session, bench, clock) as driver:
            clock.released.clear()
            driver.begin(CHECK, RunLimits(turns=7), "go")
            await bench.log.wait_for(RunWaiting)
            name = bench.history.session_id
            await bench.history.flushed()
        clock.released.set()
        async with here.program(durable=False) as bench, driven(bench.session, bench, clock) as driver:
            await bench.history.open(name)
            await driver.caught_up()
            assert driver.is_left_over and driver.progress.limits.turns == 7
            assert bench.session.pending, "a run keeps its pending state without the setting"
            driver.go_on()
            report = (await bench.log.wait_for(RunEnded)).report
            assert (report.end, report.turns) == ("passed", 1)
            assert lines(here.workspace / "log") == ["x"]
            await until_idle(bench.session)
            with pytest.raises(SessionRefused, match="no run to continue"):
                driver.go_on()
