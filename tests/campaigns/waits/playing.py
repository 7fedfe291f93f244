"""Plays a script with a fault at a point at which it waits, and checks what docs/turn.md promises."""

from __future__ import annotations

import asyncio
import resource
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from keen_tui.demo.script import HttpAnswer, NoAnswer
from keen_tui.domain.choices import Api
from keen_tui.domain.events import (
    CompactionStarted,
    EndEvent,
    ShellFinished,
    ShellStarted,
    ToolFinished,
    ToolStarted,
    TurnDone,
    TurnStarted,
    TurnUndone,
)
from tests.campaigns.waits.scripts import WaitScript
from tests.campaigns.waits.stage import Fault, Stage
from tests.support.processes import processes_in
from tests.support.saving import SavedBench
from tests.support.suspensions import Suspensions
from tests.support.waiting import until, until_idle
from tests.support.wire import assert_valid

MOST_RETRIES: Final = 5


class Findings(list[str]):
    """What doesn't hold. `seconds`: how long what ran went on after the fault."""

    seconds = 0.0


async def count_points(script: WaitScript, api: Api, folder: Path, fault: Fault = "stop") -> int:
    """At how many points the script waits if nothing happens there."""
    suspensions = Suspensions()
    async with Stage(script, api, folder, fault).opened() as stage, stage.program() as bench:
        await stage.play(bench, suspensions)
        stage.lose_reader()
    return suspensions.count


async def broken_at(
    script: WaitScript, api: Api, folder: Path, point: int, fault: Fault = "stop"
) -> Findings:
    """What doesn't hold with the fault at that point: after it, when the script is played to its end, and
    when another program opens the session."""
    findings = Findings()
    async with Stage(script, api, folder, fault).opened() as stage:
        async with stage.program() as bench:
            strike = _Strike(stage, bench)
            await stage.play(bench, Suspensions(point, strike))
            await strike.over()
            stage.lose_reader()
            findings.seconds = strike.seconds
            findings += _broken(stage, bench, strike)
            if fault != "reader":
                findings += await _played_to_end(bench)
            said = bench.session.conversation
        session_id = bench.history.session_id
        if bench.file.exists():
            async with stage.program(session_id) as again:
                if again.session.conversation != said:
                    findings.append(f"opened again, it has {again.session.conversation}, not {said}")
                findings += await _played_to_end(again)
        elif said:
            findings.append(f"nothing was saved of {said}")
        assert_valid(stage.server.requests)
        findings += _ran_twice(stage)
    findings += (f"a process is left: {name}" for name in processes_in(folder))
    return findings


class _Strike:
    """Does the fault when it is called. `asked`: the requests up to then, -1 if it wasn't called."""

    def __init__(self, stage: Stage, bench: SavedBench) -> None:
        self.asked = -1
        self.seconds = 0.0
        self._stage = stage
        self._bench = bench
        self._jobs: list[asyncio.Future[None]] = []
        self._is_over = False

    def __call__(self) -> None:
        if self._is_over:
            return  # the script has been played: what waits belongs to the end of the program
        session, server = self._bench.session, self._bench.server
        self.asked = len(server.requests)
        match self._stage.fault:
            case "stop":
                for _ in "12":
                    if not (self._stage.driver and self._stage.driver.stop()):
                        session.stop()
            case "server" if server.open_streams:
                server.break_off()
            case "server":
                self._stage.failing = HttpAnswer(500, {"error": {}}) if self.asked % 2 else NoAnswer("reset")
            case "disk":
                _fill_disk()
            case "reader":
                self._stage.lose_reader()
                if not self._stage.is_headless:
                    self._jobs.append(asyncio.ensure_future(session.close()))
        self._jobs.append(asyncio.ensure_future(self._wait_for_end(time.monotonic())))

    async def over(self) -> None:
        """Wait for what the fault began, and end it. From now on it doesn't come any more."""
        self._is_over = True
        await asyncio.gather(*self._jobs)

    async def _wait_for_end(self, began: float) -> None:
        if self._stage.fault == "disk":
            await asyncio.sleep(_FULL_SECONDS)
        await until(lambda: not self._bench.session.running)
        self.seconds = time.monotonic() - began
        if self._stage.fault == "disk":
            _make_room()


_FULL_SECONDS: Final = 0.05
"""The disk is full for at least so long."""


def _fill_disk() -> None:
    """No file can grow any more, neither by this process nor by those that it starts."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, resource.getrlimit(resource.RLIMIT_FSIZE)[1]))


def _make_room() -> None:
    most = resource.getrlimit(resource.RLIMIT_FSIZE)[1]
    resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))


async def _played_to_end(bench: SavedBench) -> list[str]:
    """Retry until the newest turn is done."""
    for _ in range(MOST_RETRIES):
        if not bench.session.state.open.is_unanswered:
            return []
        await bench.retry()
        await until_idle(bench.session)
    return [f"it doesn't get done: {bench.log.ends[-1]}"]


def _broken(stage: Stage, bench: SavedBench, strike: _Strike) -> Iterator[str]:
    """What doesn't hold right after the fault."""
    log = bench.log
    if len(log.ends) != len(log.of(TurnStarted)):
        yield f"{len(log.of(TurnStarted))} turns have {len(log.ends)} ends"
    started = [event.id for event in log.of(ToolStarted)]
    finished = [event.id for event in log.of(ToolFinished)]
    if started != finished:
        yield f"calls that began: {started}, that ended: {finished}"
    if len(log.of(ShellStarted)) != len(log.of(ShellFinished)):
        yield "a command of the user began and didn't end, or ended twice"
    if len(log.of(CompactionStarted)) != len(log.compactions):
        yield "a summary began and didn't end, or ended twice"
    if strike.asked >= 0 and log.ends and not _fits(log.ends[-1], stage):
        yield f"it ended as {log.ends[-1]}"
    most = strike.asked + 1 + len(stage.script.tasks)
    if stage.fault in ("stop", "reader") and strike.asked >= 0 and len(bench.server.requests) > most:
        yield "the model was asked again"
    written = any(each.name == "write_file" and not each.result.is_error for each in log.of(ToolFinished))
    undone = bool(log.of(TurnUndone))
    if stage.script.undoes and (stage.work / "made.py").exists() != (written and not undone):
        yield f"the file was {written=} and {undone=}, but it says otherwise"


def _fits(end: EndEvent, stage: Stage) -> bool:
    """Whether a turn may end so. In a run it may be over when the fault comes, by a failure of the script."""
    if isinstance(end, TurnDone) or end.reason == "interrupted":
        return True
    fails = stage.fault in ("server", "disk") or (stage.script.check and stage.script.fails)
    return bool(fails) and end.reason != "internal"


def _ran_twice(stage: Stage) -> Iterator[str]:
    counter = stage.work / "counter"
    ran = counter.read_text().split() if counter.exists() else []
    done = [
        str(event.arguments["command"])
        for event in stage.finished
        if event.name == "bash" and event.result.outcome == "done" and isinstance(event.arguments, dict)
    ]
    for name in "abc":
        results = sum(f"echo {name} >> counter" in command for command in done)
        if results > 1:
            yield f"{name} has {results} results"
        if results > ran.count(name):
            yield f"{name} has a result and didn't run"
