"""The fault campaign: `python -m tests.campaigns.faults [--quick] [--only CASE] [--list]`.

Plays the standard session with a fault at every point of it, runs the tests of tests/fuzz with many
examples, prints what became of each promise and writes it to out/faults.md. Exit code 1: something broke.
`--only` takes a case or the beginning of its name. A broken case leaves its folder in out/faults.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path

from tests.campaigns.faults import fuzzing
from tests.campaigns.faults.cases import Case, all_cases, sample
from tests.campaigns.faults.playing import play
from tests.campaigns.faults.promises import Findings
from tests.campaigns.faults.table import Table

OUT = Path("out")


def main() -> int:
    """Run what was asked for; gives the exit code."""
    given = _parsed()
    cases, fuzz = _chosen(given.only, given.quick)
    if given.list:
        print("\n".join([*fuzz, *(case.name for case in cases)]))
        return 0
    table, began = Table(), time.monotonic()
    for name, findings in _played(cases, fuzz, given.workers, long=not given.quick):
        again = f'python -m tests.campaigns.faults --only "{name}"'
        for line in table.take(name, findings.looked, findings.broken, again):
            print(line, flush=True)
        for figure, seconds in findings.figures.items():
            table.figures[figure] = max(seconds, table.figures.get(figure, 0.0))
    print(table.text())
    minutes = (time.monotonic() - began) / 60
    title = f"Fault campaign: {len(cases):,} cases and {len(fuzz)} fuzzed files in {minutes:.0f} minutes"
    print(title)
    OUT.mkdir(exist_ok=True)
    (OUT / "faults.md").write_text(table.markdown(title), encoding="utf-8")
    return int(table.is_broken)


def _parsed() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.campaigns.faults")
    parser.add_argument("--quick", action="store_true", help="a sample: some four minutes on two processors")
    parser.add_argument("--only", default="", metavar="CASE", help="a case, or the beginning of its name")
    parser.add_argument("--list", action="store_true", help="print the cases and play none")
    workers = min(os.cpu_count() or 1, 8)
    parser.add_argument("--workers", type=int, default=workers, help="cases that are played at once")
    return parser.parse_args()


def _chosen(only: str, quick: bool) -> tuple[list[Case], list[str]]:
    cases = all_cases()
    if quick and not only:
        cases = sample(cases)
    exact = [case for case in cases if case.name == only]
    begun = [case for case in cases if case.name.startswith(only)]
    return exact or begun, [name for name in fuzzing.names() if name.startswith(only)]


def _played(
    cases: Sequence[Case], fuzz: Sequence[str], workers: int, *, long: bool
) -> Iterator[tuple[str, Findings]]:
    """Each case with what was found, as they end."""
    with ProcessPoolExecutor(workers) as pool:
        under_way = {pool.submit(fuzzing.fuzzed, name, long=long): name for name in fuzz}
        under_way |= {pool.submit(play, case, _folder(case)): case.name for case in cases}
        for number, done in enumerate(as_completed(under_way), 1):
            if sys.stderr.isatty():
                print(f"\r{number:,} of {len(under_way):,}", end="", file=sys.stderr, flush=True)
            yield under_way[done], done.result()


def _folder(case: Case) -> Path:
    return (OUT / "faults" / case.name.replace("/", "-").replace(" ", "_")).absolute()


if __name__ == "__main__":
    sys.exit(main())
