"""Commands in the background that misbehave: none leaves a process, and their output stays in bounds."""

from __future__ import annotations

import os
import shlex
from pathlib import Path

import pytest

from keen_tui.demo.script import Answer, Call, Reply, Say
from keen_tui.tools.background.task_record import MOST_HELD
from keen_tui.tools.builtin import bash
from keen_tui.tools.sandbox.probe import ProbeResult, SandboxFinder
from tests.support.agent import at_work
from tests.support.jail import PYTHON, Jail
from tests.support.processes import called_with
from tests.support.waiting import until

DONE = Reply([Say("Done.")])
BOMB = """\
import os, signal, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
first = os.getpid()
for _ in range(4):
    if os.fork() == 0:
        os.setsid()
print("full", flush=True)
for _ in range(50):
    time.sleep(0.05)
    if os.getpid() != first and os.fork():
        os._exit(0)
time.sleep(600)
"""
"""A bomb with limits: 16 processes, each in a session of its own, which a child replaces again and again."""


@pytest.fixture(params=["no sandbox", "bundled bubblewrap"])
def place(tmp_path: Path, request: pytest.FixtureRequest) -> tuple[Path, SandboxFinder | None]:
    """A folder, and the sandbox of the commands in it."""
    if request.param == "no sandbox":
        return tmp_path, None
    jail = Jail(request.param, tmp_path)
    return jail.workspace, SandboxFinder(lambda: ProbeResult(sandbox=jail.sandbox))


@pytest.fixture
def name(tmp_path: Path) -> str:
    """Seconds for a sleep that is told from all others of this machine."""
    return f"600.{os.getpid()}{tmp_path.stat().st_ino}"


def start(command: str) -> Call:
    return Call("bash", {"command": command, "background": True})


def stop(number: int) -> Call:
    return Call("task_stop", {"id": f"t{number}"})


async def test_fifty_starts_and_stops_leave_nothing(
    place: tuple[Path, SandboxFinder | None], name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bash, "FIRST_LOOK", 0.0)
    folder, sandbox = place
    steps: list[Answer] = [Reply([start(f"sleep {name}"), stop(number)]) for number in range(1, 51)]
    async with at_work([*steps[:1], DONE, *steps[1:], DONE], folder, sandbox=sandbox, max_steps=60) as bench:
        await bench.ask("once")
        before = len(os.listdir("/proc/self/fd"))  # noqa: PTH208
        await bench.ask("and again")
        tasks = bench.session.tasks.all
        assert len(tasks) == 50 and all(task.stopped and not task.running for task in tasks)
        assert not called_with(f"sleep {name}")
        assert len(os.listdir("/proc/self/fd")) <= before + 2  # noqa: PTH208


async def test_a_server_that_floods_is_held_in_bounds_and_ends_at_once(
    place: tuple[Path, SandboxFinder | None], name: str
) -> None:
    folder, sandbox = place
    async with at_work(
        [Reply([start(f"yes flood {name}")]), DONE, Reply([stop(1)]), DONE], folder, sandbox=sandbox
    ) as bench:
        await bench.ask("flood")
        output = bench.session.tasks.find("t1").output
        await until(lambda: output.size > 20_000_000)
        assert len(output.since(0).text) <= MOST_HELD
        await bench.ask("stop")
        assert not called_with(f"yes flood {name}")


@pytest.mark.parametrize("ending", ["stop", "leave"])
async def test_one_that_ignores_the_signal_to_end_is_killed(
    place: tuple[Path, SandboxFinder | None], name: str, ending: str
) -> None:
    folder, sandbox = place
    command = f"trap '' TERM; setsid sleep {name} & echo up; while :; do sleep {name}; done"
    script: list[Answer] = [Reply([start(command)]), DONE, Reply([stop(1)]), DONE]
    async with at_work(script, folder, sandbox=sandbox) as bench:
        await bench.ask("serve")
        await until(lambda: len(called_with(f"sleep {name}")) >= 2)
        if ending == "stop":
            await bench.ask("stop")
            await until(lambda: not called_with(f"sleep {name}"))
    await until(lambda: not called_with(f"sleep {name}"))


async def test_a_bomb_with_a_limit_is_ended_whole(
    place: tuple[Path, SandboxFinder | None], name: str
) -> None:
    folder, sandbox = place
    bomb = f"{PYTHON} -S -c {shlex.quote(BOMB)} {name}"
    async with at_work(
        [Reply([start(bomb)]), DONE, Reply([stop(1)]), DONE], folder, sandbox=sandbox
    ) as bench:
        await bench.ask("go")
        await until(lambda: bench.session.tasks.find("t1").output.since(0).text.count("full") >= 16)
        await bench.ask("stop")
        assert not bench.session.tasks.running
        await until(lambda: not called_with(name))
