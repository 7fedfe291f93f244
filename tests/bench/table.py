"""The table of a benchmark run: measurements, references, and whether each budget is met."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One figure. `value` and `reference` are in `unit`; the budget limits their ratio, or the value.

    A figure without a budget is for information only.
    """

    what: str
    value: float
    unit: str
    budget: float | None = None
    reference: float | None = None
    against: str = ""

    @property
    def measured(self) -> float:
        return self.value / self.reference if self.reference else self.value

    @property
    def holds(self) -> bool:
        return self.budget is None or self.measured <= self.budget


def markdown(rows: Sequence[Row]) -> str:
    """The rows as a Markdown table."""
    head = ["| what | measured | reference | ratio | budget | |", "|---|---|---|---|---|---|"]
    return "\n".join([*head, *(f"| {' | '.join(_cells(row))} |" for row in rows)])


def write(rows: Sequence[Row], folder: Path, name: str = "bench") -> None:
    """Write `name`.md and `name`.json."""
    folder.mkdir(exist_ok=True)
    (folder / f"{name}.md").write_text(markdown(rows) + "\n")
    records = [asdict(row) | {"measured": row.measured, "holds": row.holds} for row in rows]
    (folder / f"{name}.json").write_text(json.dumps(records, indent=2) + "\n")


def _cells(row: Row) -> tuple[str, ...]:
    has_ratio = bool(row.reference)
    return (
        row.what,
        with_unit(row.value, row.unit),
        f"{with_unit(row.reference, row.unit)} ({row.against})" if row.reference else "",
        f"{row.measured:.3g}x" if has_ratio else "",
        "" if row.budget is None else f"{row.budget:.3g}x" if has_ratio else with_unit(row.budget, row.unit),
        "" if row.budget is None else "holds" if row.holds else "**missed**",
    )


def with_unit(value: float, unit: str) -> str:
    """The figure in three digits, or in whole thousands, with its unit."""
    return f"{value:,.0f} {unit}".strip() if abs(value) >= 1000 else f"{value:.3g} {unit}".strip()
