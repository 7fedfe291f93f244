"""The tool `recall`, at the level of the wire: what it gives the model of earlier turns, whatever happened to
them, and where it isn't offered."""

from __future__ import annotations

import asyncio
import json
import os
from errno import EIO, ENOSPC
from pathlib import Path

import pytest

from keen_tui.demo.script import Answer, Call, Reply, Say
from keen_tui.domain.choices import Mode, PolicyName
from keen_tui.domain.events import (
    ApprovalRequested,
    Compacted,
    ToolFinished,
    TurnDone,
    TurnIncomplete,
)
from tests.support.agent import AtWork, Bench
from tests.support.breaking_file import Disk, full_after, refused
from tests.support.compacting import CUT, SUMMARY
from tests.support.saving import place
from tests.support.waiting import until

OK = Reply([Say("Ok.")])


def bash(command: str) -> Call:
    return Call("bash", {"command": command})


COUNT = bash("echo ran >> counter; echo 'total 42.17'")
READ = Call("read_file", {"path": "a.py"})
WRITE = Call("write_file", {"path": "a.py", "content": "three\n"})


def recall(**arguments: object) -> Call:
    return Call("recall", arguments)


def asks(**arguments: object) -> Reply:
    return Reply([recall(**arguments)])


def tool_names(bench: Bench, number: int = -1) -> list[str]:
    """The tools that a request declares."""
    tools = json.loads(bench.server.requests[number].raw)["tools"]
    return [tool.get("name") or tool["function"]["name"] for tool in tools]


def newest(bench: Bench) -> str:
    """The newest tool result that the model was sent."""
    return bench.results()[-1]


async def test_a_result_comes_back_word_for_word_and_nothing_runs_again(
    tmp_path: Path, at_work: AtWork
) -> None:
    script: list[Answer] = [Reply([COUNT]), OK, asks(turn=1, call=1), OK, OK]
    async with at_work(script, tmp_path) as bench:
        await bench.ask("count")
        first = bench.results()[0]
        await bench.ask("what was the total?")
        assert newest(bench).split("\n", 1)[1] == first == "total 42.17"
        assert newest(bench).startswith("[turn 1, call 1, as it was then: bash echo ran")
        assert (tmp_path / "counter").read_text() == "ran\n"
        await bench.ask("and now?")
        assert not bench.results(), "what was recalled is gone with its turn"
        bench.assert_valid_requests()


async def test_without_arguments_it_lists_turns_and_calls(tmp_path: Path, at_work: AtWork) -> None:
    (tmp_path / "a.py").write_text("one\ntwo\n")
    script: list[Answer] = [
        Reply([READ, Call("bash", {"command": "echo no; exit 3"})]),
        Reply([Say("It says one.")]),
        asks(),
        asks(turn=1),
        OK,
    ]
    async with at_work(script, tmp_path) as bench:
        await bench.ask("look at a\nplease")
        await bench.ask("and?")
        index, of_turn = bench.results()
        assert index.split("\n")[:3] == [
            "turn 1, done: look at a",
            "  call 1: read_file a.py, 11 B",
            "  call 2: bash echo no; exit 3, exit 3, 16 B",
        ]
        assert of_turn.split("\n") == [
            "turn 1, done",
            "message: look at a",
            "please",
            "call 1: read_file a.py, 11 B",
            "call 2: bash echo no; exit 3, exit 3, 16 B",
            "reply: It says one.",
        ]


async def test_a_pattern_finds_lines_in_earlier_results_the_newest_call_first(
    tmp_path: Path, at_work: AtWork
) -> None:
    script: list[Answer] = [
        Reply([bash("printf 'a\\nneedle 1\\n'")]),
        OK,
        Reply([bash("printf 'needle 2\\n\\nNeedle 3\\nneedle 4'"), bash("echo none")]),
        OK,
        asks(pattern="^needle [0-9]"),
        asks(pattern="needle", offset=3),
        asks(pattern="needle", turn=1),
        asks(pattern="nothing like it"),
        OK,
    ]  # fmt: skip
    async with at_work(script, tmp_path) as bench:
        for words in ("u1", "u2", "u3"):
            await bench.ask(words)
        found, rest, in_first, nothing = bench.results()
        lines = found.split("\n")
        assert lines[0].startswith("[turn 2, call 1: bash printf ")
        assert lines[1:3] == ["1:needle 2", "4:needle 4"]
        assert lines[3].startswith("[turn 1, call 1: bash printf ")
        assert lines[4:] == ["2:needle 1"]
        assert rest.split("\n")[1:] == ["2:needle 1"]
        assert in_first.split("\n")[1:] == ["2:needle 1"]
        assert nothing == "no line matches"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"turn": 9}, "no turn 9. There are turns 1 to 2"),
        ({"turn": 1, "call": 5}, "turn 1 has 1 finished call; there is no call 5"),
        ({"call": 1}, "needs the number of its turn"),
        ({"pattern": "(unclosed"}, "the search failed"),
        ({"turn": 1, "call": 1, "offset": 50}, "there is no line 50"),
        ({"turn": 0}, "count from 1"),
    ],
)
async def test_what_cannot_be_recalled_is_said(
    tmp_path: Path, arguments: dict[str, object], words: str
) -> None:
    script: list[Answer] = [Reply([COUNT]), OK, asks(**arguments), OK]
    async with place(tmp_path, "openai-chat", script) as here, here.program() as bench:
        await bench.ask("u1")
        assert isinstance(await bench.ask("u2"), TurnDone)
        assert newest(bench).startswith("Error: ")
        assert words in newest(bench)


async def test_the_result_says_whether_its_file_was_changed_later(tmp_path: Path, at_work: AtWork) -> None:
    for name in ("a.py", "b.py", "c.py"):
        (tmp_path / name).write_text("one\n")
    reads = [Call("read_file", {"path": name}) for name in ("./a.py", "b.py", "c.py", "d.py")]
    (tmp_path / "d.py").write_text("one\n")
    recalls = [recall(turn=1, call=number) for number in (1, 2, 3, 4)]
    script: list[Answer] = [Reply(reads), OK, Reply([WRITE]), OK, Reply(recalls), OK]
    async with at_work(script, tmp_path) as bench:
        await bench.ask("read")
        await bench.ask("write")
        os.utime(tmp_path / "b.py", (2**31, 2**31))
        (tmp_path / "c.py").unlink()
        await bench.ask("what did they say?")
        by_call, by_others, gone, same = (result.split("\n")[0] for result in bench.results())
        assert "a.py was changed later, in turn 2, call 1" in by_call
        assert "b.py was changed later, outside the recorded calls" in by_others
        assert "c.py isn't there any more" in gone
        assert "No later change to d.py is known" in same
        assert all(result.split("\n")[1] == "1\tone" for result in bench.results())


async def test_it_asks_nobody_in_any_mode(tmp_path: Path, at_work: AtWork) -> None:
    modes: tuple[Mode, ...] = ("ask", "plan", "auto-edit")
    script: list[Answer] = [Reply([COUNT]), OK, *[asks(turn=1, call=1), OK] * len(modes)]
    async with at_work(script, tmp_path) as bench:
        await bench.ask("u1")
        for mode in modes:
            bench.session.set_mode(mode)
            await bench.ask(mode)
            assert "total 42.17" in newest(bench)
        assert not bench.log.of(ApprovalRequested)


async def test_full_trace_gets_neither_the_tool_nor_its_line(
    tmp_path: Path, at_work: AtWork, policy: PolicyName
) -> None:
    async with at_work([OK, OK], tmp_path, policy=policy) as bench:
        await bench.ask("u1")
        is_offered = policy != "full-trace"
        assert ("recall" in tool_names(bench)) == is_offered
        assert bench.system().count("recall") == is_offered
        bench.session.set_policy("full-trace")
        await bench.ask("u2")
        assert "recall" not in tool_names(bench)
        assert "recall" not in bench.system()


async def test_it_works_after_a_turn_that_was_abandoned(tmp_path: Path, at_work: AtWork) -> None:
    script: list[Answer] = [Reply([COUNT]), CUT, asks(), asks(turn=1, call=1), OK]
    async with at_work(script, tmp_path) as bench:
        assert isinstance(await bench.ask("count"), TurnIncomplete)
        bench.session.discard()
        await bench.ask("what was it?")
        index, result = bench.results()
        assert index.startswith("turn 1, abandoned: count\n")
        assert result.endswith("\ntotal 42.17")


async def test_after_a_resume_and_in_a_fork_the_record_is_that_of_the_file(tmp_path: Path) -> None:
    script: list[Answer] = [
        Reply([COUNT]), OK, Reply([READ]), OK, SUMMARY,
        asks(turn=1, call=1), asks(pattern="42"), OK,
        asks(), asks(turn=1, call=1), OK,
    ]  # fmt: skip
    async with place(tmp_path, "openai-chat", script) as here:
        async with here.program() as bench:
            (here.workspace / "a.py").write_text("one\n")
            name = bench.history.session_id
            await bench.ask("u1")
            await bench.ask("u2")
            assert isinstance(await bench.compact(), Compacted)
        async with here.program(name) as bench:
            await bench.ask("u3")
            result, found = bench.results()
            assert result.endswith("\ntotal 42.17")
            assert found.endswith("\n1:total 42.17")
            await bench.history.fork(name, 1)
            await bench.ask("u2, another way")
            index, result = bench.results()
            assert index.startswith("turn 1, done: u1\n  call 1: bash echo ran")
            assert "read_file" not in index, "the fork has the first turn only"
            assert result.endswith("\ntotal 42.17")
        assert (here.workspace / "counter").read_text() == "ran\n"


@pytest.mark.parametrize("saved_turns", [0, 1])
@pytest.mark.parametrize("fault", ["write", "half a write", "sync"])
async def test_turns_that_cannot_be_saved_can_be_recalled(
    tmp_path: Path, fault: str, saved_turns: int
) -> None:
    disk = Disk()
    both = Reply([recall(turn=1, call=1), recall(turn=2, call=1), recall()])
    script: list[Answer] = [Reply([COUNT]), OK, Reply([COUNT]), OK, both, OK, both, OK]
    async with (
        place(tmp_path, "openai-chat", script) as here,
        here.program(durable=False, opener=disk.open) as bench,
    ):
        for turn in (1, 2):
            if turn > saved_turns:
                disk.on_write = {"write": refused(ENOSPC), "half a write": full_after(50)}.get(
                    fault, lambda *_: None
                )
                disk.on_sync = EIO if fault == "sync" else 0
            await bench.ask(f"u{turn}")
        assert await bench.history.flushed() is False
        await bench.ask("u3")
        first, second, index = bench.results()
        assert first.endswith("\ntotal 42.17") and second.endswith("\ntotal 42.17")
        assert index.count("bash") == 2
        disk.on_write, disk.on_sync = (lambda *_: None), 0
        assert await bench.history.flushed()
        await bench.ask("u4")
        assert bench.results()[:2] == [first, second]
        assert bench.results()[2].count("bash") == 2, "no call is there twice"


async def test_a_long_output_names_its_file_and_says_whether_it_is_still_there(tmp_path: Path) -> None:
    long = Call("bash", {"command": "seq 1 20000"})
    script: list[Answer] = [Reply([long]), OK, asks(turn=1, call=1), OK, asks(turn=1, call=1), OK]
    async with place(tmp_path, "openai-chat", script) as here, here.program() as bench:
        await bench.ask("u1")
        (output,) = [file for file in (here.home / "outputs").rglob("*") if file.is_file()]
        await bench.ask("u2")
        assert newest(bench).endswith(f"\n[{output} is still there]")
        output.unlink()
        await bench.ask("u3")
        assert f"\n[{output} is gone" in newest(bench)


async def test_a_long_result_is_given_in_parts(tmp_path: Path, at_work: AtWork) -> None:
    (tmp_path / "long.txt").write_text("x" * 99 + "\n" + "y" * 1_900 + "\n" * 1_998)
    read = Call("read_file", {"path": "long.txt"})
    script: list[Answer] = [Reply([read]), OK, asks(turn=1, call=1, offset=1_999), OK]
    async with at_work(script, tmp_path) as bench:
        await bench.ask("u1")
        whole = bench.results()[0].split("\n")
        await bench.ask("u2")
        assert newest(bench).split("\n")[1:] == whole[1_998:]


async def test_keys_are_taken_out_of_what_is_recalled(
    tmp_path: Path, at_work: AtWork, monkeypatch: pytest.MonkeyPatch
) -> None:
    script: list[Answer] = [
        Reply([Call("bash", {"command": "echo sk-later-$((40 + 2))-0123456789"})]), OK,
        Reply([recall(turn=1, call=1), recall(pattern="later")]), OK,
    ]  # fmt: skip
    async with at_work(script, tmp_path) as bench:
        await bench.ask("u1")
        assert "sk-later-42-0123456789" in newest(bench)
        monkeypatch.setenv("OPENAI_API_KEY", "sk-later-42-0123456789")
        await bench.ask("u2")
        assert all("sk-later-42-0123456789" not in result for result in bench.results())


async def test_a_catastrophic_pattern_can_be_stopped(tmp_path: Path, at_work: AtWork) -> None:
    """The search runs in a process of its own, so esc ends the call whatever the pattern does."""
    output = Call("bash", {"command": f"echo {'a' * 200}!"})
    script: list[Answer] = [Reply([output]), OK, asks(pattern="^(a|a?)+$"), OK]
    async with at_work(script, tmp_path) as bench:
        await bench.ask("u1")
        bench.session.submit("u2")
        await until(lambda: bench.session.running)
        await asyncio.sleep(0)
        bench.session.stop()
        await bench.log.wait_for_end(2)
        assert not bench.session.running


async def test_the_result_for_a_person_is_short(tmp_path: Path, at_work: AtWork) -> None:
    async with at_work([Reply([COUNT]), OK, asks(turn=1, call=1), OK], tmp_path) as bench:
        await bench.ask("u1")
        await bench.ask("u2")
        event = bench.log.of(ToolFinished)[-1]
        assert (event.target, event.result.summary) == ("turn 1, call 1", "turn 1, 12 B")
        assert not event.result.facts


async def test_the_context_view_says_how_much_was_recalled(tmp_path: Path, at_work: AtWork) -> None:
    script: list[Answer] = [Reply([COUNT]), OK, asks(turn=1, call=1), OK, asks(turn=1, call=1), CUT]
    async with at_work(script, tmp_path) as bench:
        for words in ("u1", "u2", "u3"):
            await bench.ask(words)
        report = await bench.session.context()
        first, second, _ = (part.sizes[0].left_out for part in report.parts if part.kind == "turn")
        assert "recalled" not in first
        assert second == "1 call and its result, 0.1 kB, 0.1 kB recalled"
        (pending,) = (part for part in report.parts if part.kind == "pending")
        assert [size.includes for size in pending.sizes] == ["0.1 kB recalled"] * 3
        assert next(part for part in report.parts if part.turn == 2).sizes[2].includes == "0.1 kB recalled"
        (tools,) = (part for part in report.parts if part.kind == "tools")
        assert tools.label == "13 tools"
        assert tools.sizes[0].bytes > tools.sizes[2].bytes, "full-trace has one tool less"
