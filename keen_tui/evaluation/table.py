"""The report of an evaluation, as a table and as JSON.

The JSON is one object: `schema` (1), `model`, `policies`, `repeat`, `complete` (no run is missing and no task
is broken), `stopped` (why runs are missing, or ""), `folder` (of the runs that were kept, or null), `runs`,
`broken` (`task` and `problem` each) and `total` (what all runs used, those that were stopped included). Each
run has `task`, `policy`, `number`, `passed`, `problem`, `check_exit_code` (null if there was no check),
`check_output`, `turns`, `steps`, `repeated_reads`, `failed_edits`, `seconds`, `input_tokens` (those from the
cache included), `cached_tokens`, `output_tokens` and `cost` (US dollars; null if a price isn't known).
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any, Final

from keen_tui.domain.spent import NOTHING, Spent
from keen_tui.evaluation.evaluation import EvaluationReport
from keen_tui.evaluation.figures import RunResult
from keen_tui.text.sanitize import clean
from keen_tui.text.units import counted, dollars, tokens

SCHEMA: Final = 1
_HEADS: Final = (
    "task",
    "policy",
    "passed",
    "sent",
    "from cache",
    "received",
    "cost",
    "steps",
    "reads repeated",
    "failed edits",
)
_WORDS: Final = 2
"""The first columns are words; the others are figures, which stand on the right."""

_ALL: Final = "all"


def table_lines(report: EvaluationReport) -> Iterator[str]:
    """A row for each task and policy, a row for each policy, and sentences about the whole."""
    if report.results:
        yield from _aligned([_HEADS, *_rows(report)])
        yield ""
    passed = sum(result.passed for result in report.results)
    cost = "cost unknown" if report.spent.cost is None else dollars(report.spent.cost)
    sent = f"{report.spent.input_tokens:,} tokens sent"
    yield f"{report.model}: {counted(len(report.results), 'run')}, {passed} passed, {sent}, {cost}."
    if len(report.results) > len(report.plan.policies):
        yield "Rows with more than one run show the mean per run."
    if report.stopped:
        yield f"Incomplete: {report.stopped}"
    for task in report.plan.broken:
        yield f"Not run: {task.name}. {task.problem}"
    if report.folder:
        yield f"The folders of the runs are in {report.folder}."


def report_json(report: EvaluationReport) -> str:
    """The report as a JSON object."""
    record = {
        "schema": SCHEMA,
        "model": report.model,
        "policies": list(report.plan.policies),
        "repeat": report.plan.repeat,
        "complete": not (report.stopped or report.plan.broken),
        "stopped": report.stopped,
        "folder": str(report.folder) if report.folder else None,
        "runs": [_record(result) for result in report.results],
        "broken": [{"task": task.name, "problem": task.problem} for task in report.plan.broken],
        "total": _tokens(report.spent),
    }
    return json.dumps(record, indent=1)


def _rows(report: EvaluationReport) -> Iterator[Sequence[str]]:
    names = dict.fromkeys(result.task for result in report.results)
    parts = [(name, [each for each in report.results if each.task == name]) for name in names]
    if len(parts) > 1:
        parts.append((_ALL, list(report.results)))
    for name, results in parts:
        for policy in report.plan.policies:
            if found := [result for result in results if result.policy == policy]:
                yield (clean(name), policy, *_figures(found))


def _figures(results: Sequence[RunResult]) -> Iterator[str]:
    """How many runs passed, and the mean of each figure."""
    count = len(results)
    figures = [result.figures for result in results]
    spent = NOTHING
    for each in figures:
        spent = spent.joined(each.spent)
    yield f"{sum(result.passed for result in results)}/{count}"
    for amount in (spent.input_tokens, spent.cached_tokens, spent.output_tokens):
        yield tokens(round(amount / count)) if spent else "unknown"
    yield dollars(spent.cost / count) if spent and spent.cost is not None else "unknown"
    for total in (
        sum(each.steps for each in figures),
        sum(each.repeated_reads for each in figures),
        sum(each.failed_edits for each in figures),
    ):
        yield f"{total / count:.1f}".removesuffix(".0")


def _aligned(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """The rows as a Markdown table whose columns have one width."""
    wide = [max(map(len, column)) for column in zip(*rows, strict=True)]
    rule = ["-" * width if place < _WORDS else "-" * (width - 1) + ":" for place, width in enumerate(wide)]
    for row in (rows[0], rule, *rows[1:]):
        cells = (
            cell.ljust(width) if place < _WORDS else cell.rjust(width)
            for place, (cell, width) in enumerate(zip(row, wide, strict=True))
        )
        yield f"| {' | '.join(cells)} |"


def _record(result: RunResult) -> dict[str, Any]:
    return {
        "task": result.task,
        "policy": result.policy,
        "number": result.number,
        "passed": result.passed,
        "problem": result.problem,
        "check_exit_code": result.check_code,
        "check_output": result.output,
        "turns": result.turns,
        "steps": result.figures.steps,
        "repeated_reads": result.figures.repeated_reads,
        "failed_edits": result.figures.failed_edits,
        "seconds": round(result.seconds, 3),
        **_tokens(result.figures.spent),
    }


def _tokens(spent: Spent) -> dict[str, Any]:
    return {
        "input_tokens": spent.input_tokens,
        "cached_tokens": spent.cached_tokens,
        "output_tokens": spent.output_tokens,
        "cost": None if spent.cost is None else round(spent.cost, 6),
    }
