"""Commands that only look run without a question in ask and in plan, and end as they do outside."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Mapping
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


def project_in(parent: Path) -> Path:
    folder = parent / "shop"
    folder.mkdir()
    make_project(folder)
    return folder


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return project_in(tmp_path)


@pytest.fixture(scope="module")
def outside(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, int | None]:
    """The commands that this machine has, and their exit codes outside. They run once for all sandboxes."""
    project = project_in(tmp_path_factory.mktemp("outside"))
    before = files_of(project)
    codes = asyncio.run(exit_codes(bash_in(project, None)))
    assert files_of(project) == before
    return {command: code for command, code in codes.items() if code not in NOT_THERE}


async def exit_codes(bash: Bash) -> dict[str, int | None]:
    codes = {}
    for command in harmless():
        codes[command] = (await (await bash.prepare({"command": command})).run(lambda *_: None)).exit_code
    return codes


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
async def test_harmless_commands_run_without_a_question_and_end_as_outside(
    name: str, project: Path, outside: Mapping[str, int | None]
) -> None:
    inside = bash_in(project, SANDBOXES[name])
    before, problems = files_of(project), []
    for command, exit_code in outside.items():
        if problem := await problem_of(command, inside, exit_code):
            problems.append(f"{command}: {problem}")
    assert len(outside) >= 150
    assert len(problems) <= len(outside) * (1 - PROMISED), "\n".join(problems)
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
