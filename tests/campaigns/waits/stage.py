"""Where a script is played: a folder, a scripted server, and one program after another."""

from __future__ import annotations

import asyncio
import fcntl
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Final, Literal
from unittest import mock

from msgspec.structs import replace

from keen_tui.agent.until.driver import RunDriver
from keen_tui.demo.model_server import ModelServer
from keen_tui.demo.script import Answer, RecordedRequest
from keen_tui.domain.choices import Api
from keen_tui.domain.errors import OutputFailed, SessionRefused
from keen_tui.domain.events import ApprovalRequested, QuestionAsked, RunEnded, ToolFinished
from keen_tui.domain.runs import RunLimits
from keen_tui.frontends.headless.run import run_prompt
from keen_tui.frontends.headless.until import WantedRun, run_until
from keen_tui.tools.sandbox import trial
from tests.campaigns.waits.scripts import MESSAGE, WaitScript, prepare
from tests.support.mcp import talkative
from tests.support.runs import SkippingClock, driven
from tests.support.saving import SavedBench
from tests.support.sub_agents import with_agents
from tests.support.suspensions import Suspensions
from tests.support.waiting import until_idle

Fault = Literal["stop", "server", "disk", "reader"]
"""What happens at a point: the user stops, twice; the server of the model breaks off what it sends, or fails
at the next request; no file can grow any more until the turn has ended; the reader of what the program
prints goes away, or the screen is closed."""

_PIPE_BYTES: Final = 1 << 20
"""More than any script prints: nobody reads the pipe."""


class Stage:
    """One script with one fault. `finished` are the calls of all its programs, `failing` is the answer to the
    next request if the server is to fail then, `driver` drives the run if there is one. `is_left`: the reader
    of the first program has gone."""

    def __init__(self, script: WaitScript, api: Api, folder: Path, fault: Fault) -> None:
        self.script = script
        self.fault = fault
        self.folder = folder
        self.work = folder / "work"
        self.finished: list[ToolFinished] = []
        self.failing: Answer | None = None
        self.driver: RunDriver | None = None
        self.is_left = False
        self.server = ModelServer(self._answer)
        self._api = api
        self._failed: list[Answer] = []
        self._reader = -1

    @asynccontextmanager
    async def opened(self) -> AsyncIterator[Stage]:
        """Its files are there and the server runs. What would be the user's is in the folder."""
        self.work.mkdir(parents=True)
        prepare(self.script, self.work)
        patience = mock.patch.object(trial, "PATIENCE", 0.05)
        with mock.patch.dict(os.environ, self._environ), patience:
            async with self.server:
                yield self

    @property
    def is_headless(self) -> bool:
        """Whether the first program has no screen, but a pipe for what it prints."""
        return self.fault == "reader" and self.script.is_one_message

    @property
    def _environ(self) -> dict[str, str]:
        return {"KEEN_HOME": str(self.folder / "home"), "XDG_DATA_HOME": "", "HOME": str(self.folder)}

    @asynccontextmanager
    async def program(self, opening: str = "") -> AsyncIterator[SavedBench]:
        """A program with the session `opening`, "" for a new one."""
        async with with_agents(
            self.folder,
            self.server,
            self._api,
            self._environ,
            opening=opening,
            begins=bool(opening) or not self.is_headless,
            mode=self.script.mode,
            durable=True,
            hooks=self.script.hooks,
            servers=[talkative()] if self.script.server else [],
            sandbox=self.script.sandbox,
        ) as bench:
            opened = bench.session.state.open
            options = replace(opened.setup.options, retries=self.script.retries)
            opened.setup = replace(opened.setup, options=options)
            restored = len(bench.log.of(ToolFinished))
            answering = asyncio.create_task(_answer_questions(bench, allows=self.script.allows))
            try:
                yield bench
                await bench.log.caught_up()
            finally:
                answering.cancel()
                self.finished += bench.log.of(ToolFinished)[restored:]

    async def play(self, bench: SavedBench, suspensions: Suspensions) -> None:
        """Play the script in its first program, up to what comes of the fault."""
        playing = self._print if self.is_headless else self._show
        with suspensions.watching():
            await asyncio.create_task(playing(bench))
        await bench.log.caught_up()

    async def _show(self, bench: SavedBench) -> None:
        """As the screen does it."""
        session, script = bench.session, self.script
        if script.command:
            session.run_own(script.command)
        elif script.check:
            async with driven(session, bench) as self.driver:
                self.driver.begin(script.check, RunLimits(), MESSAGE)
                await bench.log.wait_for(RunEnded)
        else:
            session.submit(MESSAGE)
        if script.queued:
            (session.steer if script.steers else session.submit)(script.queued)
        await until_idle(session)
        if self.is_left:
            return
        with suppress(SessionRefused):  # nothing was answered
            if script.compacts:
                session.compact()
                await until_idle(session)
            if script.undoes:
                await bench.changes.undo(-1)

    async def _print(self, bench: SavedBench) -> None:
        """As the program does it without a screen."""
        self._reader, writer = os.pipe()
        fcntl.fcntl(writer, fcntl.F_SETPIPE_SZ, _PIPE_BYTES)
        session, history = bench.session, bench.history
        with suppress(OutputFailed, BrokenPipeError), os.fdopen(writer, "w") as out:
            if self.script.check:
                wanted, clock = WantedRun(check=self.script.check), SkippingClock()
                await run_until(session, MESSAGE, wanted, "stream-json", out, None, history, clock=clock)
            else:
                await run_prompt(session, MESSAGE, "stream-json", out, None, history)

    def lose_reader(self) -> None:
        """Nobody reads the pipe any more, or the screen is closed."""
        self.is_left = True
        if self._reader >= 0:
            os.close(self._reader)
            self._reader = -1

    def _answer(self, request: RecordedRequest) -> Answer:
        failing, self.failing = self.failing, None
        return failing or self.script.answer(request, self._failed)


async def _answer_questions(bench: SavedBench, *, allows: bool) -> None:
    """Answer every question at once."""
    answered = 0
    while True:
        await bench.log.wait_for_more(answered)
        for event in bench.log.events[answered:]:
            with suppress(SessionRefused):  # it was withdrawn by then
                if isinstance(event, ApprovalRequested):
                    bench.session.answer(event.id, allow=allows)
                elif isinstance(event, QuestionAsked):
                    bench.session.reply(event.id, 0)
            answered += 1
