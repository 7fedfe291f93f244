"""The table of a benchmark run: what was measured, against what, and whether the budget holds."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One budget. `value` and `reference` are in `unit`; the budget bounds their ratio, or the value."""

    what: str
    value: float
    unit: str
    budget: float
    reference: float | None = None
    against: str = ""

    @property
    def measured(self) -> float:
        return self.value / self.reference if self.reference else self.value

    @property
    def holds(self) -> bool:
        return self.measured <= self.budget


def markdown(rows: Sequence[Row]) -> str:
    """The rows as a Markdown table."""
    lines = ["| what | measured | reference | ratio | budget | |", "|---|---|---|---|---|---|"]
    for row in rows:
        reference = f"{row.reference:.3g} {row.unit} ({row.against})" if row.reference else ""
        ratio = f"{row.measured:.3g}x" if row.reference else ""
        budget = f"{row.budget:g}x" if row.reference else f"{row.budget:g} {row.unit}"
        verdict = "holds" if row.holds else "**missed**"
        lines.append(
            f"| {row.what} | {row.value:.3g} {row.unit} | {reference} | {ratio} | {budget} | {verdict} |"
        )
    return "\n".join(lines)


def write(rows: Sequence[Row], folder: Path) -> None:
    """Write bench.md and bench.json."""
    folder.mkdir(exist_ok=True)
    (folder / "bench.md").write_text(markdown(rows) + "\n")
    records = [asdict(row) | {"measured": row.measured, "holds": row.holds} for row in rows]
    (folder / "bench.json").write_text(json.dumps(records, indent=2) + "\n")
