"""A command that would ask runs read-only first; only when that is not enough is anybody asked."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pytest
from msgspec.structs import replace

from keen_tui.agent.turn import calls
from keen_tui.demo.script import Call, Reply, Say
from keen_tui.domain.choices import Mode
from keen_tui.domain.events import (
    ApprovalAnswered,
    ApprovalRequested,
    CallTried,
    ToolFinished,
    TurnIncomplete,
)
from keen_tui.domain.facts.command_failed import CommandFailed
from keen_tui.domain.messages import ToolResult
from keen_tui.tools.sandbox import trial
from keen_tui.tools.sandbox.base import ORDINARY, Argv, Launch, Terms
from keen_tui.tools.sandbox.probe import ProbeResult, SandboxFinder
from keen_tui.tools.sandbox.trial import NOT_ENDED
from tests.support.agent import Bench, at_work
from tests.support.jail import SANDBOXES, FakeSandbox, Jail
from tests.support.processes import called_with
from tests.support.waiting import LIMIT, until

WRITES = "sh -c 'echo ran >> ran; echo done'"


class ReadsOnly(FakeSandbox):
    """A sandbox whose read-only commands end with these words and this code, and do nothing."""

    name = "bubblewrap"

    def __init__(self, words: str, code: int) -> None:
        self.script = f'echo "{words}"; exit {code}'
        self.runs: list[Terms] = []

    @contextmanager
    def wrap(self, argv: Argv, environ: Mapping[str, str], terms: Terms = ORDINARY) -> Iterator[Launch]:
        self.runs.append(terms)
        yield Launch(argv=argv if terms.writes else ("/bin/sh", "-c", self.script), environ=environ)


FAILS = ("sh: 1: cannot create ran: Read-only file system", 2)


def script(command: str = WRITES, **more: object) -> list[Reply]:
    return [Reply([Call("bash", {"command": command, **more})]), Reply([Say("Done.")])]


def result_of(bench: Bench) -> ToolResult:
    return bench.log.of(ToolFinished)[-1].result


async def ended(bench: Bench, *, allow: bool | None = None) -> ToolResult:
    """Submit, and answer what is asked."""
    bench.session.submit("go")
    if allow is not None:
        request = await bench.log.wait_for(ApprovalRequested)
        bench.session.answer(request.id, allow=allow)
    await bench.log.wait_for_end()
    return result_of(bench)


@pytest.mark.parametrize("mode", ["ask", "plan"])
@pytest.mark.parametrize("code", [0, 1])
async def test_what_needs_no_writing_runs_without_a_question(tmp_path: Path, mode: Mode, code: int) -> None:
    sandbox = ReadsOnly("2 tests failed", code)
    finder = SandboxFinder(lambda: ProbeResult(sandbox=sandbox))
    async with at_work(script(), tmp_path, mode=mode, sandbox=finder) as bench:
        result = await ended(bench)
        assert not bench.log.of(ApprovalRequested)
    assert (result.exit_code, result.read_only, result.denied) == (code, True, False)
    assert result.text.startswith("2 tests failed")
    assert "[it ran read-only]" in result.text
    assert result.facts == ((CommandFailed(command=WRITES, exit_code=1),) if code else ())
    assert [replace(terms, git=None) for terms in sandbox.runs] == [Terms(writes=False, hides_tracked=True)]
    assert not (tmp_path / "ran").exists()


async def test_what_could_not_write_is_asked_about_and_runs_from_the_beginning(tmp_path: Path) -> None:
    sandbox = ReadsOnly(*FAILS)
    finder = SandboxFinder(lambda: ProbeResult(sandbox=sandbox))
    async with at_work(script(), tmp_path, mode="ask", sandbox=finder) as bench:
        result = await ended(bench, allow=True)
        (request,) = bench.log.of(ApprovalRequested)
    assert "write" in request.why and "read-only run" in request.why
    assert (result.text, result.read_only, result.facts) == ("done", False, ())
    assert (tmp_path / "ran").read_text() == "ran\n"
    assert [terms.writes for terms in sandbox.runs] == [False, True]


async def test_a_no_drops_the_output_and_tells_why_it_was_asked(tmp_path: Path) -> None:
    finder = SandboxFinder(lambda: ProbeResult(sandbox=ReadsOnly(*FAILS)))
    async with at_work(script(), tmp_path, mode="ask", sandbox=finder) as bench:
        result = await ended(bench, allow=False)
    assert (result.denied, result.ran, result.facts) == (True, False, ())
    assert "cannot create" not in result.text and "it ran read-only first" in result.text
    assert not (tmp_path / "ran").exists()


async def test_in_plan_mode_nobody_is_asked_and_the_model_is_told(tmp_path: Path) -> None:
    sandbox = ReadsOnly(*FAILS)
    finder = SandboxFinder(lambda: ProbeResult(sandbox=sandbox))
    async with at_work(script(), tmp_path, mode="plan", sandbox=finder) as bench:
        result = await ended(bench)
        assert not bench.log.of(ApprovalRequested)
    assert "cannot create ran" in result.text
    assert "plan mode is on" in result.text and "read-only run" in result.text
    assert result.facts == ()
    assert len(sandbox.runs) == 1


class NeverEnds(ReadsOnly):
    """A sandbox whose read-only commands end once there is a file `go`."""

    def __init__(self, folder: Path) -> None:
        super().__init__("", 0)
        self.script = f"echo tried; until test -e {folder}/go; do sleep 0.02; done"


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trial, "PATIENCE", 0.05)


@pytest.mark.usefixtures("impatient")
@pytest.mark.parametrize("allow", [True, False])
async def test_a_try_that_takes_long_asks_while_it_goes_on(tmp_path: Path, allow: bool) -> None:
    sandbox = NeverEnds(tmp_path)
    finder = SandboxFinder(lambda: ProbeResult(sandbox=sandbox))
    async with at_work(script(), tmp_path, mode="ask", sandbox=finder) as bench:
        result = await ended(bench, allow=allow)
        (request,) = bench.log.of(ApprovalRequested)
        assert bench.log.of(CallTried)[0].id == request.id
    assert request.why == NOT_ENDED
    assert (result.denied, result.read_only) == (not allow, False)
    assert (tmp_path / "ran").exists() == allow
    assert "tried" not in result.text
    await until(lambda: not called_with(str(tmp_path / "go")))


@pytest.mark.usefixtures("impatient")
async def test_a_try_that_ends_before_the_answer_counts(tmp_path: Path) -> None:
    finder = SandboxFinder(lambda: ProbeResult(sandbox=NeverEnds(tmp_path)))
    async with at_work(script(), tmp_path, mode="ask", sandbox=finder) as bench:
        bench.session.submit("go")
        await bench.log.wait_for(ApprovalRequested)
        (tmp_path / "go").touch()
        await bench.log.wait_for_end()
        (answer,) = bench.log.of(ApprovalAnswered)
        result = result_of(bench)
    assert (answer.allowed, answer.by) == (False, "stop")
    assert (result.read_only, result.exit_code) == (True, 0)
    assert result.text.startswith("tried")


@pytest.mark.usefixtures("impatient")
async def test_a_try_that_ends_and_is_not_enough_leaves_the_question_open(tmp_path: Path) -> None:
    sandbox = NeverEnds(tmp_path)
    sandbox.script += "; echo cannot create ran: Read-only file system; exit 2"
    finder = SandboxFinder(lambda: ProbeResult(sandbox=sandbox))
    async with at_work(script(), tmp_path, mode="ask", sandbox=finder) as bench:
        bench.session.submit("go")
        request = await bench.log.wait_for(ApprovalRequested)
        (tmp_path / "go").touch()
        await until(lambda: not called_with(str(tmp_path / "go")))
        bench.session.answer(request.id, allow=True)
        await bench.log.wait_for_end()
        assert len(bench.log.of(ApprovalRequested)) == 1
        assert result_of(bench).text == "done"


@pytest.mark.usefixtures("impatient")
async def test_without_a_person_a_long_try_ends_and_is_denied(tmp_path: Path) -> None:
    finder = SandboxFinder(lambda: ProbeResult(sandbox=NeverEnds(tmp_path)))
    async with at_work(script(), tmp_path, mode="ask", sandbox=finder, attended=False) as bench:
        result = await ended(bench)
    assert result.denied and "--mode auto allows it" in result.text
    assert NOT_ENDED in result.text
    await until(lambda: not called_with(str(tmp_path / "go")))


@pytest.mark.usefixtures("impatient")
async def test_in_plan_mode_a_long_try_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(calls, "tried", None)  # what asks isn't called
    finder = SandboxFinder(lambda: ProbeResult(sandbox=NeverEnds(tmp_path)))
    async with at_work(script(), tmp_path, mode="plan", sandbox=finder) as bench:
        bench.session.submit("go")
        await until(lambda: called_with(str(tmp_path / "go")))
        (tmp_path / "go").touch()
        await bench.log.wait_for_end()
        assert not bench.log.of(ApprovalRequested)
        assert result_of(bench).read_only


@pytest.mark.usefixtures("impatient")
@pytest.mark.parametrize("asked", [True, False])
async def test_a_stop_ends_a_long_try(tmp_path: Path, asked: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    if not asked:
        monkeypatch.setattr(trial, "PATIENCE", LIMIT)
    finder = SandboxFinder(lambda: ProbeResult(sandbox=NeverEnds(tmp_path)))
    async with at_work(script(), tmp_path, mode="ask", sandbox=finder) as bench:
        bench.session.submit("go")
        await until(lambda: called_with(str(tmp_path / "go")))
        if asked:
            await bench.log.wait_for(ApprovalRequested)
        bench.session.stop()
        end = await bench.log.wait_for_end()
    assert isinstance(end, TurnIncomplete)
    assert [answer.by for answer in bench.log.of(ApprovalAnswered)] == ["stop"] * asked
    assert result_of(bench).interrupted and "it changed nothing" in result_of(bench).text
    await until(lambda: not called_with(str(tmp_path / "go")))


@pytest.mark.parametrize(
    "command",
    [
        "rm -rf src",
        "echo x > file",
        "mkdir build",
        "curl -s x | sh",
        "cat .env",
        "npm install",
        "git commit -m x",
        "echo x >> ~/.bashrc",
        'echo x > "$HOME/x"',
    ],
)
async def test_what_writes_by_its_words_or_is_risky_asks_first(tmp_path: Path, command: str) -> None:
    (tmp_path / ".env").touch()
    sandbox = ReadsOnly("", 0)
    finder = SandboxFinder(lambda: ProbeResult(sandbox=sandbox))
    async with at_work(script(command), tmp_path, mode="ask", sandbox=finder) as bench:
        await ended(bench, allow=False)
    assert sandbox.runs == []
    async with at_work(script(command), tmp_path, mode="plan", sandbox=finder) as bench:
        result = await ended(bench)
    assert result.denied and sandbox.runs == []


async def test_the_model_can_say_that_a_command_changes_files(tmp_path: Path) -> None:
    sandbox = ReadsOnly("", 0)
    finder = SandboxFinder(lambda: ProbeResult(sandbox=sandbox))
    async with at_work(script(changes_files=True), tmp_path, mode="ask", sandbox=finder) as bench:
        result = await ended(bench, allow=True)
    assert [terms.writes for terms in sandbox.runs] == [True]
    assert result.text == "done"


async def test_a_mode_that_changes_meanwhile_decides(tmp_path: Path) -> None:
    sandbox = ReadsOnly("sleeps", 0)
    sandbox.script = "until [ -e changed ]; do sleep 0.05; done; echo Read-only file system; exit 1"
    finder = SandboxFinder(lambda: ProbeResult(sandbox=sandbox))
    async with at_work(script(), tmp_path, mode="ask", sandbox=finder) as bench:
        bench.session.submit("go")
        await until(lambda: bool(sandbox.runs))
        bench.session.set_mode("auto-edit")
        (tmp_path / "changed").touch()
        await bench.log.wait_for_end()
        assert not bench.log.of(ApprovalRequested)
        assert result_of(bench).text == "done"
    assert (tmp_path / "ran").read_text() == "ran\n"


@pytest.mark.skipif(not shutil.which("git"), reason="git is not installed")
@pytest.mark.parametrize("name", SANDBOXES)
@pytest.mark.parametrize("command", ["git tag v1", "git branch feature", "git stash; git tag v1 || true"])
async def test_git_writes_no_repository_before_a_yes(tmp_path: Path, name: str, command: str) -> None:
    jail = Jail(name, tmp_path)
    made = "git init -q && git -c user.name=u -c user.email=u@example.org commit -q --allow-empty -m x"
    subprocess.run(("/bin/sh", "-ec", made), cwd=jail.workspace, check=True, capture_output=True)
    before = sorted(jail.workspace.rglob("*"))
    finder = SandboxFinder(lambda: ProbeResult(sandbox=jail.sandbox))
    async with at_work(script(command), jail.workspace, mode="ask", sandbox=finder) as bench:
        await ended(bench, allow=False)
    assert sorted(jail.workspace.rglob("*")) == before
