"""Lives and deaths, one after the other, and what is checked after each."""

from __future__ import annotations

import asyncio
import json
import random
import shutil
import sys
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from tests.campaigns.crash.checking import Account, assert_goes_on, assert_saved, assert_upkept
from tests.campaigns.crash.model import Model
from tests.support.waiting import LIMIT


@dataclass(slots=True)
class Count:
    """What happened in a campaign. `problems` says in a sentence what was lost or wrong."""

    lives: int = 0
    killed: int = 0
    opened: int = 0
    saved: int = 0
    problems: Counter[str] = field(default_factory=Counter)


class Nursery:
    """The process that forks lives."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process

    async def live(self, job: dict[str, Any]) -> tuple[Account, bool]:
        """One life; gives what it said to be saved, and whether it was killed."""
        assert self._process.stdin and self._process.stdout
        self._process.stdin.write(json.dumps(job).encode() + b"\n")
        account = Account()
        while True:
            async with asyncio.timeout(2 * LIMIT):
                line = await self._process.stdout.readline()
            assert line, "the nursery has died"
            try:
                words = json.loads(line)
            except ValueError:
                continue  # cut off by death
            if "killed" in words:
                assert words["killed"] or words["code"] == 0, "a life ended by a bug"
                return account, words["killed"]
            account.take(words)


@asynccontextmanager
async def nursery() -> AsyncIterator[Nursery]:
    """A nursery, ended at the end."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "tests.campaigns.crash.nursery",
        stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, limit=1 << 24,
    )  # fmt: skip
    try:
        yield Nursery(process)
    finally:
        assert process.stdin
        process.stdin.close()
        await process.wait()


@dataclass(frozen=True, slots=True)
class _Life:
    """A life that ends at the `point`-th point of death, or after so many seconds; 0: not by that."""

    seed: int
    point: int = 0
    seconds: float = 0.0


class Campaign:
    """Kills programs in `folder`, each time in an empty home, and counts."""

    def __init__(self, folder: Path, place: Nursery, model: Model) -> None:
        self.count = Count()
        self._folder = folder
        self._nursery = place
        self._model = model

    async def every_write(self, life: str, *, turns: int, every: int = 1, died: int = 0) -> None:
        """Die at the first point, at the second, and so on, until a life outlasts all of them.

        `died` is the point at which an earlier life has ended, so that this one finds its remains.
        """
        earlier = [_Life(seed=1, point=died)] if died else []
        point = 1
        while await self._lives(life, turns, [*earlier, _Life(seed=2, point=point)]):
            point += every

    async def at_random(self, life: str, *, deaths: int, turns: int, seconds: float, seed: int = 1) -> None:
        """Die at random moments within so many seconds, up to three times in one home."""
        choose = random.Random(seed)
        while self.count.killed < deaths:
            lives = [
                _Life(seed=choose.randrange(1 << 30), seconds=choose.uniform(0.001, seconds))
                for _ in range(choose.choice([1, 2, 3]) if life == "session" else 1)
            ]
            await self._lives(life, turns, lives)

    async def _lives(self, life: str, turns: int, lives: Sequence[_Life]) -> bool:
        """Lives one after the other in one home; gives whether the last one was killed."""
        home, workspace = self._folder / "home", self._folder / "work"
        for folder in (home, workspace):
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir(parents=True)
        (workspace / "counter").touch()
        killed = False
        for each in lives:
            job = {
                "life": life, "home": str(home), "workspace": str(workspace), "turns": turns,
                "base_url": self._model.base_url, **asdict(each),
            }  # fmt: skip
            account, killed = await self._nursery.live(job)
            self.count.lives += 1
            self.count.killed += killed
            self.count.saved += len(account.saved)
            try:
                self.count.opened += await self._checked(life, home, workspace, account)
            except Exception as problem:
                self.count.problems[f"{type(problem).__name__}: {problem}"[:200]] += 1
                shutil.copytree(self._folder, f"{self._folder}-problem-{self.count.lives}")
        return killed

    async def _checked(self, life: str, home: Path, workspace: Path, account: Account) -> bool:
        if life == "journal":
            return bool(assert_saved(home / "s.jsonl", account.saved))
        if life == "upkeep":
            return assert_upkept(home, account)
        goes_on = await assert_goes_on(home, workspace, self._model, account)
        self._model.assert_accepted()
        return goes_on
