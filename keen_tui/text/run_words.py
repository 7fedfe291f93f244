"""What is said of a run, wherever it is shown: its beginning, its waits, its report."""

from __future__ import annotations

import time
from collections.abc import Iterator

from keen_tui.domain.events import RunAsked, RunBegun, RunWaiting
from keen_tui.domain.runs import RunLimits, RunReport
from keen_tui.text.labels import SHORT_REASONS
from keen_tui.text.sanitize import clean
from keen_tui.text.units import counted, dollars, duration, first_line

_MOST_FILES = 20


def run_begins(event: RunBegun) -> str:
    """`Run until this check passes: make test. Limits: 50 turns, $5.00, 8 hours.`"""
    return f"Run until this check passes: {clean(first_line(event.check))}. {limits_words(event.limits)}"


def limits_words(limits: RunLimits) -> str:
    """`Limits: 50 turns, $5.00, 8 hours.`"""
    parts = []
    if limits.turns is not None:
        parts.append(counted(limits.turns, "turn"))
    if limits.cost is not None:
        parts.append(dollars(limits.cost))
    if limits.hours is not None:
        parts.append("1 hour" if limits.hours == 1 else f"{limits.hours:g} hours")
    return f"Limits: {', '.join(parts)}." if parts else "No limits."


def run_waits(event: RunWaiting) -> str:
    """`Server failed. The run continues at 07:00, as the server asked.`"""
    named = ", as the server asked" if event.is_named else ""
    why = SHORT_REASONS[event.reason]
    return f"{why[:1].upper()}{why[1:]}. The run continues {until_words(event)}{named}."


def until_words(event: RunWaiting) -> str:
    """When the wait is over: `at 07:00`, `at 07:00:30`, `on Tue 24 Nov at 07:00`."""
    try:
        began, until = time.localtime(event.began), time.localtime(event.until)
        clock = time.strftime("%H:%M" if event.until - event.began >= 600 else "%H:%M:%S", until)
        day = time.strftime("%a %d %b", until)
    except (OverflowError, ValueError, OSError):  # a server may name any number
        return f"in {duration(event.until - event.began)}"
    is_same_day = (began.tm_year, began.tm_yday) == (until.tm_year, until.tm_yday)
    return f"at {clock}" if is_same_day else f"on {day} at {clock}"


def run_asked(event: RunAsked) -> str:
    """`A question went unanswered: bash make deploy.`"""
    return f"A question went unanswered: {clean(event.what)}."


def report_lines(report: RunReport) -> Iterator[str]:
    """The report of a run, a line for each fact."""
    passed = report.end == "passed"
    yield "The run is done: the check passed." if passed else f"The run has ended. {clean(report.detail)}"
    checks = f"{counted(report.checks, 'check')}, {report.failed_checks:,} failed"
    yield f"Check: {clean(first_line(report.check))} ({checks})"
    yield f"Turns: {report.turns:,}, {_retries(report)}"
    yield f"Cost: {_cost(report)}"
    waited = f", {duration(report.waited_seconds)} of waiting" if report.waited_seconds else ""
    yield f"Time: {duration(report.work_seconds)} of work{waited}"
    yield f"Files changed: {_files(report.files_changed)}"
    for what in report.asked:
        yield f"Unanswered: {clean(what)}"
    if report.is_unfinished:
        yield "Open: the last turn isn't done; its work is kept, and a retry continues it"


def _retries(report: RunReport) -> str:
    count = sum(each.count for each in report.retries)
    reasons = {**SHORT_REASONS, "interrupted": "interrupted"}
    why = ", ".join(f"{reasons[each.reason]} {each.count}" for each in report.retries)
    return f"{counted(count, 'retry', 'retries')}{f' ({why})' if why else ''}"


def _cost(report: RunReport) -> str:
    if report.cost is None:
        return "unknown"
    more = f", and {counted(report.unpriced, 'call')} at an unknown price" if report.unpriced else ""
    return f"{dollars(report.cost)}{more}"


def _files(names: tuple[str, ...]) -> str:
    shown, more = names[:_MOST_FILES], len(names) - _MOST_FILES
    listed = ", ".join(map(clean, shown)) or "none"
    return f"{listed} and {more:,} more" if more > 0 else listed
