"""kill -9 of the program while a command in the background is in each of its states: nothing is left once the
next start has its answer."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from keen_tui.demo.model_server import ModelServer
from keen_tui.demo.script import Answer, Call, Reply, Say
from tests.e2e.test_screen import program
from tests.support.processes import called_with
from tests.support.program import Program
from tests.support.waiting import until


def start(command: str) -> Call:
    return Call("bash", {"command": command, "background": True})


def script(state: str, name: str) -> list[Answer]:
    """Turns in which a command comes to the state; its processes sleep for `name` seconds."""
    strays = f"setsid sleep {name} & env -i setsid sleep {name} &"
    stubborn = f"trap 'touch stopping' TERM; {strays} touch begun; while :; do sleep 0.05; done"
    serves = f"{strays} touch begun; sleep {name}"
    waits = Call("bash", {"command": f"touch waits; exec sleep {name}"})
    steps: dict[str, list[Call]] = {
        "first second": [start(serves)],
        "running": [start(serves), waits],
        "stopping": [start(stubborn), Call("task_stop", {"id": "t1"})],
        "ended": [start(f"{strays} touch begun; while ! test -e waits; do sleep 0.05; done"), waits],
    }
    return [*(Reply([call]) for call in steps[state]), *[Reply([Say("Ok.")])] * 3]


REACHED = {"first second": "begun", "running": "waits", "stopping": "stopping", "ended": "waits"}
"""The file that says that a command is in that state."""


@pytest.mark.parametrize("with_watcher", [False, True], ids=["killed", "killed with its watcher"])
@pytest.mark.parametrize("state", list(REACHED))
async def test_nothing_is_left(tmp_path: Path, state: str, with_watcher: bool) -> None:
    name = f"600.{os.getpid()}{tmp_path.stat().st_ino}"
    async with ModelServer(script(state, name)) as server:
        at = Program(tmp_path)
        flags = ("--base-url", server.base_url, "--model", "m", "--mode", "auto", "--no-sandbox")
        process = await at.start(*flags, "-p", "go")
        try:
            await until((at.workspace / REACHED[state]).exists)
            if with_watcher:
                _kill_watcher_of(process.pid)
            process.kill()
            await process.wait()
            if with_watcher and called_with(f"sleep {name}"):
                _answer_yes(tmp_path)
            await until(lambda: not called_with(f"sleep {name}"))
        finally:
            for pid in called_with(f"sleep {name}"):
                os.kill(pid, signal.SIGKILL)
            if process.returncode is None:
                process.kill()
            await process.communicate()


def _kill_watcher_of(program_pid: int) -> None:
    for pid in called_with("orphans/watcher.py"):
        try:
            parent = int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
        except OSError:
            continue
        if parent == program_pid:
            os.kill(pid, signal.SIGKILL)


def _answer_yes(folder: Path) -> None:
    with program(folder, []) as (terminal, _):
        terminal.wait_for("[y/N] ")
        terminal.settle(0.5)  # what is typed right away counts as typed before
        terminal.type("y\r")
        terminal.wait_for("Ended.")
