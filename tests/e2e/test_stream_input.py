"""`--input stream-json`: several turns in one process, driven by lines on standard input."""

from __future__ import annotations

import asyncio
import json
import signal
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import jsonschema  # type: ignore[import-untyped]
import pytest

from keen_tui.demo.model_server import ModelServer
from keen_tui.demo.script import Answer, Break, Call, Reply, Say
from keen_tui.demo.wires import seen
from keen_tui.frontends.headless.line_schema import line_schema
from tests.support.program import Program, Run
from tests.support.waiting import LIMIT

WRITE = Call("write_file", {"path": "a.py", "content": "x"})
ASK = Call("ask_user", {"question": "Which?", "choices": [{"label": "one"}, {"label": "two"}]})
DONE = Reply([Say("Done.")])
CUT = Reply([Say("This sentence is cut in the mid")], broken=Break("reset"))
STALLED = Reply([Say("One moment")], broken=Break("stall"))

VALID = jsonschema.Draft202012Validator(line_schema())


class Driven:
    """A program that a test writes lines to. Every line that goes in or comes out fits the schema."""

    def __init__(self, process: asyncio.subprocess.Process, server: ModelServer, program: Program) -> None:
        self.process = process
        self.server = server
        self.program = program
        self.records: list[dict[str, Any]] = []
        assert process.stdin
        assert process.stdout
        self._stdin, self._stdout = process.stdin, process.stdout

    async def send(self, **line: Any) -> None:
        """Write a line."""
        VALID.validate(line)
        await self.send_bytes(json.dumps(line).encode() + b"\n")

    async def send_bytes(self, content: bytes) -> None:
        self._stdin.write(content)
        await self._stdin.drain()

    async def next(self, kind: str) -> dict[str, Any]:
        """The next line of that type. Those before it are dropped, but kept in `records`."""
        async with asyncio.timeout(LIMIT):
            while line := await self._stdout.readline():
                self._note(line)
                if self.records[-1]["type"] == kind:
                    return self.records[-1]
        raise AssertionError(f"no {kind} in {[each['type'] for each in self.records]}")

    async def end(self) -> Run:
        """Close standard input and wait for the program's end."""
        self._stdin.close()
        async with asyncio.timeout(LIMIT):
            while line := await self._stdout.readline():
                self._note(line)
            assert self.process.stderr
            said = (await self.process.stderr.read()).decode()
            code = await self.process.wait()
        assert "Traceback" not in said
        assert "this is a bug" not in said
        return Run(code, "", said)

    def of(self, kind: str) -> list[dict[str, Any]]:
        """The lines of that type so far."""
        return [each for each in self.records if each["type"] == kind]

    def results(self) -> list[str]:
        """The texts of the tool results in the newest request."""
        return [each.text for each in seen(self.server.requests[-1]) if each.role == "tool"]

    def _note(self, line: bytes) -> None:
        record = json.loads(line)
        VALID.validate(record)
        assert record["type"] in VALID.schema["$defs"]
        self.records.append(record)


Driving = Callable[..., Any]


@pytest.fixture
async def driving(tmp_path: Path) -> AsyncIterator[Driving]:
    """Starts the program with a script and flags."""

    @asynccontextmanager
    async def start(*script: Answer, flags: str = "", settings: str = "") -> AsyncIterator[Driven]:
        program = Program(tmp_path)
        (program.home / "settings.toml").write_text(f"retry_attempts = 1\n{settings}")
        async with ModelServer(script) as server:
            process = await program.start(
                "--input", "stream-json", "--output", "stream-json", "--no-sandbox",
                "--base-url", server.base_url, "--model", "m", *flags.split(),
                stdin=asyncio.subprocess.PIPE,
            )  # fmt: skip
            try:
                yield Driven(process, server, program)
            finally:
                if process.returncode is None:
                    process.kill()
                    await process.wait()

    yield start


# Turns


async def test_several_turns_in_one_process(driving: Driving) -> None:
    async with driving(DONE, Reply([Say("Two.")])) as driven:
        assert (await driven.next("session_opened"))["schema"] == 1
        await driven.send(type="message", text="one")
        assert (await driven.next("turn_done"))["text"] == "Done."
        await driven.send(type="message", text="two")
        assert (await driven.next("turn_done"))["turn"] == 2
        run = await driven.end()
        assert (run.code, run.err) == (0, "")
        assert [each.text for each in seen(driven.server.requests[-1])][1:] == ["one", "Done.", "two"]


async def test_the_prompt_is_the_first_message_and_lines_that_come_early_wait(driving: Driving) -> None:
    async with driving(DONE, DONE, flags="-p first") as driven:
        await driven.send(type="message", text="second")
        assert (await driven.end()).code == 0
        assert [each["text"] for each in driven.of("turn_started")] == ["first", "second"]


async def test_a_turn_is_stopped_and_retried(driving: Driving) -> None:
    async with driving(Reply([WRITE]), STALLED, DONE, flags="--mode auto-edit") as driven:
        await driven.send(type="message", text="go")
        await driven.next("text_delta")
        await driven.send(type="stop")
        assert (await driven.next("turn_incomplete"))["reason"] == "interrupted"
        await driven.send(type="retry")
        assert (await driven.next("turn_done"))["turn_memory"]["files_changed"] == ["a.py"]
        assert (await driven.end()).code == 0
        assert len(driven.of("tool_finished")) == 1


async def test_the_exit_code_is_that_of_the_last_turn(driving: Driving) -> None:
    async with driving(Reply([WRITE]), CUT, flags="--mode auto-edit") as driven:
        await driven.send(type="message", text="go")
        await driven.send(type="message", text="and then")
        await driven.next("turn_incomplete")
        run = await driven.end()
        assert run.code == 3
        assert "1 message was not sent" in run.err
        assert "lost with this process; files changed: a.py" in run.err


async def test_a_turn_that_is_discarded_is_remembered(driving: Driving) -> None:
    async with driving(Reply([WRITE]), CUT, DONE, flags="--mode auto-edit") as driven:
        await driven.send(type="message", text="go")
        await driven.next("turn_incomplete")
        await driven.send(type="discard")
        await driven.next("turn_abandoned")
        await driven.send(type="message", text="more")
        assert (await driven.end()).code == 0
        assert "Files changed: a.py" in seen(driven.server.requests[-1])[2].text


async def test_without_a_line_no_turn_runs(driving: Driving) -> None:
    async with driving() as driven:
        run = await driven.end()
        assert run.code == 1
        assert not driven.server.requests


# Approvals and questions


async def test_an_approval_is_asked_and_answered(driving: Driving) -> None:
    async with driving(Reply([WRITE, Call("bash", {"command": "touch b"})]), DONE) as driven:
        await driven.send(type="message", text="go")
        asked = await driven.next("approval_requested")
        assert asked["display"]["kind"] == "DiffDisplay"
        await driven.send(type="approve", id=asked["id"], allow=True)
        asked = await driven.next("approval_requested")
        await driven.send(type="approve", id=asked["id"], allow=False, message="Not now.")
        await driven.next("turn_done")
        assert (await driven.end()).code == 0
        assert [each["allowed"] for each in driven.of("approval_answered")] == [True, False]
        assert "Not now." in driven.results()[1]
        assert (driven.program.workspace / "a.py").read_text() == "x"


async def test_a_yes_for_the_session_is_asked_once(driving: Driving) -> None:
    again = Call("write_file", {"path": "b.py", "content": "x"})
    async with driving(Reply([WRITE, again]), DONE) as driven:
        await driven.send(type="message", text="go")
        asked = await driven.next("approval_requested")
        await driven.send(type="approve", id=asked["id"], allow=True, scope="session")
        await driven.next("turn_done")
        assert len(driven.of("approval_requested")) == 1


async def test_a_question_is_asked_and_answered(driving: Driving) -> None:
    async with driving(Reply([ASK]), DONE) as driven:
        await driven.send(type="message", text="go")
        asked = await driven.next("question_asked")
        await driven.send(type="answer", id=asked["id"], choice=9)
        assert (await driven.next("input_error"))["text"] == "There is no such answer."
        await driven.send(type="answer", id=asked["id"], choice=1)
        await driven.next("turn_done")
        assert driven.results() == ["The user chose: two"]


@pytest.mark.parametrize("call", [WRITE, ASK], ids=["approval", "question"])
async def test_the_end_of_the_lines_denies_what_is_open(driving: Driving, call: Call) -> None:
    async with driving(Reply([call]), DONE) as driven:
        await driven.send(type="message", text="go")
        await driven.next("approval_requested" if call is WRITE else "question_asked")
        assert (await driven.end()).code == 0
        assert not (driven.program.workspace / "a.py").exists()
        (result,) = driven.results()
        assert ("standard input has ended" in result) == (call is WRITE)


async def test_what_asks_after_the_end_of_the_lines_is_denied(driving: Driving) -> None:
    async with driving(Reply([Say("a"), WRITE], wait=0.3), DONE) as driven:
        await driven.send(type="message", text="go")
        assert (await driven.end()).code == 0
        assert "standard input has ended" in driven.results()[0]


# Lines that can't be obeyed

BAD = {
    "no JSON": (b"hello\n", "The line isn't a JSON object in UTF-8"),
    "no object": (b"[1]\n", "The line has a mistake: Expected object, got array"),
    "no type": (b"{}\n", "The line has a mistake: Object missing required field type"),
    "another type": (b'{"type":"dance"}\n', "The line has a mistake: Invalid value 'dance'"),
    "no text": (b'{"type":"message"}\n', "The line has a mistake: Object missing required field text"),
    "a field twice": (b'{"type":"message","text":"a","text":"b"}\n', "The line has the field text twice."),
    "an unknown field": (b'{"type":"stop","why":"x"}\n', "Object contains unknown field why"),
    "no UTF-8": (b'{"type":"message","text":"\xff"}\n', "The line isn't a JSON object in UTF-8"),
    "half a character": (b'{"type":"message","text":"\\ud800"}\n', "The line isn't a JSON object in UTF-8"),
    "an empty message": (b'{"type":"message","text":" "}\n', "The message is empty."),
    "nothing open": (b'{"type":"approve","id":"x","allow":true}\n', "That question is no longer open."),
    "nothing to retry": (b'{"type":"retry"}\n', "Nothing to retry"),
    "nothing to discard": (b'{"type":"discard"}\n', "Nothing to discard"),
    "too long": (b"x" * 10_000_001 + b"\n", "The line has more than 10 MB."),
    "deep": (b"[" * 100_000 + b"\n", "The line"),
}


@pytest.mark.parametrize(("content", "says"), BAD.values(), ids=BAD)
async def test_a_line_that_cannot_be_obeyed_is_told_and_the_next_one_counts(
    driving: Driving, content: bytes, says: str
) -> None:
    async with driving(DONE) as driven:
        await driven.send_bytes(b"\n" + content)
        error = await driven.next("input_error")
        assert (error["line"], says in error["text"]) == (2, True), error["text"]
        await driven.send(type="message", text="go")
        await driven.next("turn_done")
        assert (await driven.end()).code == 0


async def test_a_last_line_without_its_end_counts(driving: Driving) -> None:
    async with driving(DONE) as driven:
        await driven.send_bytes(b'{"type":"message","text":"go"}')
        assert (await driven.end()).code == 0


# What ends it


async def test_a_signal_stops_the_turn_and_ends_the_program(driving: Driving) -> None:
    async with driving(Reply([WRITE]), STALLED, flags="--mode auto-edit") as driven:
        await driven.send(type="message", text="go")
        await driven.next("text_delta")
        driven.process.send_signal(signal.SIGTERM)
        assert (await driven.next("turn_incomplete"))["reason"] == "interrupted"
        async with asyncio.timeout(LIMIT):
            assert await driven.process.wait() == 3


async def test_after_a_kill_the_session_goes_on(driving: Driving, tmp_path: Path) -> None:
    durable = "[pending]\ndurable = true\n"
    async with driving(Reply([WRITE]), STALLED, DONE, flags="--mode auto-edit", settings=durable) as driven:
        opened = await driven.next("session_opened")
        await driven.send(type="message", text="go")
        await driven.next("text_delta")
        driven.process.kill()
        await driven.process.wait()
        process = await driven.program.start(
            "--input", "stream-json", "--output", "stream-json", "--no-sandbox", "--mode", "auto-edit",
            "--base-url", driven.server.base_url, "--model", "m", "--resume", opened["id"],
            stdin=asyncio.subprocess.PIPE,
        )  # fmt: skip
        again = Driven(process, driven.server, driven.program)
        await again.send(type="retry")
        assert (await again.next("turn_done"))["turn_memory"]["files_changed"] == ["a.py"]
        assert (await again.end()).code == 0
        assert len(again.results()) == 1


@pytest.mark.parametrize(
    ("flags", "says"),
    [
        ("--input stream-json", "--input only works with --output"),
        ("-p hi --input stream-json --output json", "--input stream-json needs --output stream-json."),
        (
            "-p hi --input stream-json --output stream-json --until true",
            "--input and --until don't go together",
        ),
    ],
)
async def test_flags_that_do_not_go_together_are_told(tmp_path: Path, flags: str, says: str) -> None:
    run = await Program(tmp_path).run(*flags.split())
    assert run.code == 2
    assert says in run.err
