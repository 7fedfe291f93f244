"""One run of a task under one policy: a fresh copy, a session of its own, all prompts, then the check."""

from __future__ import annotations

import asyncio
import shutil
import time
from collections.abc import Callable, Mapping
from pathlib import Path

from msgspec import Struct

from keen_tui.agent.session import Session
from keen_tui.agent.turn.audience import NO_AUDIENCE
from keen_tui.domain.choices import PolicyName
from keen_tui.domain.errors import EndReason
from keen_tui.domain.events import EndEvent, Event, TurnDone, TurnError, TurnIncomplete
from keen_tui.evaluation.check import CheckResult, run_check
from keen_tui.evaluation.figures import RunResult, RunTally
from keen_tui.evaluation.tasks import EvalTask
from keen_tui.frontends.headless.printer import is_without_answer
from keen_tui.frontends.headless.run import require_sandbox
from keen_tui.frontends.headless.sentences import NO_REPLY
from keen_tui.providers.catalog.choice import ModelChoice
from keen_tui.providers.registry import build_provider
from keen_tui.settings.schema import Settings
from keen_tui.storage.lookup.sessions import SessionStore
from keen_tui.wiring.parts import key_variables
from keen_tui.wiring.sessions import SessionProgram, build_saved_session

WORKSPACE = "work"
SESSIONS = "data"


class RunSetup(Struct, frozen=True, kw_only=True):
    """What all runs have in common. `on_event` gets each event of a turn."""

    settings: Settings
    choice: ModelChoice
    environ: Mapping[str, str]
    on_event: Callable[[Event], None]


class TaskRun:
    """A run of a task in `folder`, which must be empty: the copy of the files goes into `work` there, the
    session file below `data`. `reason` is why a turn of it ended early, None if none did."""

    def __init__(
        self, task: EvalTask, policy: PolicyName, number: int, folder: Path, setup: RunSetup
    ) -> None:
        self.task = task
        self.policy = policy
        self.reason: EndReason | None = None
        self._number = number
        self._folder = folder
        self._workspace = folder / WORKSPACE
        self._setup = setup
        self._tally = RunTally(self._workspace)
        self._session: Session | None = None
        self._check: asyncio.Task[CheckResult] | None = None
        self._is_stopped = False

    def stop(self) -> None:
        """Stop the turn or the check that runs; `run` returns None soon after."""
        self._is_stopped = True
        if self._session:
            self._session.stop()
        if self._check:
            self._check.cancel()

    async def run(self) -> RunResult | None:
        """Run it to its end; None if it was stopped.

        Raises:
            ConfigError: mode auto has no sandbox.
            StorageFailed: the session can't be saved.
        """
        began = time.monotonic()
        turns, problem = 0, await asyncio.to_thread(self._copy)
        if not problem:
            turns, problem = await self._converse()
        seconds = time.monotonic() - began
        check = None if problem or self._is_stopped else await self._checked()
        if self._is_stopped:
            return None
        return RunResult(
            task=self.task.name,
            policy=self.policy,
            number=self._number,
            problem=check.problem if check else problem,
            figures=self._tally.figures,
            turns=turns,
            seconds=seconds,
            check_code=check.code if check else None,
            output=check.output if check else "",
        )

    def _copy(self) -> str:
        """Copy the files to begin with. Gives a sentence if that can't be done."""
        try:
            shutil.copytree(self.task.start, self._workspace, symlinks=True)
        except (OSError, shutil.Error) as error:
            return f"The files in {self.task.start} can't be copied: {error}."
        return ""

    async def _converse(self) -> tuple[int, str]:
        """Send one prompt after the other. Gives the number of turns that were begun, and why the last one
        isn't done, "" if it is."""
        setup = self._setup
        settings = setup.settings._replace(memory_policy=self.policy)
        session, history, _ = build_saved_session(
            settings,
            self._workspace,
            build_provider(
                setup.choice.model.api,
                setup.choice.connection(settings.stall_seconds, searches=settings.web_search),
            ),
            setup.choice.model,
            SessionStore(self._folder / SESSIONS),
            setup.environ,
            SessionProgram(audience=NO_AUDIENCE),
        )
        self._session = session
        turns, problem = 0, ""
        try:
            await require_sandbox(session)
            await history.begin()
            for prompt in self.task.prompts:
                if problem or self._is_stopped:
                    break
                turns += 1
                problem = self._problem_of(await self._turn(session, prompt), turns)
        finally:
            self._session = None
            await session.close()
            unsaved = await history.close()
        return turns, problem or unsaved

    async def _turn(self, session: Session, prompt: str) -> EndEvent:
        reader = session.bus.subscribe()
        try:
            session.submit(prompt)
            async for batch in reader:
                for event in batch:
                    self._tally.add(event)
                    self._setup.on_event(event)
                    if isinstance(event, TurnDone | TurnIncomplete | TurnError):
                        return event
        finally:
            reader.close()
        raise AssertionError("a turn always has an end event")

    def _problem_of(self, end: EndEvent, turn: int) -> str:
        if isinstance(end, TurnDone):
            return f"Turn {turn}: {NO_REPLY}" if is_without_answer(end) else ""
        self.reason = end.reason
        return f"Turn {turn} isn't done: {end.detail}"

    async def _checked(self) -> CheckResult | None:
        names = key_variables(self._setup.settings, self._setup.environ)
        self._check = asyncio.create_task(run_check(self.task, self._workspace, names))
        try:
            return await self._check
        except asyncio.CancelledError:
            if not self._is_stopped:
                raise
            return None
        finally:
            self._check = None
