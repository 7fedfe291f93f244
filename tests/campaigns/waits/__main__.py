"""The campaign of waits: `python -m tests.campaigns.waits [--only SCRIPT] [--fault FAULT] [--every N]`.

Plays every script once and counts the points at which it waits. Then plays it again for each of them, with a
fault there. Stops and failures of the server are tried on the three APIs, a full disk and a closed reader on
one for each script, in turn. Prints how many points were tried. Exit code 1: something broke.
"""

from __future__ import annotations

import argparse
import asyncio
import logging
import os
import tempfile
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path
from typing import get_args

from msgspec import Struct, field

from keen_tui.domain.choices import Api
from tests.campaigns.waits.playing import Findings, broken_at, count_points
from tests.campaigns.waits.scripts import SCRIPTS, WaitScript
from tests.campaigns.waits.stage import Fault


class Played(Struct):
    """What became of a script with a fault on one API: how many points it has and how many were tried, what
    broke, and how long a turn went on after the fault, at most."""

    script: str
    fault: Fault
    api: Api
    points: int
    tried: int
    problems: list[str] = field(default_factory=list)
    seconds: float = 0.0

    @property
    def name(self) -> str:
        return f"{self.script}, {self.fault}, {self.api}"

    @property
    def pace(self) -> str:
        """How soon it ended, where the fault is to end it."""
        return f", ended within {self.seconds:.2f} s" if self.fault in ("stop", "reader") else ""


def main() -> int:
    """Play what was asked for; gives the exit code."""
    parser = argparse.ArgumentParser(prog="python -m tests.campaigns.waits")
    parser.add_argument("--only", default="", metavar="SCRIPT", help="a script, or the beginning of its name")
    parser.add_argument("--fault", choices=get_args(Fault), help="only this one")
    parser.add_argument("--every", type=int, default=1, metavar="N", help="only every Nth point")
    given = parser.parse_args()
    logging.disable()  # a full disk is logged
    chosen = [script for script in SCRIPTS if script.name.startswith(given.only)]
    faults: tuple[Fault, ...] = (given.fault,) if given.fault else get_args(Fault)
    total, broken, longest = 0, 0, 0.0
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        jobs = [
            pool.submit(play, script.name, api, fault, given.every)
            for fault in faults
            for script in chosen
            for api in _apis(script, fault)
        ]
        for job in as_completed(jobs):
            played = job.result()
            print(f"{played.name}: {played.tried} of {played.points} points{played.pace}", flush=True)
            for problem in played.problems:
                print(f"    {problem}", flush=True)
            total, broken = total + played.tried, broken + len(played.problems)
            if played.pace:
                longest = max(longest, played.seconds)
    print(
        f"{len(chosen)} scripts, {total:,} points tried, {broken} broken, every stop within {longest:.2f} s"
    )
    return int(broken > 0)


def _apis(script: WaitScript, fault: Fault) -> tuple[Api, ...]:
    """On which APIs a script is played: a disk and a reader know nothing of them."""
    apis: tuple[Api, ...] = get_args(Api)
    return apis if fault in ("stop", "server") else (apis[SCRIPTS.index(script) % len(apis)],)


def play(name: str, api: Api, fault: Fault, every: int) -> Played:
    """One script with a fault at every so many points."""
    [script] = [each for each in SCRIPTS if each.name == name]
    with tempfile.TemporaryDirectory() as folder:
        points = asyncio.run(count_points(script, api, Path(folder), fault))
    tried = range(1, points + 1, every)
    played = Played(name, fault, api, points, len(tried))
    for point in tried:
        found = _tried(script, api, point, fault)
        played.problems += [f"at {point}: {each}" for each in found]
        played.seconds = max(played.seconds, found.seconds)
    return played


def _tried(script: WaitScript, api: Api, point: int, fault: Fault) -> Findings:
    with tempfile.TemporaryDirectory() as folder:
        try:
            return asyncio.run(broken_at(script, api, Path(folder), point, fault))
        except Exception as error:
            return Findings([f"{type(error).__name__}: {error}"])


if __name__ == "__main__":
    raise SystemExit(main())
