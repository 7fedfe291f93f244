"""The long crash campaign: `python -m tests.campaigns.crash [DEATHS]`.

Prints what was killed and what was lost.
"""

from __future__ import annotations

import asyncio
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

from tests.campaigns.crash.campaign import Campaign, Count, nursery
from tests.campaigns.crash.model import Model


def campaigns(deaths: int) -> dict[str, Callable[[Campaign], Awaitable[None]]]:
    """All of them, by name. `deaths` is the number of kills at random moments."""
    return {
        "journal, at every write": lambda each: each.every_write("journal", turns=6),
        "session, at every write": lambda each: each.every_write("session", turns=8),
        "session gone on with, at every write": lambda each: each.every_write("session", turns=5, died=40),
        "upkeep, at random": lambda each: each.at_random("upkeep", deaths=deaths, turns=60, seconds=0.2),
        "journal, at random": lambda each: each.at_random("journal", deaths=deaths, turns=60, seconds=0.2),
        "session, at random": lambda each: each.at_random("session", deaths=deaths, turns=12, seconds=0.8),
    }


async def main(deaths: int) -> int:
    """Run all campaigns and print a table; gives the exit code."""
    print(f"{'':<38}{'lives':>8}{'killed':>8}{'opened':>8}{'saved':>10}{'problems':>10}{'seconds':>9}")
    has_problems = False
    with tempfile.TemporaryDirectory() as folder:
        async with nursery() as place, Model() as model:
            for name, deed in campaigns(deaths).items():
                campaign = Campaign(Path(folder) / "campaign", place, model)
                began = time.monotonic()
                await deed(campaign)
                _print(name, campaign.count, time.monotonic() - began)
                has_problems = has_problems or bool(campaign.count.problems)
    return int(has_problems)


def _print(name: str, count: Count, seconds: float) -> None:
    problems = count.problems.total()
    numbers = f"{count.lives:>8,}{count.killed:>8,}{count.opened:>8,}{count.saved:>10,}{problems:>10,}"
    print(f"{name:<38}{numbers}{seconds:>9,.0f}", flush=True)
    for problem, times in count.problems.most_common():
        print(f"    {times} x {problem}")


if __name__ == "__main__":
    sys.exit(asyncio.run(main(int(sys.argv[1]) if len(sys.argv) > 1 else 1000)))
