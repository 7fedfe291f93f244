"""What runs of tasks used and what came of them, as values."""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path

from msgspec import Struct

from keen_tui.domain.choices import PolicyName
from keen_tui.domain.events import Event, StepRestarted, TextDelta, ToolFinished, Usage
from keen_tui.domain.spent import NOTHING, Spent


class RunFigures(Struct, frozen=True, kw_only=True):
    """What one run used. `steps` are model calls, `repeated_reads` counts each time that `read_file` read a
    file again, `failed_edits` the calls of `edit_file` whose result is an error."""

    spent: Spent = NOTHING
    steps: int = 0
    repeated_reads: int = 0
    failed_edits: int = 0


class RunResult(Struct, frozen=True, kw_only=True):
    """What came of one run of a task under a policy. `number` counts its repetitions, from 1.

    `problem` says why a run didn't pass, "" if it did. `check_code` is the exit code of the check (124: timed
    out), None if the turns didn't get that far; `output` is the end of what the check printed. `seconds`
    leaves the check out.
    """

    task: str
    policy: PolicyName
    number: int
    problem: str
    figures: RunFigures
    turns: int
    seconds: float
    check_code: int | None = None
    output: str = ""

    @property
    def passed(self) -> bool:
        return not self.problem


class RunTally:
    """Counts the figures of one run from its events."""

    def __init__(self, workspace: Path) -> None:
        self._workspace = workspace
        self._spent = NOTHING
        self._steps: set[tuple[int, int]] = set()
        self._reads: Counter[str] = Counter()
        self._failed_edits = 0

    def add(self, event: Event) -> None:
        """Count what this event adds."""
        if isinstance(event, Usage):
            self._spent = self._spent.plus(event)
        if isinstance(event, Usage | TextDelta | ToolFinished | StepRestarted) and event.turn:
            self._steps.add((event.turn, event.step))
        if not isinstance(event, ToolFinished):
            return
        if event.name == "read_file" and event.result.outcome == "done":
            path = os.path.join(self._workspace, str(event.arguments.get("path", "")))  # noqa: PTH118
            self._reads[os.path.normpath(path)] += 1
        elif event.name == "edit_file":
            self._failed_edits += event.result.is_error

    @property
    def figures(self) -> RunFigures:
        """The figures so far."""
        return RunFigures(
            spent=self._spent,
            steps=len(self._steps),
            repeated_reads=sum(count - 1 for count in self._reads.values()),
            failed_edits=self._failed_edits,
        )
