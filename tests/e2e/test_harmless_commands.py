"""Commands that only look run without a question in ask and in plan, and end as they do outside."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from keen_tui.tools.builtin.bash import Bash
from keen_tui.tools.files.workspace import Workspace
from keen_tui.tools.permissions.permissions import Allowed, judge
from keen_tui.tools.sandbox.base import Sandbox
from keen_tui.tools.sandbox.policy import Policy
from keen_tui.tools.sandbox.probe import OFF, ProbeResult, SandboxFinder, policy_here
from tests.campaigns.workday.commands import workday
from tests.campaigns.workday.harmless import harmless
from tests.campaigns.workday.project import files_of, make_project
from tests.support.jail import SANDBOXES

NOT_THERE = (126, 127)
PROMISED = 0.95


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "shop"
    folder.mkdir()
    make_project(folder)
    return folder


def bash_in(folder: Path, make: Callable[[Policy], Sandbox | str] | None) -> Bash:
    if make is None:
        return Bash(Workspace(folder), SandboxFinder(lambda: OFF))
    sandbox = make(policy_here(folder, os.environ))
    if isinstance(sandbox, str):
        pytest.skip(sandbox)
    return Bash(Workspace(folder), SandboxFinder(lambda: ProbeResult(sandbox=sandbox)))


async def problem_of(command: str, bash: Bash, exit_code: int | None) -> str:
    """How it runs without a question, and how that differs from outside; "" for nothing."""
    call = await bash.prepare({"command": command})
    if judge("plan", call.access, Allowed()).decision not in ("try", "allow"):
        return "it is refused in plan mode"
    verdict = judge("ask", call.access, Allowed())
    if verdict.decision == "ask":
        return f"asks: {verdict.why}"
    if verdict.decision == "allow":
        result = await call.run(lambda *_: None)
    else:
        assert call.trial
        result = await call.trial.run(lambda *_: None)
        if reason := call.trial.reason(result):
            return f"asks afterwards: {reason}"
    return "" if result.exit_code == exit_code else f"exit {result.exit_code} in place of {exit_code}"


@pytest.mark.parametrize("name", SANDBOXES)
async def test_harmless_commands_run_without_a_question_and_end_as_outside(name: str, project: Path) -> None:
    inside, outside = bash_in(project, SANDBOXES[name]), bash_in(project, None)
    before = files_of(project)
    count, problems = 0, []
    for command in harmless():
        ended = await (await outside.prepare({"command": command})).run(lambda *_: None)
        if ended.exit_code not in NOT_THERE:
            count += 1
            if problem := await problem_of(command, inside, ended.exit_code):
                problems.append(f"{command}: {problem}")
    assert count >= 150
    assert len(problems) <= count * (1 - PROMISED), "\n".join(problems)
    assert files_of(project) == before


@pytest.mark.parametrize("name", SANDBOXES)
async def test_what_writes_is_not_taken_for_done_when_it_ran_read_only(name: str, project: Path) -> None:
    """No command that leaves other files outside may end read-only as if nothing were missing."""
    inside = bash_in(project, SANDBOXES[name])
    before, missed = files_of(project), []
    for work in workday():
        if work.people not in ("shell", "git", "python"):
            continue
        command = work.commands[0]
        call = await inside.prepare({"command": command})
        if len(work.commands) > 1 or call.trial is None:
            continue
        result = await call.trial.run(lambda *_: None)
        if result.exit_code == 0 and not call.trial.reason(result):
            missed.append(command)
    assert files_of(project) == before, "nothing is written"
    outside = bash_in(project, None)
    for command in missed:
        names = files_of(project)
        await (await outside.prepare({"command": command})).run(lambda *_: None)
        assert files_of(project) == names, command
