"""Programs that are killed in the middle of a turn, with and without durable pending state; on every API."""

from __future__ import annotations

import asyncio
import os
import shutil
import stat
import sys
from contextlib import suppress
from pathlib import Path

import pytest

from keen_tui.demo.script import Answer, Call, RecordedRequest, Reply, Say, Seen, Think
from keen_tui.demo.wires import seen
from keen_tui.domain.choices import Api
from keen_tui.domain.events import ToolFinished, TurnAbandoned, TurnDone, TurnIncomplete
from keen_tui.providers.registry import APIS
from tests.support.faults import DONE
from tests.support.jail import flags_of_auto
from tests.support.saving import Place, gone, pending_files, place
from tests.support.waiting import until

each_api = pytest.mark.parametrize("api", APIS)
COUNTED = ("one", "two", "three")


def batch(workspace: Path) -> Reply:
    """Three calls that count; the second waits until the test is over."""
    one, two, three = (f"echo {name} >> counter" for name in COUNTED)
    wait = f"{two}; until [ -e '{workspace}/over' ]; do sleep 0.05; done"
    write = Call("write_file", {"path": "a.py", "content": "x = 1\n"})
    first = Call("bash", {"command": f"{one}; echo first result; exit 3"})
    return Reply([Think("Hm."), Say("I count."), write, first, *(bash(line) for line in (wait, three))])


def bash(command: str) -> Call:
    return Call("bash", {"command": command})


def counted(workspace: Path) -> list[str]:
    counter = workspace / "counter"
    return counter.read_text().split() if counter.exists() else []


def begun(here: Place) -> int:
    """How many calls the session file knows to have begun: it is written a moment after they did."""
    files = (here.home / "sessions").rglob("*.jsonl")
    return sum(file.read_bytes().count(b'"type":"tool_started"') for file in files)


async def killed_in_the_middle(here: Place, settings: str) -> str:
    """Run the program on a prompt and kill it in its third call of four; gives the id of the session."""
    here.workspace.mkdir()
    (here.workspace / "counter").touch()
    here.home.mkdir()
    (here.home / "settings.toml").write_text(settings)
    ours = ("OPENAI", "ANTHROPIC", "KEEN")
    environ = {name: value for name, value in os.environ.items() if not name.startswith(ours)}
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-P", "-m", "keen_tui", "-p", "u1", "--mode", "auto", "--model", "scripted",
        "--api", here.api, "--base-url", here.server.base_url, *flags_of_auto(),
        cwd=here.workspace,
        env=environ | {"KEEN_HOME": str(here.home), "PYTHONPATH": str(Path.cwd())},
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.DEVNULL,
    )  # fmt: skip
    try:
        await until(lambda: counted(here.workspace) == ["one", "two"] and begun(here) >= 3)
    finally:
        process.kill()
        await process.wait()
    (file,) = (here.home / "sessions").rglob("*.jsonl")
    return file.stem


@each_api
async def test_killed_in_the_middle_of_a_batch_it_goes_on_and_runs_nothing_twice(
    tmp_path: Path, api: Api
) -> None:
    answers: list[Answer] = [DONE, DONE]
    async with place(tmp_path, api, lambda _: answers.pop(0)) as here:
        answers.insert(0, batch(here.workspace))
        try:
            name = await killed_in_the_middle(here, "[pending]\ndurable = true\n")
            (file,) = pending_files(here)
            assert stat.S_IMODE(file.stat().st_mode) == 0o600
            async with here.program(name) as bench:
                end = bench.log.ends[-1]
                assert isinstance(end, TurnIncomplete)
                assert (end.turn, end.reason, end.calls) == (1, "interrupted", 3)
                (cut,) = end.unknown_calls
                assert cut.target.startswith("echo two >> counter; until")
                assert end.turn_memory.files_changed == ("a.py", "counter")
                done = await bench.retry()
                assert isinstance(done, TurnDone)
                assert [message.role for message in bench.messages()] == ["user", "assistant", *["tool"] * 4]
                _, first, second, third = bench.results()
                assert "first result" in first
                assert second == "interrupted: the program ended while this ran, effects unknown"
                assert third.startswith("not run")
                assert counted(here.workspace) == ["one", "two"], "no tool runs again"
                assert done.text == "I count.\n\nAll done."
                assert [each.exit_code for each in done.turn_memory.failed_bash] == [3]
                assert done.turn_memory.files_changed == ("a.py", "counter")
                assert [message.role for message in bench.session.conversation] == ["user", "assistant"]
                await gone(bench.pending_file)
                await bench.ask("u2")
                bench.assert_valid_requests()
        finally:
            (here.workspace / "over").touch()


@each_api
async def test_12_killed_with_the_setting_off_it_is_shown_and_abandoned_with_its_facts(
    tmp_path: Path, api: Api
) -> None:
    answers: list[Answer] = [DONE]
    async with place(tmp_path, api, lambda _: answers.pop(0)) as here:
        answers.insert(0, batch(here.workspace))
        try:
            name = await killed_in_the_middle(here, "")
            assert pending_files(here) == []
            async with here.program(name, durable=False) as bench:
                end = bench.log.ends[-1]
                assert isinstance(end, TurnIncomplete) and end.reason == "interrupted"
                finished = [event.result for event in bench.log.of(ToolFinished)]
                assert [result.interrupted for result in finished] == [False, False, True]
                assert bench.session.pending is None
                await bench.ask("u2")
                command = "echo one >> counter; echo first result; exit 3 (exit 3)"
                block = f"Tool memory:\n- Files changed: a.py, counter\n- Failed bash: {command}"
                assert bench.messages() == [
                    Seen("user", "u1"),
                    Seen("assistant", f"(turn abandoned)\n\n{block}"),
                    Seen("user", "u2"),
                ]
            async with here.program(name, durable=False) as bench:
                assert len(bench.log.of(TurnAbandoned)) == 1, "it is abandoned once"
        finally:
            (here.workspace / "over").touch()


STEPS = (
    Reply([Think("Hm."), Say("First."), bash("echo a >> counter; exit 3"), bash("echo b >> counter")]),
    Reply([Say("Second."), bash("echo c >> counter"), bash("echo d >> counter")]),
    DONE,
)


def next_step(request: RecordedRequest) -> Reply:
    """The step that follows from what the request holds, as a model would go on."""
    done = sum(message.role == "assistant" for message in seen(request))
    return STEPS[min(done, len(STEPS) - 1)]


def copied(folder: Path, target: Path) -> None:
    """Copy all that is there; what a writer renames meanwhile is there under one name or not at all."""

    def copy(source: str, target: str) -> None:
        with suppress(FileNotFoundError):
            shutil.copyfile(source, target)

    folder.mkdir(exist_ok=True)
    shutil.copytree(folder, target, copy_function=copy)


@each_api
async def test_whenever_it_dies_the_next_program_goes_on_and_runs_nothing_twice(
    tmp_path: Path, api: Api
) -> None:
    """At every event of a turn the disk is copied as a kill would leave it; each copy goes on by itself."""
    copies: list[Place] = []
    async with place(tmp_path, api, next_step) as here:
        async with here.program() as bench:
            name = bench.history.session_id
            reader = bench.session.bus.subscribe()
            bench.session.submit("u1")
            async for batch_of_events in reader:
                copies.append(Place(tmp_path / f"copy {len(copies)}", here.server, api))
                for folder in (here.workspace, here.home):
                    copied(folder, copies[-1].folder / folder.name)
                if any(isinstance(event, TurnDone) for event in batch_of_events):
                    break
            reader.close()
        assert len(copies) > 10
        recovered = 0
        for copy in copies:
            saved = (file.read_bytes() for file in (copy.home / "sessions").rglob("*.jsonl"))
            if not any(b'"turn_started"' in text for text in saved):
                assert counted(copy.workspace) == [], "no call runs before its turn is on the disk"
                continue
            async with copy.program(name) as bench:
                recovered += bench.session.pending is not None
                if not isinstance(bench.log.ends[-1], TurnDone):
                    assert isinstance(await bench.retry(), TurnDone)
                ran = counted(copy.workspace)
                assert len(set(ran)) == len(ran), "no call runs twice"
                assert [message.role for message in bench.session.conversation] == ["user", "assistant"]
                failed = bench.log.ends[-1].turn_memory.failed_bash
                assert len(failed) <= ran.count("a")
                bench.assert_valid_requests()
            assert pending_files(copy) == []
        assert recovered >= 4, "each call was under way once"
