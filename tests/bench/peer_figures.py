"""The figures of several programs about the same things, and their table."""

from __future__ import annotations

import json
import statistics
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tests.bench.table import Row, with_unit


@dataclass(frozen=True, slots=True)
class Figures:
    """Every measurement of one thing, by program. `reference` holds those of something else in the same
    rounds, which `against` names."""

    what: str
    unit: str
    against: str = ""
    values: defaultdict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    reference: list[float] = field(default_factory=list)

    def add(self, program: str, value: float) -> None:
        """One more measurement."""
        self.values[program].append(value)

    def row(self, program: str) -> Row:
        """The median of the program's measurements, against that of the reference."""
        return Row(
            what=f"{program}: {self.what}",
            value=statistics.median(self.values[program]),
            unit=self.unit,
            reference=statistics.median(self.reference) if self.reference else None,
            against=self.against,
        )

    def rows(self) -> Iterator[Row]:
        """A row for each program."""
        return map(self.row, self.values)


def markdown(measured: Sequence[Figures]) -> str:
    """The medians as a Markdown table: a column for each program, and one for what they are compared with."""
    programs = list(dict.fromkeys(name for each in measured for name in each.values))
    head = [f"| what | {' | '.join(programs)} | against |", "|---|" + "---:|" * len(programs) + "---|"]
    return "\n".join([*head, *(_line(each, programs) for each in measured)])


def write(measured: Sequence[Figures], folder: Path) -> None:
    """Write peers.md, and peers.json with every single measurement."""
    folder.mkdir(exist_ok=True)
    (folder / "peers.md").write_text(markdown(measured) + "\n")
    records = [
        {"what": each.what, "unit": each.unit, "values": each.values, "reference": each.reference}
        for each in measured
    ]
    (folder / "peers.json").write_text(json.dumps(records, indent=2) + "\n")


def _line(figures: Figures, programs: Sequence[str]) -> str:
    cells = [_cell(figures.row(name)) if name in figures.values else "" for name in programs]
    reference = ""
    if figures.reference:
        value = with_unit(statistics.median(figures.reference), figures.unit)
        reference = f"{figures.against} ({value})"
    return f"| {figures.what} | {' | '.join(cells)} | {reference} |"


def _cell(row: Row) -> str:
    value = with_unit(row.value, row.unit)
    return f"{row.measured:.3g}x ({value})" if row.reference else value
