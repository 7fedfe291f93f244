"""A command that its sandbox stopped is offered once more outside of it, by asking and in no other way."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pytest

from keen_tui.demo.script import Call, Reply, Say
from keen_tui.domain.choices import Mode
from keen_tui.domain.events import ApprovalRequested, SandboxFound, ToolFinished, TurnDone, TurnIncomplete
from keen_tui.domain.facts.command_failed import CommandFailed
from keen_tui.tools.sandbox.base import ORDINARY, Argv, Launch, Terms
from keen_tui.tools.sandbox.probe import ProbeResult, SandboxFinder
from tests.support.agent import Bench, at_work
from tests.support.jail import FakeSandbox
from tests.support.waiting import until

COMMAND = "echo ran >> ran; echo outside"
SCRIPT = [Reply([Call("bash", {"command": COMMAND})]), Reply([Say("Done.")])]
QUESTION = "Run it again, outside the sandbox?"


class StopsEverything(FakeSandbox):
    """A sandbox in which every command fails with these words."""

    name = "bubblewrap"

    def __init__(self, words: str = "touch: Read-only file system", code: int = 3) -> None:
        self._script = f"echo '{words}'; exit {code}"

    @contextmanager
    def wrap(self, argv: Argv, environ: Mapping[str, str], terms: Terms = ORDINARY) -> Iterator[Launch]:
        yield Launch(argv=("/bin/sh", "-c", self._script), environ=environ)


def stopping(words: str = "touch: Read-only file system", code: int = 3) -> SandboxFinder:
    return SandboxFinder(lambda: ProbeResult(sandbox=StopsEverything(words, code)))


async def asked(bench: Bench, *, allow: bool, message: str = "") -> ApprovalRequested:
    """Submit and answer the question about running outside."""
    bench.session.submit("go")
    request = await bench.log.wait_for(ApprovalRequested)
    bench.session.answer(request.id, allow=allow, message=message)
    return request


async def test_with_the_users_leave_it_runs_once_outside_and_the_model_is_told_both(tmp_path: Path) -> None:
    async with at_work(SCRIPT, tmp_path, mode="auto-edit", sandbox=stopping()) as bench:
        request = await asked(bench, allow=True)
        end = await bench.log.wait_for_end()
    assert request.question == QUESTION
    assert "read-only" in request.why
    assert (request.grant, request.saves) == (None, ())
    assert isinstance(end, TurnDone)
    assert not end.turn_memory.failed_bash, "it did not fail in the end"
    assert (tmp_path / "ran").read_text() == "ran\n"
    assert bench.results() == [
        "[in the sandbox: exit code 3; run again outside with the user's approval]\noutside"
    ]
    [finished] = bench.log.of(ToolFinished)
    assert finished.result.outside, "a person sees that it left the sandbox"


async def test_a_no_keeps_the_first_result_and_says_so(tmp_path: Path) -> None:
    async with at_work(SCRIPT, tmp_path, mode="auto-edit", sandbox=stopping()) as bench:
        await asked(bench, allow=False, message="not today")
        end = await bench.log.wait_for_end()
    assert isinstance(end, TurnDone)
    assert end.turn_memory.failed_bash == (CommandFailed(command=COMMAND, exit_code=3),)
    [result] = bench.results()
    assert "[exit code 3]" in result
    assert "the user doesn't want to run it outside and says: not today" in result
    assert not bench.log.of(ToolFinished)[0].result.outside
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize(("mode", "attended"), [("auto-edit", False), ("auto", False)])
async def test_without_anybody_there_it_is_not_offered(tmp_path: Path, mode: Mode, attended: bool) -> None:
    async with at_work(SCRIPT, tmp_path, mode=mode, attended=attended, sandbox=stopping()) as bench:
        await bench.ask("go")
    assert not bench.log.of(ApprovalRequested)
    assert not (tmp_path / "ran").exists()


async def test_the_mode_auto_asks_too(tmp_path: Path) -> None:
    async with at_work(SCRIPT, tmp_path, mode="auto", sandbox=stopping()) as bench:
        request = await asked(bench, allow=True)
        await bench.log.wait_for_end()
    assert request.question == QUESTION


@pytest.mark.parametrize(
    ("words", "code"),
    [("1 test failed", 1), ("Read-only file system", 0), ("Permission denied", 1), ("", 2)],
)
async def test_what_failed_for_its_own_reasons_is_not_offered(tmp_path: Path, words: str, code: int) -> None:
    async with at_work(SCRIPT, tmp_path, mode="auto-edit", sandbox=stopping(words, code)) as bench:
        await bench.ask("go")
    assert not bench.log.of(ApprovalRequested)


async def test_a_stop_at_the_question_keeps_the_result_that_is_there(tmp_path: Path) -> None:
    async with at_work(SCRIPT, tmp_path, mode="auto-edit", sandbox=stopping()) as bench:
        bench.session.submit("go")
        await bench.log.wait_for(ApprovalRequested)
        bench.session.stop()
        end = await bench.log.wait_for_end()
        [finished] = bench.log.of(ToolFinished)
    assert isinstance(end, TurnIncomplete)
    assert finished.result.exit_code == 3
    assert end.turn_memory.failed_bash == (CommandFailed(command=COMMAND, exit_code=3),)


async def test_a_stop_outside_says_that_the_effects_are_unknown(tmp_path: Path) -> None:
    script = [Reply([Call("bash", {"command": "echo ran > ran; sleep 600"})])]
    async with at_work(script, tmp_path, mode="auto-edit", sandbox=stopping()) as bench:
        await asked(bench, allow=True)
        await until((tmp_path / "ran").exists)
        bench.session.stop()
        end = await bench.log.wait_for_end()
        [finished] = bench.log.of(ToolFinished)
    assert isinstance(end, TurnIncomplete)
    assert finished.result.interrupted
    assert "exit code 3" in finished.result.text
    assert "effects unknown" in finished.result.text


async def test_a_session_that_warms_up_tells_what_its_commands_run_in(tmp_path: Path) -> None:
    async with at_work([], tmp_path, sandbox=stopping()) as bench:
        bench.session.warm_up()
        assert await bench.log.wait_for(SandboxFound) == SandboxFound(name="bubblewrap")
        assert bench.session.permitted.sandbox == "The sandbox for commands is bubblewrap."
    none = SandboxFinder(lambda: ProbeResult(sandbox=None, reason="why"))
    async with at_work([], tmp_path, sandbox=none) as bench:
        bench.session.warm_up()
        assert await bench.log.wait_for(SandboxFound) == SandboxFound(name="", reason="No sandbox: why.")


async def test_without_a_sandbox_commands_ask_in_auto_edit(tmp_path: Path) -> None:
    async with at_work(SCRIPT, tmp_path, mode="auto-edit") as bench:
        request = await asked(bench, allow=False)
        await bench.log.wait_for_end()
    assert request.question == "Run this command?"
