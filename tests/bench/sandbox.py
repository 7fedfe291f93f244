"""The cost of a sandbox for a command, in CPU time and in elapsed time."""

from __future__ import annotations

import asyncio
import os
import resource
import socket
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import partial
from pathlib import Path

from keen_tui.system.child_environment import child_environment
from keen_tui.system.executables import find_program
from keen_tui.tools.network.socket_handover import handed_out, handover, proxy_environment
from keen_tui.tools.quarantine.new_entries import NewEntryFinder
from keen_tui.tools.sandbox.base import Argv, Launch, Sandbox, Terms
from keen_tui.tools.sandbox.bubblewrap import Bubblewrap
from keen_tui.tools.sandbox.landlock import Landlock
from keen_tui.tools.sandbox.landlock_rules import landlock_version
from keen_tui.tools.sandbox.noted_entries import noted_entries
from keen_tui.tools.sandbox.policy import Policy, policy_for
from keen_tui.tools.sandbox.probe import bundled_bubblewrap, problem_of, started
from tests.bench import git_shadow
from tests.bench.table import Row

ROUNDS = 60
WARM = 5
BUILDS = 3
FILES = 3_000
FOLDERS = 500
ARGV = ("/bin/sh", "-c", ":")


def rows() -> Iterator[Row]:
    """Commands that do nothing, alternately with and without each sandbox that works here."""
    yield from git_shadow.rows()
    with tempfile.TemporaryDirectory(dir=Path.home()) as folder:
        work = Path(folder, "work")
        work.mkdir()
        yield _looking(Path(folder, "many"))
        environ = child_environment(os.environ)
        policy = policy_for(work, Path(folder), (), environ)
        plain = partial(_plain, ARGV, environ)
        for sandbox in _working(policy):
            inside = partial(sandbox.wrap, ARGV, environ)
            yield from _compared(sandbox.name, plain, inside, work)
            yield from _building(sandbox, environ, work)
            if sandbox.has_own_network:
                with_proxy = partial(_with_listener, sandbox, environ)
                yield from _compared(f"{sandbox.name} with a proxy", plain, with_proxy, work, budget=25.0)


def _looking(folder: Path) -> Row:
    """The search for new files before and after a command, besides the sandbox's own walk."""
    for number in range(FOLDERS):
        (folder / f"{number % 20}" / f"{number}").mkdir(parents=True)
    entries = noted_entries(folder)
    look, spent = NewEntryFinder(folder, entries), []
    for number in range(ROUNDS):
        (folder / "0" / f"made{number}").touch()
        entries.look()  # like the sandbox before each command
        begin = time.process_time()
        look.new(look.before("everything"), "everything")
        spent.append(time.process_time() - begin)
    what = f"sandbox: looks for new files in {FOLDERS:,} folders, processor time"
    return Row(what=what, value=statistics.median(spent) * 1000, unit="ms", budget=10.0)


def _plain(argv: Argv, environ: Mapping[str, str]) -> AbstractContextManager[Launch]:
    return nullcontext(Launch(argv=argv, environ=environ))


@contextmanager
def _with_listener(sandbox: Sandbox, environ: Mapping[str, str]) -> Iterator[Launch]:
    """A command whose network passes out its listener."""
    with handover() as (ours, theirs):
        with sandbox.wrap(ARGV, {**environ, **proxy_environment()}, Terms(listener_to=theirs)) as launch:
            yield launch
        asyncio.run(_taken(ours))


async def _taken(ours: socket.socket) -> None:
    (await handed_out(ours)).close()


def _building(sandbox: Sandbox, environ: Mapping[str, str], folder: Path) -> Iterator[Row]:
    """A build that creates files in the workspace's own folder, each with a separate process."""
    argv = (
        "/bin/sh",
        "-c",
        f"i=0; while [ $i -lt {FILES} ]; do i=$((i + 1)); sed s/a/b/ source > made$i; done",
    )
    (folder / "source").write_text("a\n")
    spent: dict[str, list[tuple[float, float]]] = {"plain": [], "inside": []}
    for _ in range(BUILDS):
        for kind in spent:
            launch = partial(sandbox.wrap if kind == "inside" else _plain, argv, environ)
            spent[kind].append(_cost(launch, folder))
            for made in folder.glob("made*"):
                made.unlink()
    for place, what, unit in ((0, "processor time", "s CPU"), (1, "time that passes", "s")):
        if place == 0 and isinstance(sandbox, Bubblewrap):
            continue  # it doesn't count the time of the processes in it
        inside, plain = (
            statistics.median(each[place] for each in spent[kind]) for kind in ("inside", "plain")
        )
        yield Row(
            what=f"sandbox: {sandbox.name}, a build of {FILES:,} files, {what}",
            value=inside,
            unit=unit,
            reference=plain,
            against="without",
            budget=1.5,
        )


def _working(policy: Policy) -> Iterator[Sandbox]:
    program = find_program("bwrap") or bundled_bubblewrap()
    found: list[Sandbox] = [Bubblewrap(program, policy)] if program else []
    found += [Landlock(policy)] if landlock_version() else []
    return (sandbox for sandbox in found if not problem_of(sandbox, policy, os.environ))


def _compared(
    name: str,
    plain: Callable[[], AbstractContextManager[Launch]],
    inside: Callable[[], AbstractContextManager[Launch]],
    folder: Path,
    budget: float = 10.0,
) -> Iterator[Row]:
    costs: dict[str, list[tuple[float, float]]] = {"plain": [], "inside": []}
    for turn in range(ROUNDS + WARM):
        for kind, launch in (("plain", plain), ("inside", inside)):
            cost = _cost(launch, folder)
            if turn >= WARM:
                costs[kind].append(cost)
    for place, what, most in ((0, "processor time", budget), (1, "time that passes", None)):
        value, reference = (
            statistics.median(each[place] for each in costs[kind]) * 1000 for kind in ("inside", "plain")
        )
        yield Row(
            what=f"sandbox: {name}, {what} added to a command",
            value=value - reference,
            unit="ms",
            budget=most,
        )


def _cost(launch: Callable[[], AbstractContextManager[Launch]], folder: Path) -> tuple[float, float]:
    """CPU seconds, of this process and of every process that ended meanwhile, and elapsed seconds."""
    before, begin = _spent(), time.perf_counter()
    with launch() as each:
        ended: subprocess.CompletedProcess[bytes] = started(each, folder, patience=300)
    assert ended.returncode == 0, ended.stderr
    return _spent() - before, time.perf_counter() - begin


def _spent() -> float:
    spent = [resource.getrusage(whose) for whose in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(each.ru_utime + each.ru_stime for each in spent)
