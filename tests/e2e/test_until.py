"""Runs of the real program, as a process: `-p TASK --until CMD`."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from keen_tui.demo.model_server import ModelServer
from keen_tui.demo.script import Answer, Call, NoAnswer, Reply, Say
from tests.support.faults import refused
from tests.support.program import Program
from tests.support.waiting import LIMIT, until

WORK = Reply([Call("bash", {"command": "echo work >> work.log"})])
DONE = Reply([Say("I did something.")])
FIX = Reply([Call("bash", {"command": "echo fix >> work.log; touch ready"})])
CHECK = "echo checking; test -e ready"


@pytest.fixture
async def program(tmp_path: Path) -> AsyncIterator[Program]:
    yield Program(tmp_path)


def flags(server: ModelServer, *more: str) -> tuple[str, ...]:
    return ("--base-url", server.base_url, "--model", "m", "--mode", "auto", "--until", CHECK, *more)


def work(program: Program) -> list[str]:
    file = program.workspace / "work.log"
    return file.read_text().splitlines() if file.exists() else []


async def test_turns_go_on_until_the_check_passes(program: Program) -> None:
    async with ModelServer([WORK, DONE, FIX, DONE]) as server:
        run = await program.run(*flags(server), "-p", "make it ready")
    assert (run.code, run.out) == (0, "I did something.\n")
    assert run.err.splitlines()[0] == (
        "Run until this check passes: echo checking; test -e ready. Limits: 50 turns."
    )
    assert "x check   exit 1\n    checking\n" in run.err
    assert run.err.splitlines()[-6:-4] == [
        "The run is done: the check passed.",
        "Check: echo checking; test -e ready (2 checks, 1 failed)",
    ]
    assert "Turns: 2, 0 retries" in run.err
    assert run.err.splitlines()[-1] == "Files changed: work.log, ready"


async def test_each_end_has_its_exit_code(program: Program) -> None:
    async with ModelServer(lambda _: DONE) as server:
        assert (await program.run(*flags(server, "--max-turns", "2"), "-p", "go")).code == 4
        assert (await program.run(*flags(server), "-p", "go")).code == 5
    async with ModelServer([WORK, DONE]) as server:
        asked = await program.run(*flags(server, "--mode", "ask"), "-p", "go")
        assert asked.code == 6 and "Unanswered: bash echo work >> work.log" in asked.err
    async with ModelServer([refused(401, "bad key")]) as server:
        assert (await program.run(*flags(server), "-p", "go")).code == 1


async def test_flags_that_make_no_sense_are_refused(program: Program) -> None:
    async with ModelServer([]) as server:
        for more, words in (
            (("--max-cost", "2"), "doesn't know the price of m"),
            (("--max-turns", "0"), "--max-turns must be 1 or more"),
            (("--max-hours", "-1"), "--max-hours must be more than 0"),
        ):
            run = await program.run(*flags(server, *more), "-p", "go")
            assert run.code == 2 and words in run.err
        run = await program.run("--until", "true")
        assert run.code == 2 and "--until only works with -p" in run.err
        run = await program.run("-p", "go", "--max-turns", "3")
        assert run.code == 2 and "--max-turns only works with --until" in run.err
        run = await program.run("-p", "go", "--max-cost", "3")
        assert run.code == 2 and "--max-cost only works with --until or eval" in run.err
        assert not server.requests


@pytest.mark.parametrize("output", ["json", "stream-json"])
async def test_the_report_is_an_event(program: Program, output: str) -> None:
    async with ModelServer([WORK, DONE, FIX, DONE]) as server:
        run = await program.run(*flags(server, "--output", output), "-p", "make it ready")
    assert run.code == 0
    last = run.records[-1]
    assert (last["type"], last["saved"]) == ("run_ended", True)
    report = last["report"]
    assert (report["end"], report["turns"], report["failed_checks"]) == ("passed", 2, 1)
    assert report["files_changed"] == ["work.log", "ready"]
    if output == "json":
        assert len(run.records) == 1
        assert (last["text"], last["is_error"]) == ("I did something.", False)
    else:
        types = [record["type"] for record in run.records]
        assert types.count("turn_done") == 2 and "run_begun" in types
        assert [record["is_check"] for record in run.records if record["type"] == "shell_finished"] == [
            True
        ] * 2


async def killed(process: asyncio.subprocess.Process, number: int = signal.SIGKILL) -> str:
    process.send_signal(number)
    async with asyncio.timeout(LIMIT):
        _, err = await process.communicate()
    return err.decode()


async def test_killed_in_a_turn_the_same_command_with_continue_goes_on(program: Program) -> None:
    script: list[Answer] = [WORK, NoAnswer("stall"), FIX, DONE]
    async with ModelServer(script) as server:
        process = await program.start(*flags(server), "-p", "make it ready")
        await server.wait_for_requests(2)
        await killed(process)
        run = await program.run(*flags(server, "--continue"), "-p", "make it ready")
    assert run.code == 0
    assert work(program) == ["work", "fix"], "nothing ran twice"
    assert "The run continues. Limits: 50 turns." in run.err
    assert "Turns: 1, 1 retry (interrupted 1)" in run.err


async def test_killed_while_it_waits_it_waits_for_the_rest_and_the_limits_of_then_hold(
    program: Program,
) -> None:
    limit = refused(429, "limit reached", {"retry-after": "3600"})
    async with ModelServer([WORK, limit, FIX, DONE]) as server:
        process = await program.start(*flags(server, "--max-turns", "9"), "-p", "make it ready")
        (folder,) = await found(program.home, "sessions/*")
        await until(lambda: "run_waiting" in session_text(folder))
        await killed(process)
        process = await program.start(*flags(server, "--continue"), "-p")
        await until(lambda: "run_continued" in session_text(folder))
        assert len(server.requests) == 2
        err = await killed(process, signal.SIGTERM)
        assert process.returncode == 3
    assert "Limits: 9 turns." in err
    assert "The run was stopped. Continue it with: keen-tui --continue -p --until" in err
    assert session_text(folder).count("run_waiting") == 1
    assert "run_ended" not in session_text(folder)


async def found(folder: Path, pattern: str) -> list[Path]:
    await until(lambda: [*folder.glob(pattern)])
    return [*folder.glob(pattern)]


def session_text(folder: Path) -> str:
    return "".join(file.read_text() for file in folder.glob("*.jsonl"))


async def test_stopped_in_the_check_it_checks_again(program: Program) -> None:
    check = "echo check >> checks.log; test -e go || sleep 600"
    async with ModelServer([DONE]) as server:
        command = ("--base-url", server.base_url, "--model", "m", "--mode", "auto", "--until", check)
        process = await program.start(*command, "-p", "go")
        checks = program.workspace / "checks.log"
        await until(lambda: checks.exists() and checks.read_text())
        await killed(process)
        (program.workspace / "go").touch()
        run = await program.run(*command, "-p", "go", "--continue")
        assert run.code == 0 and len(server.requests) == 1
    assert checks.read_text() == "check\n" * 2


async def test_a_new_task_in_the_same_session_is_a_new_run(program: Program) -> None:
    async with ModelServer([WORK, NoAnswer("stall"), FIX, DONE]) as server:
        process = await program.start(*flags(server), "-p", "make it ready")
        await server.wait_for_requests(2)
        await killed(process)
        run = await program.run(*flags(server, "--continue"), "-p", "make it so")
        assert run.code == 0 and "Turns: 1, 0 retries" in run.err
        texts = [each["content"] for each in server.requests[-1].body["messages"] if each["role"] == "user"]
    assert texts == ["make it ready", "make it so"]
    assert work(program) == ["work", "fix"]
