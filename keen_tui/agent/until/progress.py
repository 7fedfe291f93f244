"""How far a run is: a fold over the events of its session. Pure.

Everything that a run counts is in stored events, so a run that is continued after the end of its program has
the same progress as before.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Literal, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from keen_tui.domain.errors import EndReason
from keen_tui.domain.events import (
    EndEvent,
    Event,
    MessageTakenBack,
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
    TurnAbandoned,
    TurnDone,
    TurnError,
    TurnIncomplete,
    TurnStarted,
    TurnUndone,
    Usage,
)
from keen_tui.domain.messages import ToolResult, TurnMemory
from keen_tui.domain.runs import RetriedTurns, RunEnd, RunLimits, RunReport

Stage = Literal["task", "turn", "broken", "done", "checking", "failed", "passed"]
"""The newest event of the run: the task waits to be sent, a turn runs, ended midway, or is done; the check
runs, failed, or passed."""

_Item = TypeVar("_Item")

_PASSING = re.compile(
    r"\b\d+(?:[.,]\d+)? ?(?:ns|µs|us|ms|s|secs?|seconds?|mins?|minutes?)\b"  # how long it took
    r"|\b\d{1,2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?\b"  # what time it was
    r"|\b\d{4}-\d{2}-\d{2}\b"
    r"|\b0x[0-9a-fA-F]+\b"  # where an object lay in memory
)
"""Parts of an output that differ between runs although nothing has changed."""


class BrokenTurn(Struct, frozen=True):
    """An attempt that ended before the turn was done; `calls` are those of the turn until then."""

    reason: EndReason
    detail: str
    calls: int
    may_pass: bool
    retry_after: float | None


class Failure(Struct, frozen=True):
    """How the check failed last: `count` times in a row in the same way, without a file changed in between.
    `exit_code` is None if it couldn't be run."""

    mark: str
    exit_code: int | None
    count: int


class RunProgress(Struct, frozen=True, kw_only=True):
    """A run so far. `broken` are the attempts at the newest message that didn't get it done; `has_waited`:
    the wait after the last of them is over. `turn_seconds` is the time that the unfinished turn has taken and
    that the seconds of work and waiting already hold; `turn_waited` are those of its waits before automatic
    retries that they don't hold yet. `first_task` is the message that it began with, and `task` the same
    until it is sent. `asks` is what had to be asked since the newest message."""

    is_on: bool = False
    check: str = ""
    task: str = ""
    first_task: str = ""
    limits: RunLimits = RunLimits()
    stage: Stage = "task"
    turns: int = 0
    retries: tuple[EndReason, ...] = ()
    broken: tuple[BrokenTurn, ...] = ()
    waiting: RunWaiting | None = None
    has_waited: bool = False
    checks: int = 0
    failed_checks: int = 0
    failure: Failure | None = None
    has_changed: bool = False
    cost: float = 0.0
    unpriced: int = 0
    reported_since: bool = True
    """Whether the server reported tokens since the newest message."""
    work_seconds: float = 0.0
    turn_seconds: float = 0.0
    turn_waited: float = 0.0
    waited_seconds: float = 0.0
    files_changed: tuple[str, ...] = ()
    asks: tuple[RunAsked, ...] = ()
    all_asks: tuple[RunAsked, ...] = ()

    @property
    def seconds(self) -> float:
        """Work and waiting together."""
        return self.work_seconds + self.waited_seconds


NO_RUN = RunProgress()


def of_newest_run(events: Sequence[Event]) -> Sequence[Event]:
    """The events from the beginning of the newest run on; none where the session has no run."""
    kinds = [*map(type, reversed(events))]
    return events[len(events) - kinds.index(RunBegun) - 1 :] if RunBegun in kinds else ()


def after(progress: RunProgress, event: Event) -> RunProgress:
    """The progress after the event. Without a run, only the beginning of one matters."""
    match event:
        case RunBegun():
            return _begun(event)
        case SessionOpened():
            return NO_RUN
        case _ if not progress.is_on:
            return progress
        case RunContinued(limits=limits):
            return replace(progress, limits=limits)
        case RunWaiting():
            return replace(progress, waiting=event)
        case RunWaited(seconds=seconds):
            waited = progress.waited_seconds + seconds
            return replace(progress, waiting=None, has_waited=True, waited_seconds=waited)
        case RunAsked():
            return replace(
                progress, asks=(*progress.asks, event), all_asks=_joined(progress.all_asks, (event,))
            )
        case RunEnded():
            return replace(progress, is_on=False, waiting=None)
        case TurnStarted():
            return _turn_started(progress, event)
        case StepRestarted(reason=reason, seconds=seconds) if reason:
            waited = progress.turn_waited + seconds
            return replace(progress, retries=(*progress.retries, reason), turn_waited=waited)
        case ToolFinished(result=result):
            is_change = any(fact.MAY_CHANGE_FILES for fact in result.facts)
            return replace(progress, has_changed=True) if is_change else progress
        case Usage():
            return _spent(progress, event)
        case TurnDone() | TurnIncomplete() | TurnError():
            return _turn_ended(progress, event)
        case TurnAbandoned(turn_memory=memory):
            return replace(_remembering(progress, memory), stage="done", broken=(), turn_seconds=0.0)
        case MessageTakenBack():
            return replace(progress, stage="done", broken=(), turn_seconds=0.0)
        case TurnUndone():
            return replace(progress, has_changed=True)
        case ShellStarted(is_check=True):
            return replace(progress, stage="checking")
        case ShellFinished(is_check=True):
            return _checked(progress, event)
    return progress


def report_of(progress: RunProgress, end: RunEnd, detail: str) -> RunReport:
    """Returns the report of a run that ends now."""
    counts = Counter(progress.retries)
    return RunReport(
        check=progress.check,
        end=end,
        detail=detail,
        limits=progress.limits,
        turns=progress.turns,
        retries=tuple(RetriedTurns(reason=reason, count=count) for reason, count in counts.items()),
        checks=progress.checks,
        failed_checks=progress.failed_checks,
        cost=None if progress.unpriced and not progress.cost else progress.cost,
        unpriced=progress.unpriced,
        work_seconds=progress.work_seconds,
        waited_seconds=progress.waited_seconds,
        files_changed=progress.files_changed,
        asked=tuple(dict.fromkeys(asked.what for asked in progress.all_asks)),
        is_unfinished=progress.stage in ("turn", "broken"),
    )


def _begun(event: RunBegun) -> RunProgress:
    stage: Stage = "task" if event.task else "broken" if event.is_retried else "done"
    return RunProgress(
        is_on=True,
        check=event.check,
        task=event.task,
        first_task=event.task,
        limits=event.limits,
        stage=stage,
        turn_seconds=event.seconds_before,
    )


def _turn_started(progress: RunProgress, event: TurnStarted) -> RunProgress:
    begun = replace(progress, stage="turn", waiting=None, has_waited=False)
    if event.text is None:
        reason: EndReason = progress.broken[-1].reason if progress.broken else "interrupted"
        return replace(begun, retries=(*progress.retries, reason))
    return replace(begun, task="", turns=progress.turns + 1, broken=(), asks=(), reported_since=False)


def _turn_ended(progress: RunProgress, end: EndEvent) -> RunProgress:
    """A turn ended. The seconds of its end count all attempts, so only those since the last one are new."""
    seconds = max(end.seconds - progress.turn_seconds, 0.0)
    waited = min(progress.turn_waited, seconds)
    timed = replace(
        _remembering(progress, end.turn_memory),
        work_seconds=progress.work_seconds + seconds - waited,
        waited_seconds=progress.waited_seconds + waited,
        turn_waited=0.0,
        has_waited=False,
    )
    if isinstance(end, TurnDone):
        return replace(timed, stage="done", broken=(), turn_seconds=0.0)
    broken = BrokenTurn(
        end.reason,
        end.detail,
        end.calls if isinstance(end, TurnIncomplete) else 0,
        end.may_pass,
        end.retry_after,
    )
    return replace(timed, stage="broken", broken=(*progress.broken, broken), turn_seconds=end.seconds)


def _checked(progress: RunProgress, event: ShellFinished) -> RunProgress:
    """The check has ended. One that was stopped, or cut off by the end of the program, says nothing."""
    result = event.result
    timed = replace(progress, work_seconds=progress.work_seconds + event.seconds)
    if result.interrupted:
        return replace(timed, stage="done")
    counted = replace(timed, checks=progress.checks + 1, has_changed=False)
    if result.exit_code == 0:
        return replace(counted, stage="passed")
    mark, last = fingerprint(result), progress.failure
    is_same = last is not None and last.mark == mark and not progress.has_changed
    failure = Failure(mark, result.exit_code, last.count + 1 if last and is_same else 1)
    return replace(counted, stage="failed", failed_checks=progress.failed_checks + 1, failure=failure)


def _spent(progress: RunProgress, usage: Usage) -> RunProgress:
    if usage.cost is None:
        return replace(progress, unpriced=progress.unpriced + 1)
    return replace(progress, cost=progress.cost + usage.cost, reported_since=True)


def _remembering(progress: RunProgress, memory: TurnMemory) -> RunProgress:
    return replace(progress, files_changed=_joined(progress.files_changed, memory.files_changed))


def _joined(known: tuple[_Item, ...], more: Iterable[_Item]) -> tuple[_Item, ...]:
    return tuple(dict.fromkeys((*known, *more)))


def fingerprint(result: ToolResult) -> str:
    """A short text that two results share if the exit code and the output are the same, apart from times and
    addresses in memory."""
    words = _PASSING.sub("", f"{result.exit_code}\n{result.text}")
    return hashlib.sha256(words.encode("utf-8", "surrogatepass")).hexdigest()[:16]
