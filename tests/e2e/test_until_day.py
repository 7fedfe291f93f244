"""A working day of a run: thirty turns of the real program, with resets, limits, a server that goes silent, a
full disk and five kills. Each side effect happens once, and the report adds up."""

from __future__ import annotations

import asyncio
import json
import resource
import signal
from collections import Counter
from pathlib import Path
from typing import Any

from keen_tui.demo.model_server import ModelServer
from keen_tui.demo.script import Answer, Break, Call, HttpAnswer, NoAnswer, RecordedRequest, Reply, Say
from keen_tui.demo.wires import seen
from tests.support.program import Program
from tests.support.waiting import LIMIT, until

TURNS = 30
CHECK = f"echo once >> checks; if test -e hold; then sleep 600; fi; test $(wc -l < done) -ge {TURNS}"
CUT = Reply([Say("Half of a sentence that is")], broken=Break("reset"))
LIMITED = HttpAnswer(429, {"error": {"message": "limit reached"}}, {"retry-after": "1"})
LONGER = HttpAnswer(429, {"error": {"message": "limit reached"}}, {"retry-after": "4"})


class Model:
    """Does one piece of the work in each turn: a call that writes a line, then a reply. `faults` are the
    answers before that reply, by turn; `commands` are calls that do more than write the line."""

    def __init__(self) -> None:
        self.faults: dict[int, list[Answer]] = {
            2: [CUT],
            4: [NoAnswer("stall")],
            6: [LIMITED, LIMITED],
            11: [NoAnswer("reset")],
            13: [NoAnswer("stall"), NoAnswer("stall")],
            17: [CUT],
            20: [LONGER, LONGER],
            28: [LIMITED, LIMITED],
        }
        self.commands = {9: "echo 9 >> done; sleep 600"}
        self.turn = 0

    def __call__(self, request: RecordedRequest) -> Answer:
        messages = seen(request)
        self.turn = sum(message.role == "user" for message in messages)
        if messages[-1].role == "user":
            command = self.commands.get(self.turn, f"echo {self.turn} >> done")
            return Reply([Call("bash", {"command": command})])
        faults = self.faults.get(self.turn)
        return faults.pop(0) if faults else Reply([Say(f"Piece {self.turn} is done.")])


class Day:
    """The program on this day, which has to be started again now and then. `told` is its standard error."""

    def __init__(self, program: Program, server: ModelServer) -> None:
        self.program = program
        self.told = ""
        self._flags = ("--base-url", server.base_url, "--model", "m", "--mode", "auto", "--until", CHECK)
        self._process: asyncio.subprocess.Process | None = None
        self._reading: asyncio.Task[None] | None = None

    async def start(self, *more: str) -> None:
        self._process = process = await self.program.start(*self._flags, "-p", "do all", *more)
        self._reading = asyncio.create_task(self._read(process))

    async def kill(self) -> None:
        """kill -9, and the same command with --continue."""
        self.process.send_signal(signal.SIGKILL)
        await self.ended()
        await self.start("--continue")

    async def ended(self) -> int | None:
        """The exit code, once it has ended."""
        assert self._reading
        await self._reading
        return await self.process.wait()

    @property
    def process(self) -> asyncio.subprocess.Process:
        assert self._process
        return self._process

    def lines(self, name: str) -> list[str]:
        file = self.program.workspace / name
        return file.read_text().splitlines() if file.exists() else []

    @property
    def file(self) -> Path:
        return next(self.program.home.glob("sessions/*/2*.jsonl"))

    @property
    def events(self) -> list[dict[str, Any]]:
        """All events that are whole in the file."""
        lines = self.file.read_text().splitlines(keepends=True)
        return [json.loads(line) for line in lines if line.endswith("\n")]

    def count(self, type: str) -> int:
        return sum(event["type"] == type for event in self.events)

    async def _read(self, process: asyncio.subprocess.Process) -> None:
        assert process.stderr
        async for line in process.stderr:
            self.told += line.decode()


def limit(pid: int, size: int) -> None:
    """The process can write no file beyond this size, as on a full disk."""
    resource.prlimit(pid, resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))


async def test_a_day_of_thirty_turns(tmp_path: Path) -> None:
    program, model = Program(tmp_path), Model()
    (program.home / "settings.toml").write_text("retry_attempts = 2\nstall_seconds = 1.0\n")
    async with ModelServer(model) as server:
        day = Day(program, server)
        await day.start()

        # 1: while the server is silent
        await until(lambda: model.turn == 4 and not model.faults[4])
        await day.kill()

        # 2: while a call runs
        await until(lambda: "9" in day.lines("done"))
        await day.kill()

        # The disk is full: nothing new begins until the session can be saved.
        await until(lambda: model.turn >= 14)
        limit(day.process.pid, day.file.stat().st_size)
        await until(lambda: "The run waits until the session can be saved" in day.told)
        limit(day.process.pid, resource.RLIM_INFINITY)

        # 3: while the check runs
        (program.workspace / "hold").touch()
        held = len(day.lines("checks"))
        await until(lambda: len(day.lines("checks")) > held)
        (program.workspace / "hold").unlink()
        await day.kill()

        # 4: while it waits for a limit
        waits = day.count("run_waiting")
        await until(lambda: model.turn == 20 and day.count("run_waiting") > waits)
        await day.kill()

        # 5: wherever it is after the call of turn 25
        await until(lambda: "25" in day.lines("done"))
        await day.kill()

        async with asyncio.timeout(LIMIT * 2):
            code = await day.ended()
    assert code == 0, day.told
    assert day.lines("done") == [str(number) for number in range(1, TURNS + 1)], "each piece was done once"

    types = Counter(event["type"] for event in day.events)
    assert types["run_begun"] == types["run_ended"] == 1 and types["run_continued"] == 5
    report = day.events[-1]["report"]
    started = [event for event in day.events if event["type"] == "turn_started"]
    checks = [event for event in day.events if event["type"] == "shell_finished"]
    ended = [check for check in checks if not check["interrupted"]]
    assert report["end"] == "passed"
    assert report["turns"] == TURNS == sum(event["text"] is not None for event in started)
    restarted = [event for event in day.events if event["type"] == "step_restarted" and event["reason"]]
    assert sum(each["count"] for each in report["retries"]) == len(started) - TURNS + len(restarted)
    assert report["checks"] == TURNS == len(ended) and report["failed_checks"] == TURNS - 1
    assert len(day.lines("checks")) == len(checks) == TURNS + 1, "only the check that was cut off ran again"
    waited = sum(event["seconds"] for event in day.events if event["type"] == "run_waited")
    within = sum(event["seconds"] for event in restarted)
    assert 6.0 < waited <= report["waited_seconds"] <= waited + within
    assert report["files_changed"] == ["done"]
