"""What a run does next, as a function over its events (rule 21 of docs/turn.md)."""

from __future__ import annotations

from collections.abc import Iterable
from functools import reduce
from typing import Any, get_args

import pytest
from msgspec.structs import replace

from keen_tui.agent.until.policy import (
    FIRST_WAIT,
    LONGEST_WAIT,
    MOST_AGAIN,
    EndRun,
    RetryTurn,
    RunCheck,
    SendMessage,
    WaitFirst,
    next_step,
    reached_limit,
)
from keen_tui.agent.until.progress import NO_RUN, RunProgress, after, fingerprint, of_newest_run, report_of
from keen_tui.domain.errors import EndReason
from keen_tui.domain.events import (
    Event,
    RunAsked,
    RunBegun,
    RunContinued,
    RunEnded,
    RunWaited,
    RunWaiting,
    SessionOpened,
    ShellFinished,
    ShellStarted,
    StepRestarted,
    ToolFinished,
    TurnDone,
    TurnError,
    TurnIncomplete,
    TurnStarted,
    Usage,
)
from keen_tui.domain.facts.file_changed import FileChanged
from keen_tui.domain.messages import TokenUsage, ToolResult, TurnMemory
from keen_tui.domain.runs import RunLimits

HOUR = 3600.0


def begun(task: str = "do it", **limits: float | None) -> RunBegun:
    return RunBegun(check="make test", limits=RunLimits(**limits), task=task)  # type: ignore[arg-type]


def started(turn: int = 1, text: str | None = "do it", attempt: int = 1) -> TurnStarted:
    return TurnStarted(turn=turn, attempt=attempt, text=text)


def done(turn: int = 1, seconds: float = 1.0, *files: str) -> TurnDone:
    return TurnDone(
        turn=turn,
        attempt=1,
        reason="stop",
        text="ok",
        turn_memory=TurnMemory(files_changed=files),
        calls=1,
        seconds=seconds,
        carried_bytes=0,
        trace_bytes=0,
    )


def broken(
    reason: EndReason = "network",
    *,
    calls: int = 1,
    seconds: float = 1.0,
    may_pass: bool = True,
    retry_after: float | None = None,
) -> TurnIncomplete:
    return TurnIncomplete(
        turn=1,
        attempt=1,
        reason=reason,
        detail=f"It ended: {reason}.",
        text="",
        turn_memory=TurnMemory(),
        calls=calls,
        seconds=seconds,
        trace_bytes=0,
        may_pass=may_pass,
        retry_after=retry_after,
    )


def failed(reason: EndReason, *, may_pass: bool = False) -> TurnError:
    return TurnError(turn=1, attempt=1, reason=reason, detail="No.", seconds=1.0, may_pass=may_pass)


def check(code: int | None = 1, text: str = "1 failed", *, interrupted: bool = False) -> list[Event]:
    result = ToolResult(text=text, exit_code=code, interrupted=interrupted)
    return [
        ShellStarted(turn=1, id="c", command="make test", is_check=True),
        ShellFinished(turn=1, id="c", command="make test", result=result, seconds=2.0, is_check=True),
    ]


def changed() -> ToolFinished:
    result = ToolResult(text="", facts=(FileChanged(path="a.py"),))
    return ToolFinished(
        turn=1, id="w", name="write_file", arguments={}, target="a.py", result=result, seconds=0.0
    )


def usage(cost: float | None) -> Usage:
    return Usage(turn=1, step=1, tokens=TokenUsage(input_tokens=1), cost=cost)


def waiting(seconds: float) -> RunWaiting:
    return RunWaiting(reason="network", detail="", began=100.0, until=100.0 + seconds)


def a_turn(number: int = 1) -> list[Event]:
    return [started(number), done(number)]


def progress_of(events: Iterable[Event]) -> RunProgress:
    """The progress of the run that the events of a session end with."""
    return reduce(after, events, NO_RUN)


def next_after(*events: Any) -> object:
    """The next step after these events, some of them in lists."""
    flat = [each for event in events for each in (event if isinstance(event, list) else [event])]
    return next_step(progress_of(flat))


# The round: message, check, message


def test_a_run_begins_with_its_task_or_with_the_check() -> None:
    assert next_after(begun("fix it")) == SendMessage("fix it")
    assert next_after(begun("")) == RunCheck()
    assert next_after(replace(begun(""), is_retried=True)) == RetryTurn()


def test_after_a_turn_that_is_done_the_check_runs_and_after_a_failure_the_next_turn_begins() -> None:
    assert next_after(begun(), started()) is None
    assert next_after(begun(), a_turn()) == RunCheck()
    assert next_after(begun(), a_turn(), check()[:1]) is None
    step = next_after(begun(), a_turn(), check(2))
    assert isinstance(step, SendMessage) and "failed with exit code 2" in step.text
    step = next_after(begun(), a_turn(), check(None))
    assert isinstance(step, SendMessage) and "The check can't be run" in step.text


def test_exit_code_zero_ends_the_run() -> None:
    step = next_after(begun(), a_turn(), check(0))
    assert isinstance(step, EndRun) and step.end == "passed"


def test_a_check_that_was_stopped_says_nothing_and_runs_again() -> None:
    assert next_after(begun(), a_turn(), check(interrupted=True)) == RunCheck()
    assert next_after(begun(), a_turn(), check(0, interrupted=True)) == RunCheck()


def test_without_a_run_nothing_is_done() -> None:
    assert not progress_of([*a_turn(), *check()]).is_on
    ended = RunEnded(report=report_of(progress_of([begun()]), "stopped", ""))
    assert not progress_of([begun(), ended]).is_on
    assert not progress_of([begun(), SessionOpened(id="other")]).is_on


# Turns that end midway


@pytest.mark.parametrize("reason", get_args(EndReason))
@pytest.mark.parametrize("may_pass", [False, True])
def test_every_reason_is_decided(reason: EndReason, may_pass: bool) -> None:
    step = next_after(begun(), started(), broken(reason, may_pass=may_pass))
    if reason in ("interrupted", "step_limit", "empty"):
        assert step == RetryTurn()
    elif may_pass or reason in ("network", "cut", "stalled"):
        assert isinstance(step, WaitFirst) and step.seconds == FIRST_WAIT
    else:
        assert step == EndRun("failed", f"It ended: {reason}.")


def test_a_turn_that_failed_with_nothing_done_is_retried_likewise() -> None:
    assert isinstance(next_after(begun(), started(), failed("network")), WaitFirst)
    assert isinstance(next_after(begun(), started(), failed("provider", may_pass=True)), WaitFirst)
    assert next_after(begun(), started(), failed("auth")) == EndRun("failed", "No.")


def test_the_wait_that_the_server_named_counts_however_long() -> None:
    step = next_after(begun(), started(), broken("provider", retry_after=5 * HOUR))
    assert isinstance(step, WaitFirst) and (step.seconds, step.is_named) == (5 * HOUR, True)


def test_other_waits_grow_to_a_bound_and_begin_anew_after_progress() -> None:
    events: list[Event] = [begun(), started()]
    seconds = []
    for _ in range(12):
        events.append(broken())
        step = next_after(events)
        assert isinstance(step, WaitFirst)
        seconds.append(step.seconds)
        events += [waiting(step.seconds), RunWaited(seconds=step.seconds), started(text=None)]
    assert seconds[:4] == [10.0, 20.0, 40.0, 80.0] and seconds[-1] == LONGEST_WAIT
    step = next_after(events, broken(calls=2))
    assert isinstance(step, WaitFirst) and step.seconds == FIRST_WAIT


def test_a_wait_is_waited_for_once() -> None:
    events = [begun(), started(), broken(), waiting(10)]
    assert next_after(events) is None
    assert next_after(events, RunWaited(seconds=10)) == RetryTurn()
    assert next_after(events, RunWaited(seconds=10), RunContinued(limits=RunLimits())) == RetryTurn()


@pytest.mark.parametrize("reason", ["step_limit", "empty"])
def test_what_no_wait_cures_is_not_tried_for_ever(reason: EndReason) -> None:
    events: list[Event] = [begun(), started()]
    for _ in range(MOST_AGAIN):
        events.append(broken(reason))
        assert next_after(events) == RetryTurn()
        events.append(started(text=None))
    assert next_after(events, broken(reason)) == EndRun("failed", f"It ended: {reason}.")
    assert next_after(events, done(), check(), started(2), broken(reason)) == RetryTurn()


# Ends


def test_the_same_failure_three_times_without_a_change_ends_the_run() -> None:
    same = [*a_turn(), *check(1, "1 failed in 0.03s")]
    again = [*a_turn(2), *check(1, "1 failed in 0.27s")]
    assert isinstance(next_after(begun(), same, again), SendMessage)
    step = next_after(begun(), same, again, same)
    assert isinstance(step, EndRun) and step.end == "same_failure"


@pytest.mark.parametrize("between", [[changed()], check(2), check(1, "2 failed")])
def test_a_change_or_another_failure_begins_the_count_anew(between: list[Event]) -> None:
    same = [*a_turn(), *check()]
    assert isinstance(next_after(begun(), same, same, between, same), SendMessage)


def test_times_and_addresses_make_no_other_failure() -> None:
    def mark(text: str, code: int = 1) -> str:
        return fingerprint(ToolResult(text=text, exit_code=code))

    assert mark("at 12:30:01 in 0.3s <a 0x7f>") == mark("at 12:31:59 in 1.25 s <a 0x8e>")
    assert mark("3 failed") != mark("2 failed")
    assert mark("x") != mark("x", 2)


def test_the_limit_of_turns_ends_the_run_after_the_check() -> None:
    two = [*a_turn(1), *check(1, "a"), *a_turn(2)]
    assert next_after(begun(turns=2), two) == RunCheck()
    assert next_after(begun(turns=2), two, check(1, "b")) == EndRun(
        "turns", "The run reached its limit of 2 turns."
    )
    assert isinstance(next_after(begun(turns=3), two, check(1, "b")), SendMessage)


def test_the_limit_of_cost_ends_the_run_before_another_request() -> None:
    spent = [started(), usage(0.3), usage(0.3), done()]
    assert next_after(begun(cost=0.5), spent) == RunCheck()
    step = next_after(begun(cost=0.5), spent, check())
    assert isinstance(step, EndRun) and step.end == "cost"
    step = next_after(begun(cost=0.5), spent[:-1], broken())
    assert isinstance(step, EndRun) and step.end == "cost"
    assert isinstance(next_after(begun(cost=0.7), spent, check()), SendMessage)


def test_a_cost_that_the_server_does_not_report_ends_a_run_with_that_limit() -> None:
    step = next_after(begun(cost=5.0), a_turn(), check())
    assert isinstance(step, EndRun) and step.end == "unmeasured"
    assert isinstance(next_after(begun(), a_turn(), check()), SendMessage)


def test_the_limit_of_hours_counts_work_checks_and_waits_and_a_wait_beyond_it_is_not_begun() -> None:
    long = [begun(hours=2), started(), broken(seconds=HOUR), waiting(HOUR), RunWaited(seconds=HOUR)]
    step = next_after(long)
    assert isinstance(step, EndRun) and step.end == "hours"
    step = next_after(begun(hours=2), started(), broken(retry_after=3 * HOUR))
    assert isinstance(step, EndRun) and step.end == "hours"
    progress = progress_of([begun(hours=2), started()])
    assert reached_limit(progress, running=2 * HOUR) and not reached_limit(progress, running=HOUR)


def test_what_nobody_could_answer_ends_the_run_unless_the_check_passes() -> None:
    asked = RunAsked(turn=1, what="bash make deploy", advice="there is nobody to ask")
    events = [begun(), started(), asked, done()]
    assert next_after(events) == RunCheck()
    step = next_after(events, check(0))
    assert isinstance(step, EndRun) and step.end == "passed"
    step = next_after(events, check())
    assert isinstance(step, EndRun) and step.end == "asked" and "bash make deploy" in step.detail


# What is counted


def test_the_report_adds_up() -> None:
    events: list[Event] = [
        begun(),
        started(),
        usage(0.25),
        StepRestarted(turn=1, step=1, reason="network", seconds=4.0),
        broken("stalled", seconds=10.0),
        waiting(10),
        RunWaited(seconds=10.0),
        started(text=None, attempt=2),
        usage(0.25),
        usage(None),
        done(1, 15.0, "a.py", "b.py"),
        *check(),
        started(2, "again"),
        done(2, 5.0, "b.py", "c.py"),
        *check(0),
    ]
    report = report_of(progress_of(events), "passed", "")
    assert (report.turns, report.checks, report.failed_checks) == (2, 2, 1)
    retries = {each.reason: each.count for each in report.retries}
    assert retries == {"network": 1, "stalled": 1}
    assert (report.cost, report.unpriced) == (0.5, 1)
    assert (report.work_seconds, report.waited_seconds) == (15.0 + 2.0 + 5.0 + 2.0 - 4.0, 10.0 + 4.0)
    assert report.files_changed == ("a.py", "b.py", "c.py")
    assert not report.is_unfinished


def test_the_fold_of_the_newest_run_is_that_of_the_whole_session() -> None:
    first: list[Event] = [begun("one"), *a_turn(), *check(0)]
    second: list[Event] = [begun("two"), started(), broken()]
    assert progress_of(of_newest_run([*first, *second])) == progress_of([*first, *second])
    assert list(of_newest_run(a_turn())) == []
