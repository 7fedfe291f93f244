"""`keen-tui eval`, from its flags to its exit code."""

from __future__ import annotations

import asyncio
import math
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, TextIO

from keen_tui.domain.choices import PolicyName
from keen_tui.domain.errors import ConfigError
from keen_tui.domain.reports import POLICIES
from keen_tui.evaluation.evaluation import Evaluation, EvaluationPlan, EvaluationReport
from keen_tui.evaluation.table import report_json, table_lines
from keen_tui.evaluation.tasks import BrokenTask, EvalTask, find_tasks
from keen_tui.frontends.headless.outlets import note, require_writable, write_line
from keen_tui.frontends.headless.run import EXIT_DONE, EXIT_ERROR, EXIT_INCOMPLETE, stopping_on_signals
from keen_tui.settings.schema import Settings
from keen_tui.text.sanitize import clean
from keen_tui.wiring.parts import build_chooser

DEFAULT_POLICIES: Final = "summary,full-trace"
MOST_REPEATS: Final = 1_000


def evaluate(
    settings: Settings, given: Mapping[str, Any], environ: Mapping[str, str], out: TextIO, err: TextIO
) -> int:
    """Run the tasks that the command line names, and print the table. Returns the exit code: 0 if every run
    was made, passed or not, 1 if a task is broken, 3 if runs are missing.

    Raises:
        ConfigError: a flag is wrong, there is no such task, or mode auto has no sandbox.
        ModelMissing: no model, or no key for it.
        OutputFailed: `out` can't be written.
    """
    require_writable(out)
    plan = plan_of(given)
    choice = build_chooser(environ).choice(settings)
    if plan.max_cost is not None and choice.model.price is None:
        raise ConfigError(
            f"Keen doesn't know the price of {choice.model.id}, so it can't limit the cost (--max-cost)."
        )
    settings = settings._replace(mode=given.get("mode", "auto"))
    evaluation = Evaluation(plan, settings, choice, environ, lambda line: note(line, err))
    report = asyncio.run(_run(evaluation, plan))
    if "json" in given:
        write_line(report_json(report), out)
    else:
        for line in table_lines(report):
            write_line(clean(line), out)
    if report.stopped:
        return EXIT_INCOMPLETE
    return EXIT_ERROR if plan.broken else EXIT_DONE


def plan_of(given: Mapping[str, Any]) -> EvaluationPlan:
    """The plan for what was given (`flags.parsed`).

    Raises:
        ConfigError: a flag is wrong, or there is no such task.
    """
    if "memory_policy" in given:
        raise ConfigError("--memory doesn't work with eval: use --policies.")
    if not 1 <= given.get("repeat", 1) <= MOST_REPEATS:
        raise ConfigError(f"--repeat must be a number from 1 to {MOST_REPEATS:,}.")
    if not 0 < given.get("max_cost", 1.0) < math.inf:
        raise ConfigError("--max-cost must be more than 0 US dollars.")
    policies = policies_of(given.get("policies", DEFAULT_POLICIES))
    found = find_tasks(given["words"][1:])
    return EvaluationPlan(
        tasks=tuple(task for task in found if isinstance(task, EvalTask)),
        broken=tuple(task for task in found if isinstance(task, BrokenTask)),
        policies=policies,
        repeat=given.get("repeat", 1),
        max_cost=given.get("max_cost"),
        keep="keep" in given,
    )


def policies_of(text: str) -> tuple[PolicyName, ...]:
    """The policies that a text like `summary,full-trace` names, each once. Raises ConfigError."""
    known: dict[str, PolicyName] = {policy: policy for policy in POLICIES}
    names = [name.strip() for name in text.split(",") if name.strip()]
    for name in names or [text]:
        if name not in known:
            raise ConfigError(f"--policies: unknown policy {name!r}. The policies are {', '.join(POLICIES)}.")
    return tuple(known[name] for name in dict.fromkeys(names))


async def _run(evaluation: Evaluation, plan: EvaluationPlan) -> EvaluationReport:
    folder = Path(await asyncio.to_thread(tempfile.mkdtemp, prefix="keen-eval-"))
    try:
        with stopping_on_signals(evaluation.stop):
            return await evaluation.run(folder)
    finally:
        if not plan.keep:
            await asyncio.to_thread(shutil.rmtree, folder, ignore_errors=True)
