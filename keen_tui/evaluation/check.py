"""The check of a task: a shell command of the user's, in the folder where the model worked."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from msgspec import Struct

from keen_tui.evaluation.tasks import EvalTask
from keen_tui.system.child_environment import key_variables, own_environment
from keen_tui.system.executables import find_program
from keen_tui.text.redaction import masked
from keen_tui.tools.process.bounded_output import Tail
from keen_tui.tools.process.process import run_command
from keen_tui.tools.sandbox.base import Launch

LIMIT_SECONDS: Final = 120.0
"""Seconds after which a check is ended; that counts as a failure."""

OUTPUT_KEPT: Final = 2_000
"""Bytes of a check's output that are kept, from its end."""

TASK_VARIABLE: Final = "KEEN_TASK"
"""The variable that names the task's folder to its check."""


class CheckResult(Struct, frozen=True, kw_only=True):
    """How a check ended. `code` is its exit code (124: timed out), `output` the end of what it printed."""

    code: int
    output: str

    @property
    def problem(self) -> str:
        """Why the task counts as failed; "" if the check passed."""
        if self.code == 124:
            return f"The check failed with exit code 124, or ran for more than {LIMIT_SECONDS:.0f} seconds."
        return f"The check failed with exit code {self.code}." if self.code else ""


async def run_check(task: EvalTask, workspace: Path, key_names: Iterable[str]) -> CheckResult:
    """Run the task's check in `workspace`, without a sandbox. `key_names` are variables with API keys, which
    the check doesn't get. Cancelling ends it with all its processes."""
    shell = find_program("bash") or find_program("sh") or "/bin/sh"
    environ = own_environment(os.environ, key_variables(os.environ, key_names))
    launch = Launch(argv=(shell, "-c", task.check), environ={**environ, TASK_VARIABLE: str(task.folder)})
    output = Tail(OUTPUT_KEPT)
    try:
        ended = await run_command(launch, folder=workspace, timeout=LIMIT_SECONDS, on_output=output.feed)
    except (OSError, ValueError) as error:
        return CheckResult(code=126, output=f"The check can't be started: {error}.")
    return CheckResult(code=ended.code, output=masked(output.kept().decode("utf-8", "replace")))
