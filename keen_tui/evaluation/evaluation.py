"""All runs of an evaluation, one after the other, within its limits."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from msgspec import Struct

from keen_tui.domain.choices import PolicyName
from keen_tui.domain.events import Event, Usage
from keen_tui.domain.spent import NOTHING, Spent
from keen_tui.evaluation.figures import RunResult
from keen_tui.evaluation.task_run import RunSetup, TaskRun
from keen_tui.evaluation.tasks import BrokenTask, EvalTask
from keen_tui.providers.catalog.choice import ModelChoice
from keen_tui.settings.schema import Settings
from keen_tui.text.units import counted, dollars, tokens

INTERRUPTED = "Stopped."
NO_ACCESS = "The model server refuses the key, so no more tasks are run."


class EvaluationPlan(Struct, frozen=True, kw_only=True):
    """What to run. `repeat` is how often each task runs under each policy; `max_cost` is in US dollars, None
    for no limit. With `keep` the folders of the runs stay."""

    tasks: tuple[EvalTask, ...]
    broken: tuple[BrokenTask, ...] = ()
    policies: tuple[PolicyName, ...]
    repeat: int = 1
    max_cost: float | None = None
    keep: bool = False


class EvaluationReport(Struct, frozen=True, kw_only=True):
    """What came of it. `stopped` says why runs are missing, "" if none is. `spent` is what all runs used,
    those that were stopped included. `folder` holds the folders of the runs, None if they were removed."""

    model: str
    plan: EvaluationPlan
    results: tuple[RunResult, ...]
    stopped: str
    spent: Spent
    folder: Path | None = None


class Evaluation:
    """Runs a plan. `say` gets a line for a person, time and again."""

    def __init__(
        self,
        plan: EvaluationPlan,
        settings: Settings,
        choice: ModelChoice,
        environ: Mapping[str, str],
        say: Callable[[str], None],
    ) -> None:
        self._plan = plan
        self._setup = RunSetup(settings=settings, choice=choice, environ=environ, on_event=self._count)
        self._say = say
        self._spent = NOTHING
        self._stopped = ""
        self._running: TaskRun | None = None

    def stop(self, why: str = INTERRUPTED) -> None:
        """End after what runs now has been stopped; `why` is a sentence."""
        self._stopped = self._stopped or why
        if self._running:
            self._running.stop()

    async def run(self, folder: Path) -> EvaluationReport:
        """Run everything, each run in a folder of its own below `folder`.

        Raises:
            ConfigError: mode auto has no sandbox.
            StorageFailed: a session can't be saved.
        """
        results: list[RunResult] = []
        runs = list(self._runs(folder))
        for place, run in enumerate(runs, start=1):
            if self._stopped:
                break
            self._say(f"[{place}/{len(runs)}] {run.task.name}, {run.policy}")
            if result := await self._finished(run):
                results.append(result)
                self._tell(result)
                if run.reason == "auth":
                    self.stop(NO_ACCESS)
            if not self._plan.keep:
                await asyncio.to_thread(shutil.rmtree, folder / str(place), ignore_errors=True)
        return EvaluationReport(
            model=self._setup.choice.model.id,
            plan=self._plan,
            results=tuple(results),
            stopped=self._stopped,
            spent=self._spent,
            folder=folder if self._plan.keep else None,
        )

    def _runs(self, folder: Path) -> Iterator[TaskRun]:
        """The policies of a task run one after the other, so that a table that was stopped can be
        compared."""
        place = 0
        for number in range(1, self._plan.repeat + 1):
            for task in self._plan.tasks:
                for policy in self._plan.policies:
                    place += 1
                    yield TaskRun(task, policy, number, folder / str(place), self._setup)

    async def _finished(self, run: TaskRun) -> RunResult | None:
        self._running = run
        try:
            return await run.run()
        finally:
            self._running = None

    def _count(self, event: Event) -> None:
        """Add what a step used, and stop at the limit."""
        if not isinstance(event, Usage):
            return
        self._spent = self._spent.plus(event)
        most, cost = self._plan.max_cost, self._spent.cost
        if most is None:
            return
        if cost is None:
            self.stop("The server didn't report its tokens, so Keen can't limit the cost (--max-cost).")
        elif cost >= most:
            self.stop(f"The limit of --max-cost is reached: {dollars(cost)}.")

    def _tell(self, result: RunResult) -> None:
        figures = result.figures
        used = f"{counted(figures.steps, 'step')}, {tokens(figures.spent.input_tokens)} tokens sent"
        self._say(f"{'+ passed' if result.passed else 'x failed'}   {used}   {result.problem}".rstrip())
        for line in _last_lines(result.output) if not result.passed else ():
            self._say(f"  {line}")


def _last_lines(output: str, most: int = 3) -> Sequence[str]:
    return [line.rstrip() for line in output.splitlines() if line.strip()][-most:]
