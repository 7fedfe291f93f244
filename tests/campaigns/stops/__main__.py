"""The campaign of stops: `python -m tests.campaigns.stops [--only SCRIPT] [--every N]`.

Plays every script once for each API and counts the points at which it waits. Then plays it again for each of
them, and stops it there. Prints how many points were tried. Exit code 1: something broke.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import tempfile
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path
from typing import get_args

from keen_tui.domain.choices import Api
from tests.campaigns.stops.playing import count_points, stop_at
from tests.campaigns.stops.scripts import SCRIPTS, StopScript


def main() -> int:
    """Play what was asked for; gives the exit code."""
    parser = argparse.ArgumentParser(prog="python -m tests.campaigns.stops")
    parser.add_argument("--only", default="", metavar="SCRIPT", help="a script, or the beginning of its name")
    parser.add_argument("--every", type=int, default=1, metavar="N", help="only every Nth point")
    given = parser.parse_args()
    chosen = [script.name for script in SCRIPTS if script.name.startswith(given.only)]
    total = broken = 0
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        jobs = [pool.submit(play, name, api, given.every) for name in chosen for api in get_args(Api)]
        for job in as_completed(jobs):
            name, api, points, tried, problems = job.result()
            print(f"{name}, {api}: {tried} of {points} points", flush=True)
            for problem in problems:
                print(f"    {problem}", flush=True)
            total, broken = total + tried, broken + len(problems)
    print(f"{len(chosen)} scripts, {total:,} points tried, {broken} broken")
    return int(broken > 0)


def play(name: str, api: Api, every: int) -> tuple[str, Api, int, int, list[str]]:
    """One script: its points, how many were tried, and what broke."""
    [script] = [each for each in SCRIPTS if each.name == name]
    points = _alone(script, api, None)
    assert isinstance(points, int)
    tried = range(1, points + 1, every)
    problems = []
    for point in tried:
        found = _alone(script, api, point)
        assert isinstance(found, list)
        problems += [f"at {point}: {each}" for each in found]
    return name, api, points, len(tried), problems


def _alone(script: StopScript, api: Api, point: int | None) -> int | list[str]:
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        if point is None:
            return asyncio.run(count_points(script, api, place))
        try:
            return asyncio.run(stop_at(script, api, place, point))
        except Exception as error:
            return [f"{type(error).__name__}: {error}"]


if __name__ == "__main__":
    raise SystemExit(main())
