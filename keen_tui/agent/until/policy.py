"""Decides the next step of a run. A pure function over its progress.

After a turn that is done the check runs; after a check that failed the next turn begins with its output; a
turn that ended midway is retried, after a wait where waiting helps. Everything else ends the run (turn.md
rule 21).
"""

from __future__ import annotations

from typing import Final

from msgspec import Struct

from keen_tui.agent.until.progress import BrokenTurn, Failure, RunProgress
from keen_tui.domain.errors import EndReason
from keen_tui.domain.runs import RunEnd

FIRST_WAIT: Final = 10.0
"""Seconds before the first retry, where the server names no time."""

LONGEST_WAIT: Final = 900.0
"""Seconds that such waits grow to; each is twice as long as the one before."""

SAME_FAILURES: Final = 3
"""How often the check may fail in the same way, without a file changed, before the run ends."""

MOST_AGAIN: Final = 5
"""How often a message is tried again after ends that no wait cures."""

_HOUR: Final = 3600.0

_AT_ONCE: Final[frozenset[EndReason]] = frozenset(("step_limit", "empty"))
"""Tried again without a wait, but not for ever: the model has to do something else than last time."""

_IN_TIME: Final[frozenset[EndReason]] = frozenset(("network", "cut", "stalled"))
"""Ends of a turn that are worth a retry after a wait."""


class SendMessage(Struct, frozen=True):
    """Begin the next turn with this message."""

    text: str


class RunCheck(Struct, frozen=True):
    """Run the check."""


class RetryTurn(Struct, frozen=True):
    """Make another attempt at the newest turn."""


class WaitFirst(Struct, frozen=True):
    """Wait for so many seconds, because of that attempt. `is_named`: the server named this wait."""

    seconds: float
    because: BrokenTurn
    is_named: bool


class EndRun(Struct, frozen=True):
    """End the run. `detail` says in a sentence why."""

    end: RunEnd
    detail: str


RunStep = SendMessage | RunCheck | RetryTurn | WaitFirst | EndRun


def next_step(progress: RunProgress) -> RunStep | None:
    """Returns the next step; None while a turn or the check runs, or while the run waits."""
    match progress.stage:
        case "passed":
            return EndRun("passed", "The check passed.")
        case "task":
            return reached_limit(progress) or SendMessage(progress.task)
        case "done":
            return RunCheck()
        case "failed":
            return _after_failed_check(progress)
        case "broken":
            return _after_broken_turn(progress)
        case "turn" | "checking":
            return None


def reached_limit(progress: RunProgress, *, running: float = 0.0, waiting: float = 0.0) -> EndRun | None:
    """The end of the run if its money or its time is used up. `running` are the seconds of the turn that
    runs now, `waiting` those that it would have to wait."""
    limits = progress.limits
    if limits.cost is not None and progress.cost >= limits.cost:
        return EndRun("cost", f"The run reached its limit of ${limits.cost:g}.")
    if limits.hours is not None and progress.seconds + running >= limits.hours * _HOUR:
        return EndRun("hours", f"The run reached its limit of {_hours(limits.hours)}.")
    if limits.hours is not None and progress.seconds + waiting >= limits.hours * _HOUR:
        return EndRun("hours", f"The next attempt would come after the limit of {_hours(limits.hours)}.")
    return None


def failed_check(failure: Failure) -> str:
    """The message that begins the next turn. What the check printed goes before it."""
    how = "can't be run" if failure.exit_code is None else f"failed with exit code {failure.exit_code}"
    return f"The check {how}; its command and its output are above. Continue until it passes."


def _after_failed_check(progress: RunProgress) -> RunStep:
    failure, limits = progress.failure, progress.limits
    assert failure
    if progress.asks:
        what = "; ".join(dict.fromkeys(asked.what for asked in progress.asks))
        return EndRun("asked", f"The check fails, and a question went unanswered: {what}.")
    if failure.count >= SAME_FAILURES:
        text = f"The check failed {failure.count} times in the same way, and no files changed in between."
        return EndRun("same_failure", text)
    if limits.turns is not None and progress.turns >= limits.turns:
        counted = "1 turn" if limits.turns == 1 else f"{limits.turns} turns"
        return EndRun("turns", f"The run reached its limit of {counted}.")
    if limits.cost is not None and progress.turns and not progress.reported_since:
        return EndRun("unmeasured", "The cost can't be measured: the server reported no tokens.")
    return reached_limit(progress) or SendMessage(failed_check(failure))


def _after_broken_turn(progress: RunProgress) -> RunStep | None:
    if progress.waiting:
        return None
    if limit := reached_limit(progress):
        return limit
    if not progress.broken or progress.has_waited:
        return RetryTurn()
    last = progress.broken[-1]
    if last.reason == "interrupted":  # its program ended: whoever stops a turn ends the run, too
        return RetryTurn()
    if last.reason in _AT_ONCE:
        again = sum(each.reason == last.reason for each in progress.broken)
        return RetryTurn() if again <= MOST_AGAIN else EndRun("failed", last.detail)
    if last.reason not in _IN_TIME and not last.may_pass:
        return EndRun("failed", last.detail)
    seconds = last.retry_after if last.retry_after is not None else _growing(progress)
    if limit := reached_limit(progress, waiting=seconds):
        return limit
    return WaitFirst(seconds, last, last.retry_after is not None)


def _growing(progress: RunProgress) -> float:
    """Twice as long after each attempt that got no further than the one before it."""
    calls = progress.broken[-1].calls
    in_vain = 0
    for each in reversed(progress.broken):
        if each.calls != calls:
            break
        in_vain += 1
    return min(FIRST_WAIT * 2.0 ** min(in_vain - 1, 30), LONGEST_WAIT)


def _hours(hours: float) -> str:
    return "1 hour" if hours == 1 else f"{hours:g} hours"
