"""A run without a screen and its surroundings: what comes in, what can't be written, what ends it."""

from __future__ import annotations

import asyncio
import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from keen_tui.demo.model_server import ModelServer
from keen_tui.demo.script import Answer, Call, Reply, Say
from keen_tui.demo.wires import seen
from tests.support.processes import called_with
from tests.support.program import Program, Run
from tests.support.waiting import LIMIT, until

WRITE = Call("write_file", {"path": "a.py", "content": "x"})


class Shell:
    """The program as a shell starts it, with redirections."""

    def __init__(self, program: Program, server: ModelServer) -> None:
        self.program = program
        self.server = server
        self.work = f"--base-url {server.base_url} --model m --mode auto --no-sandbox"

    async def run(self, arguments: str, redirections: str = "</dev/null", **environ: str) -> Run:
        """Run `keen-tui ARGUMENTS REDIRECTIONS`."""
        return await self.run_as(f"KEEN {redirections}", arguments, **environ)

    async def run_as(self, script: str, arguments: str, **environ: str) -> Run:
        """Run a script of the shell in which KEEN stands for `keen-tui ARGUMENTS`."""
        keen = f"{shlex.quote(sys.executable)} -P -m keen_tui {arguments}"
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("OPENAI", "KEEN"))}
        process = await asyncio.create_subprocess_exec(
            "sh", "-c", script.replace("KEEN", keen),
            cwd=self.program.workspace, env=kept | {"KEEN_HOME": str(self.program.home)} | environ,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip
        async with asyncio.timeout(4 * LIMIT):
            out, err = await process.communicate()
        assert process.returncode is not None
        assert b"Traceback" not in err
        assert b"this is a bug" not in err
        return Run(process.returncode, out.decode(), err.decode())

    @property
    def first(self) -> str:
        """The first message that the model was sent."""
        return seen(self.server.requests[0])[-1].text

    @property
    def wrote(self) -> bool:
        """Whether a tool ran."""
        return (self.program.workspace / "a.py").exists()


@asynccontextmanager
async def shell_with(folder: Path, *script: Answer) -> AsyncIterator[Shell]:
    async with ModelServer(script) as server:
        yield Shell(Program(folder), server)


@pytest.fixture
async def shell(tmp_path: Path) -> AsyncIterator[Shell]:
    async with shell_with(tmp_path, Reply([WRITE]), *[Reply([Say("Schön.")])] * 9) as shell:
        yield shell


# What comes in


async def test_data_beside_a_prompt_goes_along_marked(shell: Shell) -> None:
    (shell.program.workspace / "diff").write_text("+ a\n```\n- b\n")
    run = await shell.run(f"{shell.work} -p 'Review this.'", "<diff")
    assert (run.code, run.out) == (0, "Schön.\n")
    assert shell.first == "Review this.\n\nFrom standard input:\n````\n+ a\n```\n- b\n````"


async def test_a_silent_pipe_is_not_waited_for_for_ever(shell: Shell) -> None:
    reading, writing = os.pipe()
    try:
        process = await shell.program.start(
            *shell.work.split(), "-p", "hi", "--output", "json", stdin=reading
        )
        async with asyncio.timeout(4 * LIMIT):
            out, err = await process.communicate()
    finally:
        os.close(reading)
        os.close(writing)
    assert process.returncode == 0
    assert b"standard input" in err
    assert any("standard input" in notice for notice in json.loads(out)["notices"])
    assert shell.first == "hi"


async def test_more_than_any_model_takes_is_refused(shell: Shell) -> None:
    run = await shell.run(f"{shell.work} -p hi", "</dev/zero")
    assert (run.code, run.out) == (2, "")
    assert "more than 10 MB" in run.err


# What can't be written, or isn't there


CANNOT_PRINT = {
    "full": ("KEEN >/dev/full", "Standard output can't be written: No space left on device."),
    "closed": ("KEEN >&-", "Standard output is closed, so nothing can be printed."),
    "only readable": ("KEEN 1</dev/null", "Standard output can't be written: Bad file descriptor."),
    "without a reader": (
        "(mkfifo f; cat f & exec >f; kill $!; wait; KEEN)",
        "Standard output was closed.",
    ),
}


@pytest.mark.parametrize(("script", "says"), CANNOT_PRINT.values(), ids=CANNOT_PRINT)
@pytest.mark.parametrize("output", ["text", "stream-json"])
async def test_an_output_that_cannot_be_written_is_known_before_a_tool_runs(
    shell: Shell, script: str, says: str, output: str
) -> None:
    run = await shell.run_as(script, f"{shell.work} -p hi --output {output}")
    assert (run.code, run.err) == (1, f"keen-tui: {says}\n")
    assert not shell.server.requests
    assert not shell.wrote


async def test_a_reader_that_leaves_stops_the_turn(tmp_path: Path) -> None:
    script = [Reply([Call("bash", {"command": "echo yes > begun; sleep 600"})])]
    async with shell_with(tmp_path, *script) as shell:
        (shell.program.workspace / "begun").touch()
        leave = "while ! [ -s begun ]; do sleep 0.05; done"
        run = await shell.run_as('{ KEEN; echo "code $?" >&2; } | { ' + leave + "; }", f"{shell.work} -p hi")
    assert "code 1" in run.err
    assert "Standard output was closed" in run.err
    assert "You stopped it" not in run.err


@pytest.mark.parametrize("where", ["2>/dev/full", "2>&-"])
async def test_an_error_output_that_cannot_be_written_costs_no_answer(shell: Shell, where: str) -> None:
    run = await shell.run(f"{shell.work} -p hi", f"</dev/null {where}")
    assert (run.code, run.out) == (0, "Schön.\n")
    assert shell.wrote


@pytest.mark.parametrize("command", ["--help", "--version", "sessions --all", "settings", "--demo"])
async def test_what_cannot_be_printed_is_one_sentence(shell: Shell, command: str) -> None:
    run = await shell.run(command, ">/dev/full")
    assert run.code == 1
    assert run.err == "keen-tui: Standard output can't be written: No space left on device.\n"


SURROUNDINGS = {
    "closed input": ("-p hi", "<&-", 0, ""),
    "closed input without a prompt": ("-p", "<&-", 2, "The prompt is empty"),
    "everything closed": ("-p hi", "<&- >&- 2>&-", 1, ""),
    "a port too high": ("-p hi --base-url http://localhost:65536/v1", "", 2, "port from 1 to 65535"),
    "a port that isn't one": ("-p hi --base-url http://localhost:x/v1", "", 2, "port from 1 to 65535"),
    "a home of nobody": ("-p hi", "", 2, "no such user"),
}


@pytest.mark.parametrize(
    ("arguments", "redirections", "code", "says"), SURROUNDINGS.values(), ids=SURROUNDINGS
)
async def test_odd_surroundings_are_told_in_one_sentence(
    shell: Shell, arguments: str, redirections: str, code: int, says: str
) -> None:
    environ = {"KEEN_HOME": "~nobody-of-that-name/keen"} if says == "no such user" else {}
    run = await shell.run(f"{shell.work} {arguments}", redirections, **environ)
    assert run.code == code
    assert says in run.err
    assert run.err.count("\n") == bool(says or code == 0)  # a turn that is done tells of its call
    assert (run.out == "Schön.\n") == (code == 0)


async def test_a_folder_that_was_removed_is_told(shell: Shell) -> None:
    run = await shell.run_as("mkdir gone; cd gone; rmdir ../gone; KEEN", f"{shell.work} -p hi")
    assert run.code == 2
    assert run.err == "keen-tui: The current folder no longer exists. Change to another one first.\n"


async def test_another_encoding_costs_characters_at_most(shell: Shell) -> None:
    text = await shell.run(f"{shell.work} -p hi", PYTHONIOENCODING="ascii")
    assert (text.code, text.out) == (0, "Sch?n.\n")
    (record,) = (await shell.run(f"{shell.work} -p hi --output json", PYTHONIOENCODING="ascii")).records
    assert record["text"] == "Schön."


async def test_arguments_are_utf8_whatever_the_locale_says(shell: Shell) -> None:
    locale = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    run = await shell.run(f"{shell.work} -p 'Grüß dich' --output json", **locale)
    assert run.code == 0
    assert json.loads(run.out)["text"] == "Schön."
    assert shell.first == "Grüß dich"


@pytest.mark.parametrize("name", ["settings.toml", "providers/x.toml"])
async def test_a_pipe_in_the_place_of_a_settings_file_is_refused(shell: Shell, name: str) -> None:
    file = shell.program.home / name
    file.parent.mkdir(exist_ok=True)
    os.mkfifo(file)
    run = await shell.run(f"{shell.work} -p hi")
    assert run.code == 2
    assert f"{file} can't be read: it isn't a regular file" in run.err


AS_ROOT = "setpriv --bounding-set=-dac_override,-dac_read_search --inh-caps=-dac_override,-dac_read_search "
"""Before a program that root starts: its rights on files are those of everybody else."""


@pytest.mark.parametrize(
    "command", ["sessions", "sessions --all", "WORK -p hi --continue", "WORK -p hi -r 2"]
)
async def test_sessions_that_cannot_be_read_are_not_called_missing(shell: Shell, command: str) -> None:
    if os.geteuid() == 0 and not shutil.which("setpriv"):
        pytest.skip("root reads everything, and there is no setpriv to give that up")
    await shell.run(f"{shell.work} -p first")
    (folder,) = (shell.program.home / "sessions").iterdir()
    locked = folder if command in ("sessions", "WORK -p hi --continue") else folder.parent
    locked.chmod(0)
    try:
        start = AS_ROOT if os.geteuid() == 0 else ""
        run = await shell.run_as(f"{start}KEEN", command.replace("WORK", shell.work))
    finally:
        locked.chmod(0o700)
    assert run.code == 1
    assert run.err == f"keen-tui: The saved sessions in {locked} can't be read: Permission denied.\n"


# What is said in the JSON formats


async def test_an_empty_first_reply_is_an_error_with_a_word(tmp_path: Path) -> None:
    async with shell_with(tmp_path, *[Reply([])] * 3) as shell:
        runs = [await shell.run(f"{shell.work} -p hi --output {form}") for form in FORMS]
    assert [run.code for run in runs] == [1, 1, 1]
    text, single, stream = runs
    assert (text.out, text.err) == ("", "! The model sent an empty reply.\n")
    (record,) = single.records
    assert (record["type"], record["is_error"]) == ("turn_done", True)
    assert record["notices"] == ["The model sent an empty reply."]
    told = [each["text"] for each in stream.records if each["type"] == "notice"]
    assert told == ["The model sent an empty reply."]


FORMS = ("text", "json", "stream-json")


async def test_every_json_output_names_its_schema_and_tells_what_there_is_to_know(shell: Shell) -> None:
    (shell.program.workspace / ".keen").mkdir()
    (shell.program.workspace / ".keen" / "settings.toml").write_text('mode = "plan"\n')
    (record,) = (await shell.run(f"{shell.work} -p hi --output json")).records
    stream = (await shell.run(f"{shell.work} -p hi --output stream-json")).records
    assert record["schema"] == stream[0]["schema"] == 1
    assert [each["type"] for each in stream[:2]] == ["session_opened", "notice"]
    assert record["notices"] == [stream[1]["text"]]
    assert not record["is_error"]


# What ends it


@pytest.mark.parametrize("number", [signal.SIGHUP, signal.SIGQUIT])
async def test_a_lost_connection_ends_the_turn_as_a_termination_does(
    tmp_path: Path, number: signal.Signals
) -> None:
    asleep = f"sleep 600.{os.getpid()}{number}"
    async with shell_with(tmp_path, Reply([Call("bash", {"command": asleep})])) as shell:
        process = await shell.program.start(*shell.work.split(), "-p", "hi", "--output", "json")
        await until(lambda: called_with(asleep))
        process.send_signal(number)
        async with asyncio.timeout(4 * LIMIT):
            out, _ = await process.communicate()
    assert process.returncode == 3
    assert json.loads(out)["reason"] == "interrupted"
    assert not called_with(asleep)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
async def test_the_turn_that_a_signal_stops_is_continued_by_the_next_program_but_not_after_ctrl_c(
    tmp_path: Path, number: signal.Signals
) -> None:
    calls = [Call("bash", {"command": "echo ran >> ran.txt"}), Call("bash", {"command": "sleep 600"})]
    async with shell_with(tmp_path, Reply(calls), Reply([Say("Done.")])) as shell:
        process = await shell.program.start(*shell.work.split(), "-p", "hi")
        await until((shell.program.workspace / "ran.txt").exists)
        process.send_signal(number)
        async with asyncio.timeout(4 * LIMIT):
            _, err = await process.communicate()
        is_kept = number != signal.SIGINT
        assert (b"opens the session: continue with /retry" in err) is is_kept
        assert (b"lost with this process" in err) is not is_kept
        process = await shell.program.start(*shell.work.split(), "--continue", "-p", "and on")
        async with asyncio.timeout(4 * LIMIT):
            out, err = await process.communicate()
        assert out == b"Done.\n"
        assert (b"this one continues after its" in err) is is_kept
        assert (shell.program.workspace / "ran.txt").read_text() == "ran\n"


async def test_what_the_parent_has_it_ignore_stays_ignored(tmp_path: Path) -> None:
    command = "echo yes > begun; while ! [ -s go ]; do sleep 0.05; done"
    script = (Reply([Call("bash", {"command": command})]), Reply([Say("Done.")]))
    async with shell_with(tmp_path, *script) as shell:
        for name in ("begun", "go"):
            (shell.program.workspace / name).touch()
        hang_up = (
            "trap '' HUP; KEEN & while ! [ -s begun ]; do sleep 0.05; done; kill -HUP $!; echo x >go; wait $!"
        )
        run = await shell.run_as(hang_up, f"{shell.work} -p hi")
    assert (run.code, run.out) == (0, "Done.\n")


@pytest.mark.parametrize(
    ("output", "kind"),
    [("json", "turn_done"), ("stream-json", "turn_done"), ("stream-json", "tool_finished")],
)
async def test_what_was_told_outlives_a_kill_at_that_moment(tmp_path: Path, output: str, kind: str) -> None:
    async with shell_with(tmp_path, Reply([WRITE]), Reply([Say("Done.")])) as shell:
        process = await shell.program.start(*shell.work.split(), "-p", "hi", "--output", output)
        assert process.stdout
        async with asyncio.timeout(4 * LIMIT):
            while json.loads(await process.stdout.readline())["type"] != kind:
                pass
            process.kill()
            await process.wait()
        (file,) = shell.program.home.glob("sessions/*/*.jsonl")
    assert kind in [json.loads(line)["type"] for line in file.read_text().splitlines()]
