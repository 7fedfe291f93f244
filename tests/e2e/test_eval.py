"""`keen-tui eval`: tasks under memory policies, against a scripted model server."""

from __future__ import annotations

import asyncio
import json
import signal
from collections.abc import Callable
from pathlib import Path

import pytest

from keen_tui.demo.model_server import ModelServer
from keen_tui.demo.script import Answer, Call, HttpAnswer, NoAnswer, RecordedRequest, Reply, Say
from keen_tui.domain.messages import TokenUsage
from tests.support.jail import flags_of_auto
from tests.support.program import Program, Run
from tests.support.waiting import LIMIT

Script = Callable[[RecordedRequest], Answer]


@pytest.fixture
def program(tmp_path: Path) -> Program:
    return Program(tmp_path)


def add_task(program: Program, name: str, prompts: str, check: str, **files: str) -> None:
    start = program.workspace / "tasks" / name / "start"
    start.mkdir(parents=True)
    for file, content in files.items():
        (start / f"{file}.txt").write_text(content)
    (start.parent / "prompts.md").write_text(prompts)
    (start.parent / "check").write_text(check)


def turn_of(request: RecordedRequest) -> int:
    """How many prompts of these tasks the request holds."""
    users = [message for message in request.body["messages"] if message["role"] == "user"]
    return sum(str(message["content"]).startswith("Prompt") for message in users)


def has_results(request: RecordedRequest) -> bool:
    """Whether the newest message is a tool result."""
    return bool(request.body["messages"][-1]["role"] == "tool")


def answer(request: RecordedRequest) -> Answer:
    """Reads a.txt in the first turn; in the second reads it again, edits it in vain, then writes b.txt."""
    used = TokenUsage(input_tokens=1_000, output_tokens=50, cached_tokens=400)
    if has_results(request):
        return Reply([Say("Done.")], usage=used)
    read = Call("read_file", {"path": "a.txt"})
    if turn_of(request) == 1:
        return Reply([read], usage=used)
    edit = Call("edit_file", {"path": "./a.txt", "old_string": "nothing like it", "new_string": "x"})
    return Reply([read, edit, Call("write_file", {"path": "b.txt", "content": "seen"})], usage=used)


async def evaluate(program: Program, script: Script, *arguments: str, **environ: str) -> Run:
    async with ModelServer(script) as server:
        flags = ("--base-url", server.base_url, "--model", "scripted", *flags_of_auto())
        return await program.run("eval", *arguments, *flags, **environ)


def two_tasks(program: Program) -> None:
    two_turns = "Prompt: read a.txt.\n---\nPrompt: write b.txt."
    add_task(program, "passes", two_turns, "grep -qx seen b.txt", a="hello")
    add_task(program, "fails", two_turns, "echo no such thing; test -e c.txt", a="hello")


async def test_two_tasks_under_two_policies_give_a_table(program: Program) -> None:
    two_tasks(program)
    run = await evaluate(program, answer, "tasks", "--policies", "summary,full-trace")
    assert run.code == 0, run.err
    heads, rule, *rows, _, total, means = run.out.splitlines()
    assert [head.strip() for head in heads.strip("|").split("|")][:3] == ["task", "policy", "passed"]
    assert set(rule) <= set("|-: ")
    assert [[cell.strip() for cell in row.strip("|").split("|")] for row in rows] == [
        [task, policy, passed, "4k", "1.6k", "200", "unknown", "4", "1", "1"]
        for task, passed in (("fails", "0/1"), ("passes", "1/1"), ("all", "1/2"))
        for policy in ("summary", "full-trace")
    ]
    assert total == "scripted: 4 runs, 2 passed, 16,000 tokens sent, cost unknown."
    assert "mean per run" in means
    assert "[1/4] fails, summary" in run.err and "  no such thing" in run.err
    assert "The check failed with exit code 1." in run.err
    assert (await program.run("sessions", "--all")).out == "No sessions yet.\n"
    assert sorted(path.name for path in program.workspace.iterdir()) == ["tasks"]


async def test_each_policy_gets_what_it_promises(program: Program) -> None:
    two_tasks(program)
    async with ModelServer(answer) as server:
        flags = ("--base-url", server.base_url, "--model", "scripted", *flags_of_auto())
        await program.run("eval", "tasks/passes", *flags)
        last = [request.body["messages"] for request in server.requests if turn_of(request) == 2]
    replayed = [any(message["role"] == "tool" for message in messages[:-1]) for messages in last[::2]]
    assert replayed == [False, True]


async def test_the_same_as_json_with_each_run(program: Program) -> None:
    two_tasks(program)
    run = await evaluate(program, answer, "tasks/passes", "--policies", "summary", "--repeat", "2", "--json")
    found = json.loads(run.out)
    assert (run.code, found["schema"], found["complete"], found["stopped"]) == (0, 1, True, "")
    assert [each.pop("number") for each in found["runs"]] == [1, 2]
    assert all(each.pop("seconds") > 0 for each in found["runs"])
    assert (
        found["runs"][0]
        == found["runs"][1]
        == {
            "task": "passes",
            "policy": "summary",
            "passed": True,
            "problem": "",
            "check_exit_code": 0,
            "check_output": "",
            "turns": 2,
            "steps": 4,
            "repeated_reads": 1,
            "failed_edits": 1,
            "input_tokens": 4_000,
            "cached_tokens": 1_600,
            "output_tokens": 200,
            "cost": None,
        }
    )
    assert found["total"]["input_tokens"] == 8_000


async def test_a_broken_task_is_named_and_the_others_run(program: Program) -> None:
    two_tasks(program)
    (program.workspace / "tasks" / "fails" / "check").unlink()
    run = await evaluate(program, answer, "tasks", "--policies", "summary")
    assert run.code == 1
    folder = program.workspace / "tasks" / "fails"
    assert f"Not run: fails. {folder / 'check'} is missing." in run.out
    assert "scripted: 1 run, 1 passed" in run.out


async def test_a_turn_that_is_not_done_fails_its_task_only(program: Program) -> None:
    two_tasks(program)
    seen: list[RecordedRequest] = []

    def refused_at_first(request: RecordedRequest) -> Answer:
        seen.append(request)
        return HttpAnswer(400, {"error": {"message": "no luck"}}) if len(seen) == 1 else answer(request)

    run = await evaluate(program, refused_at_first, "tasks/passes", "--json")
    found = json.loads(run.out)
    assert run.code == 0
    assert [(each["passed"], each["turns"], each["check_exit_code"]) for each in found["runs"]] == [
        (False, 1, None),
        (True, 2, 0),
    ]
    assert found["runs"][0]["problem"].startswith("Turn 1 isn't done: ")
    assert "no luck" in found["runs"][0]["problem"]


async def test_a_refused_key_ends_it(program: Program) -> None:
    two_tasks(program)
    script = lambda _: HttpAnswer(401, {"error": {"message": "wrong key"}})  # noqa: E731
    run = await evaluate(program, script, "tasks")
    assert run.code == 3 and "1 run, 0 passed" in run.out
    assert "Incomplete: The model server refuses the key" in run.out


async def test_it_stops_at_the_limit_of_cost(program: Program) -> None:
    two_tasks(program)
    (program.home / "providers").mkdir()
    async with ModelServer(answer) as server:
        (program.home / "providers" / "acme.toml").write_text(
            f'id = "acme"\nname = "Acme"\napi = "openai-chat"\nbase_url = "{server.base_url}"\n'
            "[models.m]\nprice = { input = 1_000, output = 0, cached_input = 1_000 }\n"
        )
        flags = ("--provider", "acme", "--base-url", server.base_url, "--model", "m", *flags_of_auto())
        run = await program.run("eval", "tasks", "--max-cost", "5", *flags)
    assert run.code == 3
    assert "1 run, 0 passed, 5,000 tokens sent, $5.00." in run.out
    assert "Incomplete: The limit of --max-cost is reached: $5.00." in run.out


async def test_ctrl_c_prints_the_table_so_far(program: Program) -> None:
    two_tasks(program)

    def silent_at_last(request: RecordedRequest) -> Answer:
        return answer(request) if len(server.requests) <= 4 else NoAnswer("stall")

    async with ModelServer(silent_at_last) as server:
        flags = ("--base-url", server.base_url, "--model", "scripted", *flags_of_auto())
        process = await program.start("eval", "tasks", *flags)
        await server.wait_for_requests(5)
        process.send_signal(signal.SIGINT)
        async with asyncio.timeout(LIMIT):
            out, err = await process.communicate()
    assert process.returncode == 3 and b"Traceback" not in err
    rows = [line for line in out.decode().splitlines() if line.startswith("| fails")]
    assert len(rows) == 1 and "summary" in rows[0]
    assert "Incomplete: Stopped." in out.decode()


async def test_ctrl_c_ends_a_check(program: Program) -> None:
    add_task(program, "waits", "Prompt", 'touch "$KEEN_TASK/began"; sleep 600')
    began = program.workspace / "tasks" / "waits" / "began"
    async with ModelServer(lambda _: Reply([Say("Done.")])) as server:
        flags = ("--base-url", server.base_url, "--model", "scripted", *flags_of_auto())
        process = await program.start("eval", "tasks", *flags)
        async with asyncio.timeout(LIMIT):
            while not began.exists():
                await asyncio.sleep(0.02)
            process.send_signal(signal.SIGINT)
            out, _ = await process.communicate()
    assert process.returncode == 3 and b"0 runs" in out


async def test_kept_folders_hold_the_work_and_the_session(program: Program) -> None:
    two_tasks(program)
    flags = ("--policies", "summary", "--keep", "--json")
    run = await evaluate(program, answer, "tasks/passes", *flags, TMPDIR=str(program.workspace))
    folder = Path(json.loads(run.out)["folder"])
    assert (folder / "1" / "work" / "b.txt").read_text() == "seen"
    assert len(list((folder / "1" / "data" / "sessions").rglob("*.jsonl"))) == 1


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("eval", "nowhere"), "There is no folder nowhere, and no task of that name."),
        (("eval", "--policies", "all"), "--policies: unknown policy 'all'."),
        (("eval", "--repeat", "0"), "--repeat must be a number from 1 to"),
        (("eval", "--max-cost", "0"), "--max-cost must be more than 0 US dollars."),
        (
            ("eval", "--max-cost", "1"),
            "Keen doesn't know the price of scripted, so it can't limit the cost (--max-cost).",
        ),
        (("eval", "--memory", "summary"), "--memory doesn't work with eval: use --policies."),
        (("eval", "-p", "hi"), "-p doesn't work with eval."),
        (("usage", "--max-cost", "1"), "--max-cost only works with --until or eval."),
    ],
)
async def test_wrong_words_are_refused(program: Program, arguments: tuple[str, ...], told: str) -> None:
    flags = ("--base-url", "http://127.0.0.1:9/v1", "--model", "scripted")
    run = await program.run(*arguments, *flags)
    assert run.code == 2 and told in run.err, run.err


async def test_mode_auto_needs_a_sandbox_before_anything_is_sent(program: Program) -> None:
    two_tasks(program)
    (program.home / "tmp").mkdir()
    async with ModelServer(answer) as server:
        flags = ("--base-url", server.base_url, "--model", "scripted")
        inside = str(program.home / "tmp")  # no sandbox protects Keen's own folder from commands in it
        run = await program.run("eval", "tasks", *flags, TMPDIR=inside)
        assert run.code == 2 and not server.requests
        assert "Auto mode runs commands in a sandbox" in run.err
        assert not list((program.home / "tmp").iterdir())
        assert (await program.run("eval", "tasks", *flags, "--mode", "auto-edit", TMPDIR=inside)).code == 0
