"""`make bench`: measures the budgets of docs/performance.md and prints one table.

`make bench PARTS="start length"` measures some parts; PARTS below names them all.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from tests.bench import context, idle, journal, length, resize, stalls, startup, streaming, tool_output
from tests.bench.table import Row, markdown, write

OUT = Path("out")


def main(wanted: Sequence[str]) -> int:
    """Measure, print, and write out/bench.md and out/bench.json. Exit code 1 when a budget is missed."""
    rows: list[Row] = []
    for name in wanted or PARTS:
        for row in PARTS[name]():
            rows.append(row)
            print(f"{row.what}: {row.measured:.3g}", file=sys.stderr)
    write(rows, OUT)
    print(markdown(rows))
    return 0 if all(row.holds for row in rows) else 1


def context_rows() -> Iterator[Row]:
    """The context of twelve turns, whose own table is printed and written, too."""
    growth = context.measured()
    context.write(growth, OUT)
    print(f"{context.markdown(growth)}\n")
    yield from context.rows(growth)


PARTS: Mapping[str, Callable[[], Iterator[Row]]] = {
    "start": startup.rows,
    "stream": streaming.rows,
    "idle": idle.rows,
    "length": length.rows,
    "tools": tool_output.rows,
    "stalls": stalls.rows,
    "journal": journal.rows,
    "resize": resize.rows,
    "context": context_rows,
}


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
