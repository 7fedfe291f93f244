"""`make bench`: measures the budgets of docs/performance.md and prints one table.

`make bench PARTS="start length"` measures some parts; PARTS below names them all. MINUTES is the length of
the sessions in the parts `stalls` and `soak`, BENCH_PROGRAM the folder of another checkout to measure.
"""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from importlib import import_module
from pathlib import Path

from tests.bench.table import Row, markdown, write

OUT = Path("out")

PARTS: Mapping[str, str] = {
    "start": "startup",
    "idle": "idle",
    "stream": "streaming",
    "length": "length",
    "agents": "agents",
    "stalls": "stalls",
    "tools": "tool_output",
    "background": "background",
    "context": "context",
    "memory": "memory",
    "journal": "journal",
    "resize": "resize",
    "seldom": "seldom",
    "sandbox": "sandbox",
    "commands": "command_changes",
    "sessions": "sessions",
    "replies": "big_replies",
    "soak": "soak",
    "peers": "peers",
}
"""The modules of the parts, each with a function `rows`."""

ON_DEMAND = ("soak", "memory", "peers")
"""Parts that are measured only if they are named, because they take long or need other programs."""


def main(wanted: Sequence[str]) -> int:
    """Measure, print, and write out/bench.md and out/bench.json. Exit code 1 if a budget is missed."""
    rows = [_yardstick("before")]
    for name in wanted or [name for name in PARTS if name not in ON_DEMAND]:
        for row in _rows(name):
            rows.append(row)
            print(f"{row.what}: {row.measured:.3g}", file=sys.stderr)
            write(rows, OUT)
    rows.append(_yardstick("after"))
    write(rows, OUT)
    print(markdown(rows))
    return 0 if all(row.holds for row in rows) else 1


def _yardstick(when: str) -> Row:
    """The cost of a fixed piece of work, for comparing tables of different times and machines."""
    spent = []
    for _ in range(15):
        begin = time.process_time()
        sorted(str(number) for number in range(50_000))
        spent.append(time.process_time() - begin)
    return Row(what=f"yardstick, {when}", value=statistics.median(spent) * 1000, unit="ms CPU")


def _rows(part: str) -> Iterator[Row]:
    """The rows of a part. Imported only now, because another checkout may lack something that one part
    needs."""
    found: Iterator[Row] = import_module(f"tests.bench.{PARTS[part]}").rows()
    return found


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
