"""`make bench`: measures the budgets of docs/performance.md and prints one table."""

from __future__ import annotations

import sys
from pathlib import Path

from tests.bench import startup, streaming
from tests.bench.table import Row, markdown, write


def main() -> int:
    """Measure, print, and write out/bench.md and out/bench.json. Exit code 1 when a budget is missed."""
    rows: list[Row] = []
    for source in (startup.rows, streaming.rows, streaming.idle_rows):
        for row in source():
            rows.append(row)
            print(f"{row.what}: {row.measured:.3g}", file=sys.stderr)
    write(rows, Path("out"))
    print(markdown(rows))
    return 0 if all(row.holds for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
