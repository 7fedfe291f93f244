"""The usage of saved sessions, as a table for a terminal and as JSON.

The JSON is one object: `schema` (1), `first_day`, `days` (one object for each day and model) and `total`.
Each object has `day` and `model` ("" in the total), `sessions`, `turns`, `calls`, `input_tokens` (sent, those
from the cache included), `cached_tokens`, `output_tokens`, `whole_history_tokens` (the `input_tokens` that
the whole history would have taken), `cost` (US dollars, of the calls with a known price; null if there are
none), `unpriced_calls`, and `web_searches` (those that the provider reported; no cost includes them).
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any, Final

from keen_tui.domain.reports import ModelUsage, UsageReport
from keen_tui.text.sanitize import clean
from keen_tui.text.spending import whole_history
from keen_tui.text.units import counted, dollars, tokens

SCHEMA: Final = 1
_HEADS: Final = ("turns", "new", "cached", "whole", "received", "cost")
_CELLS: Final = (7, 8, 8, 8, 10, 10)
_UNNAMED: Final = "(unknown)"


def usage_lines(report: UsageReport) -> Iterator[str]:
    """The lines of the table: one for each day and model, then the sums."""
    if not report.rows:
        yield f"Nothing used since {report.first_day}."
        return
    names = [clean(row.model) or _UNNAMED for row in report.rows]
    wide = max(map(len, ("model", *names)))
    yield _line("day", "model", wide, _HEADS)
    for row, name in zip(report.rows, names, strict=True):
        yield _line(row.day, name, wide, _figures(row))
    yield _line("all", counted(report.total.sessions, "session"), wide, _figures(report.total))
    yield whole_history(report.total.spent)
    if unpriced := report.total.unpriced:
        yield f"The cost leaves out {counted(unpriced, 'call')} whose price isn't known."


def usage_json(report: UsageReport) -> str:
    """The report as a JSON object."""
    record = {
        "schema": SCHEMA,
        "first_day": report.first_day,
        "days": [_record(row) for row in report.rows],
        "total": _record(report.total),
    }
    return json.dumps(record, indent=1)


def _line(day: str, name: str, wide: int, figures: Sequence[str]) -> str:
    right = "".join(figure.rjust(cells) for figure, cells in zip(figures, _CELLS, strict=True))
    return f"{day:10}  {name:{wide}}{right}"


def _figures(row: ModelUsage) -> tuple[str, ...]:
    spent = row.spent
    counts = (spent.new_tokens, spent.cached_tokens, spent.whole_tokens, spent.output_tokens)
    return (f"{row.turns:,}", *map(tokens, counts), _cost(row))


def _cost(row: ModelUsage) -> str:
    """`$0.04`; with a plus if the price of some calls isn't known."""
    if row.unpriced == row.calls:
        return "unknown"
    return f"{dollars(row.known_cost)}{'+' if row.unpriced else ''}"


def _record(row: ModelUsage) -> dict[str, Any]:
    return {
        "day": row.day,
        "model": row.model,
        "sessions": row.sessions,
        "turns": row.turns,
        "calls": row.calls,
        "input_tokens": row.spent.input_tokens,
        "cached_tokens": row.spent.cached_tokens,
        "output_tokens": row.spent.output_tokens,
        "whole_history_tokens": row.spent.whole_tokens,
        "cost": None if row.unpriced == row.calls else round(row.known_cost, 6),
        "unpriced_calls": row.unpriced,
        "web_searches": row.spent.web_searches,
    }
