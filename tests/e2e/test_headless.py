"""The program itself, as a process, without a screen."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import signal
import subprocess
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from keen_tui import __version__
from keen_tui.demo.model_server import ModelServer
from keen_tui.demo.script import Break, Call, HttpAnswer, RecordedRequest, Reply, Say
from keen_tui.domain.messages import TokenUsage, TurnMemory
from keen_tui.providers.registry import APIS
from tests.support.images import png
from tests.support.jail import PYTHON, flags_of_auto
from tests.support.processes import called_with
from tests.support.program import Program
from tests.support.waiting import LIMIT, until

CUT = Reply([Say("Half a sent")], broken=Break("reset"))


@pytest.fixture
async def program(tmp_path: Path) -> AsyncIterator[Program]:
    yield Program(tmp_path)


async def test_text_prints_the_answer_alone_on_standard_output(program: Program) -> None:
    run = await program.ask([Reply([Say("The answer.")])], "-p", "hi")
    assert (run.code, run.out, run.err) == (0, "The answer.\n", "")


@pytest.mark.parametrize("api", APIS)
async def test_every_api_is_spoken_by_its_name(program: Program, api: str) -> None:
    script = [Reply([Call("write_file", {"path": "a.py", "content": "x"})]), Reply([Say("Done.")])]
    run = await program.ask(script, "-p", "hi", "--api", api, "--mode", "auto", "--effort", "high")
    assert (run.code, run.out) == (0, "Done.\n")
    assert (program.workspace / "a.py").read_text() == "x"


async def test_the_environment_names_the_server_and_the_key_of_anthropic(program: Program) -> None:
    async with ModelServer([Reply([Say("Ok.")])]) as server:
        flags = ("-p", "hi", "--provider", "anthropic", "--model", "claude-opus-5", "--output", "json")
        run = await program.run(*flags, ANTHROPIC_BASE_URL=server.base_url, ANTHROPIC_API_KEY="sk-mine")
        assert run.code == 0
        (request,) = server.requests
        assert (request.path, request.headers["x-api-key"]) == ("/v1/messages", "sk-mine")
        assert "sk-mine" not in run.out + run.err


async def test_the_cost_is_known_where_the_price_is(program: Program) -> None:
    (program.home / "providers").mkdir()
    usage = TokenUsage(input_tokens=100, output_tokens=20, cached_tokens=40)
    async with ModelServer([Reply([Say("Ok.")], usage=usage)]) as server:
        flags = ("--provider", "acme", "--base-url", server.base_url, "--model", "m", "-p", "hi")
        (program.home / "providers" / "acme.toml").write_text(
            f'id = "acme"\nname = "Acme"\napi = "openai-chat"\nbase_url = "{server.base_url}"\n'
            "[models.m]\nprice = { input = 10_000, output = 100_000, cached_input = 1_000 }\n"
        )
        run = await program.run(*flags, "--output", "json")
    (record,) = run.records
    assert record["usage"] == {
        "input_tokens": 100,
        "output_tokens": 20,
        "cached_tokens": 40,
        "cost_usd": pytest.approx(0.6 + 2.0 + 0.04),
    }


async def test_mode_auto_without_a_sandbox_has_to_be_asked_for(program: Program) -> None:
    script = [Reply([Call("bash", {"command": "touch ran"})]), Reply([Say("Done.")])]
    async with ModelServer(script) as server:
        flags = ("--base-url", server.base_url, "--model", "m", "-p", "hi", "--mode", "auto")
        home = str(program.workspace)  # no sandbox protects a home folder from commands that work in it
        refused = await program.run(*flags, HOME=home)
        assert (refused.code, refused.out) == (2, "")
        assert refused.err == (
            "keen-tui: Auto mode runs commands in a sandbox, and there is none here: the workspace contains "
            "your home folder. Add --no-sandbox to run them without one, or use --mode auto-edit.\n"
        )
        assert not server.requests
        assert (await program.run(*flags, "--no-sandbox", HOME=home)).code == 0
    assert (program.workspace / "ran").exists()


async def test_the_prompt_can_come_from_standard_input(program: Program) -> None:
    async with ModelServer([Reply([Say("Ok.")])]) as server:
        run = await program.run("--base-url", server.base_url, "--model", "m", "-p", stdin="from a pipe")
        assert run.code == 0
        assert server.requests[0].body["messages"][-1]["content"] == "from a pipe"


async def test_a_command_of_ones_own_is_sent_as_its_text(program: Program) -> None:
    (program.home / "commands").mkdir()
    (program.home / "commands" / "say.md").write_text("Say $1, please.")
    async with ModelServer([Reply([Say("Ok.")])] * 3) as server:
        connection = ("--base-url", server.base_url, "--model", "m", "-p")
        for prompt in ("/say hello", "/etc/hosts has a typo"):
            assert (await program.run(*connection, prompt)).code == 0
        assert (await program.run(*connection, stdin="/say hello")).code == 0
        sent = [request.body["messages"][-1]["content"] for request in server.requests]
        assert sent == ["Say hello, please.", "/etc/hosts has a typo", "/say hello"]
        refused = await program.run(*connection, "/compact")
        assert (refused.code, refused.out) == (2, "")
        assert "/compact works only on the screen" in refused.err


async def test_a_skill_is_called_by_its_name(program: Program) -> None:
    for name, text in (("pdf", "---\nname: pdf\ndescription: d\n---\nFill $ARGUMENTS in."), ("bad", "no")):
        (program.home / "skills" / name).mkdir(parents=True)
        (program.home / "skills" / name / "SKILL.md").write_text(text)
    async with ModelServer([Reply([Say("Ok.")])] * 2) as server:
        connection = ("--base-url", server.base_url, "--model", "m", "-p")
        run = await program.run(*connection, "/pdf form.pdf")
        assert (run.code, run.out) == (0, "Ok.\n")
        assert "The skill in your settings folder/bad isn't used: it has no front matter" in run.err
        assert (await program.run(*connection, stdin="/pdf form.pdf")).code == 0
        typed, piped = (request.body["messages"][-1]["content"] for request in server.requests)
        assert typed.startswith("/pdf form.pdf\n\nSkill pdf, in the folder")
        assert "Fill form.pdf in." in typed
        assert piped.strip() == "/pdf form.pdf"


async def test_setup_hooks_run_only_with_init(program: Program) -> None:
    hooks = {"Setup": [{"hooks": [{"type": "command", "command": "echo x >> set-up"}]}]}
    (program.home / "hooks.json").write_text(json.dumps({"hooks": hooks}))
    assert (await program.ask([Reply([Say("Ok.")])], "-p", "hi")).code == 0
    assert not (program.workspace / "set-up").exists()
    assert (await program.ask([Reply([Say("Ok.")])], "-p", "hi", "--init")).code == 0
    assert (program.workspace / "set-up").read_text() == "x\n"


async def test_an_unknown_command_is_refused_with_the_nearest_names(program: Program) -> None:
    for name in ("review-code", "review-docs", "pdf"):
        (program.home / "skills" / name).mkdir(parents=True)
        text = f"---\nname: {name}\ndescription: d\n---\nDo it."
        (program.home / "skills" / name / "SKILL.md").write_text(text)
    async with ModelServer([Reply([Say("Ok.")])] * 5) as server:
        connection = ("--base-url", server.base_url, "--model", "m", "-p")
        refused = await program.run(*connection, "/review-cod")
        assert (refused.code, refused.out) == (2, "")
        assert refused.err == (
            "keen-tui: There is no command /review-cod. Did you mean /review-code or /review-docs? "
            "Start with a space to send it as a prompt.\n"
        )
        unlike = await program.run(*connection, "/zzz")
        assert (unlike.code, "Did you mean" in unlike.err) == (2, False)
        assert not server.requests
        for message in ("/etc/hosts is broken", "/tmp is full", "/etc/hosts", " /review-cod"):
            assert (await program.run(*connection, message)).code == 0
        assert (await program.run(*connection, stdin="/review-cod")).code == 0
        assert len(server.requests) == 5


async def test_json_is_one_object_with_memory_and_usage(program: Program) -> None:
    script = [
        Reply([Call("write_file", {"path": "a.py", "content": "x"}), Call("bash", {"command": "exit 2"})]),
        Reply([Say("Done.")]),
    ]
    run = await program.ask(script, "-p", "hi", "--output", "json", "--mode", "auto")
    (record,) = run.records
    assert record["type"] == "turn_done"
    assert record["text"] == "Done."
    assert tuple(record["turn_memory"]) == TurnMemory.__struct_fields__
    assert {name: facts for name, facts in record["turn_memory"].items() if facts} == {
        "files_changed": ["a.py"],
        "failed_bash": [{"kind": "CommandFailed", "command": "exit 2", "exit_code": 2}],
    }
    assert record["session_id"]
    assert record["usage"] == {
        "input_tokens": 200,
        "output_tokens": 40,
        "cached_tokens": 0,
        "cost_usd": None,
    }
    assert (program.workspace / "a.py").read_text() == "x"


async def test_a_failed_tool_says_why_on_standard_error(program: Program) -> None:
    noisy = "for n in 1 2 3 4 5 6 7 8; do echo line $n; done; echo; exit 3"
    script = [
        Reply([Call("read_file", {"path": "missing.py"}), Call("bash", {"command": noisy})]),
        Reply([Say("Done.")]),
    ]
    run = await program.ask(script, "-p", "hi", "--mode", "auto", "--no-sandbox")
    assert (run.code, run.out) == (0, "Done.\n")
    read, why, bash, *output = run.err.splitlines()
    assert read.startswith("x read_file missing.py") and bash.startswith("x bash")
    assert why.startswith("    ") and "missing.py" in why
    assert output == [f"    line {number}" for number in (4, 5, 6, 7, 8)]


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        (HttpAnswer(429, {"error": "pay", "code": "insufficient_quota"}), "pay (429). Nothing was run."),
        (HttpAnswer(404, ""), "404 Not Found. Check the base URL: most end in /v1. Nothing"),
        (HttpAnswer(413, ""), "with /compact. Nothing was run."),
        (HttpAnswer(401, {"detail": [{"msg": "no such key"}]}), "no such key. "),
    ],
)
async def test_a_failed_turn_is_told_in_whole_sentences(
    program: Program, answer: HttpAnswer, says: str
) -> None:
    run = await program.ask([answer], "-p", "hi")
    assert (run.code, run.out) == (1, "")
    assert says in run.err
    assert ".." not in run.err and "?." not in run.err


async def test_stream_json_is_one_event_a_line(program: Program) -> None:
    script = [
        Reply([Say("I run it."), Call("bash", {"command": "echo hello; exit 3"})]),
        Reply([Say("Done.")]),
    ]
    run = await program.ask(script, "-p", "hi", "--output", "stream-json", "--mode", "auto", "--no-sandbox")
    types = [record["type"] for record in run.records]
    assert types[:2] == ["session_opened", "turn_started"]
    assert types[-1] == "turn_done"
    assert {"text_delta", "tool_started", "tool_output", "tool_finished", "usage"} <= set(types)
    finished = next(record for record in run.records if record["type"] == "tool_finished")
    assert {name: finished[name] for name in ("name", "is_error", "exit_code", "denied", "sandboxed")} == {
        "name": "bash",
        "is_error": False,
        "exit_code": 3,
        "denied": False,
        "sandboxed": False,
    }
    assert finished["arguments"] == {"command": "echo hello; exit 3"}
    started = next(record for record in run.records if record["type"] == "tool_started")
    assert started["id"] == finished["id"]


async def test_of_images_stream_json_tells_the_names(program: Program) -> None:
    (program.workspace / "shot.png").write_bytes(png())
    run = await program.ask([Reply([Say("Blue.")])], "-p", "see @shot.png", "--output", "stream-json")
    [attached] = [record for record in run.records if record["type"] == "images_attached"]
    assert attached == {"type": "images_attached", "turn": 1, "images": ["shot.png"]}


async def test_what_would_ask_is_denied_and_told(program: Program) -> None:
    script = [Reply([Call("bash", {"command": "touch ran"})]), Reply([Say("Ok.")])]
    run = await program.ask(script, "-p", "hi")
    assert run.code == 0
    assert "--mode auto" in run.err
    assert not (program.workspace / "ran").exists()


@pytest.mark.parametrize("output", ["text", "json", "stream-json"])
async def test_the_end_names_what_nobody_could_be_asked_about(program: Program, output: str) -> None:
    touch = Call("bash", {"command": "touch ran"})
    fetch = Call("web_fetch", {"url": "https://example.com/"})
    script = [Reply([touch, touch]), Reply([fetch]), Reply([Say("Ok.")])]
    run = await program.ask(script, "-p", "hi", "--output", output)
    if output == "text":
        at = run.err.splitlines().index("Refused, because there was nobody to ask:")
        assert run.err.splitlines()[at + 1 :] == [
            "- bash touch ran: --mode auto allows it",
            "- web_fetch https://example.com/: --allow-web example.com or the rule web(example.com) in your "
            "settings allows it",
        ]
    else:
        assert [each["target"] for each in run.records[-1]["refused"]] == [
            "touch ran",
            "https://example.com/",
        ]
        assert run.records[-1]["refused"][0]["way"] == "--mode auto allows it"
        assert run.records[-1]["left_behind"] == []


@pytest.mark.skipif(not shutil.which("git"), reason="git is not installed")
@pytest.mark.parametrize("output", ["text", "json", "stream-json"])
@pytest.mark.parametrize("until", [[], ["--until", "true"]])
async def test_the_end_names_what_stayed_in_the_sandbox(
    program: Program, output: str, until: list[str]
) -> None:
    if flags_of_auto():
        pytest.skip("no sandbox on this machine")
    subprocess.run(("git", "init", "-q"), cwd=program.workspace, check=True)
    commands = ("git config core.editor vim", "echo x >> ~/.bashrc")
    script = [*(Reply([Call("bash", {"command": each})]) for each in commands), Reply([Say("Ok.")])]
    run = await program.ask(script, "-p", "hi", "--mode", "auto", "--output", output, *until)
    rows = [
        "- bash git config core.editor vim: changed only in the sandbox: the setting core.editor",
        "- bash echo x >> ~/.bashrc: it wrote .bashrc only to the sandbox's own home",
    ]
    if output == "text":
        title = "Held back by the sandbox (--mode auto --no-sandbox runs commands without it):"
        at = run.err.splitlines().index(title)
        assert run.err.splitlines()[at + 1 : at + 3] == rows
    else:
        left = run.records[-1]["left_behind"]
        assert [f"- {each['name']} {each['target']}: {each['what']}" for each in left] == rows


IN_BACKGROUND = {
    "at once": ("git config core.editor vim", []),
    "later": ("until test -e go; do sleep 0.02; done; git config core.editor vim", ["write_file"]),
    "stopped": (
        "trap 'git config core.editor vim; exit' TERM; touch ready; while :; do sleep 0.02; done",
        ["bash", "task_stop"],
    ),
}
ARGUMENTS: dict[str, dict[str, str]] = {
    "write_file": {"path": "go", "content": ""},
    "bash": {"command": "until test -e ready; do sleep 0.02; done"},
    "task_stop": {"id": "t1"},
}


@pytest.mark.skipif(not shutil.which("git"), reason="git is not installed")
@pytest.mark.parametrize(
    ("end", "output"), [("at once", "json"), ("later", "text"), ("stopped", "stream-json")]
)
async def test_the_end_names_what_a_command_in_the_background_left_in_the_sandbox(
    program: Program, end: str, output: str
) -> None:
    if flags_of_auto():
        pytest.skip("no sandbox on this machine")
    subprocess.run(("git", "init", "-q"), cwd=program.workspace, check=True)
    command, names = IN_BACKGROUND[end]
    calls = [Call("bash", {"command": command, "background": True})]
    calls += [Call(name, ARGUMENTS[name]) for name in names]

    def answer(request: RecordedRequest) -> Reply:
        if calls:
            return Reply([calls.pop(0)])
        has_ended = "[git: changed only in the sandbox" in request.raw.decode()
        return Reply([Say("Ok.") if has_ended else Call("task_output", {"id": "t1"})])

    async with ModelServer(answer) as server:
        flags = ("--base-url", server.base_url, "--model", "m", "--mode", "auto", "--output", output)
        run = await program.run(*flags, "-p", "hi")
    what = "changed only in the sandbox: the setting core.editor"
    if output == "text":
        assert run.err.splitlines()[-1] == f"- bash {command}: {what}"
    else:
        left = {"name": "bash", "target": command, "what": what}
        assert run.records[-1]["left_behind"] == [left]


async def test_a_host_that_nobody_was_asked_about_is_named_once(program: Program) -> None:
    if flags_of_auto():
        pytest.skip("no sandbox on this machine")
    fetch = f"{PYTHON} -c 'import urllib.request as r; r.urlopen(\"http://example.com/\")'"
    script = [Reply([Call("bash", {"command": fetch})]), Reply([Say("Ok.")])]
    run = await program.ask(script, "-p", "hi", "--mode", "auto", "--output", "json")
    [end] = run.records
    assert len([*end["refused"], *end["left_behind"]]) == 1


async def test_an_incomplete_turn_is_exit_code_3_and_says_what_is_lost(program: Program) -> None:
    script = [Reply([Call("write_file", {"path": "a.py", "content": "x"})]), *[CUT] * 4]
    (program.home / "settings.toml").write_text("retry_attempts = 1\n")
    run = await program.ask(script, "-p", "hi", "--mode", "auto")
    assert run.code == 3
    assert "1 call is" in run.err
    assert "a.py" in run.err


async def test_an_error_is_exit_code_1_in_one_sentence(program: Program) -> None:
    run = await program.ask([HttpAnswer(401, {"error": {"message": "bad key"}})], "-p", "hi")
    assert run.code == 1
    assert "bad key" in run.err
    assert run.out == ""


async def test_a_server_that_is_not_there_is_named(program: Program) -> None:
    (program.home / "settings.toml").write_text("retry_attempts = 1\n")
    run = await program.run("-p", "hi", "--base-url", "http://127.0.0.1:9/v1", "--model", "m")
    assert run.code == 1
    assert "127.0.0.1:9" in run.err


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
async def test_a_signal_stops_the_turn_and_its_command(program: Program, number: signal.Signals) -> None:
    asleep = f"sleep 600.{os.getpid()}{number}"
    script = [Reply([Call("bash", {"command": asleep})])]
    async with ModelServer(script) as server:
        process = await program.start(
            "--base-url", server.base_url, "--model", "m", "--mode", "auto", "-p", "hi"
        )
        await until(lambda: called_with(asleep))
        process.send_signal(number)
        async with asyncio.timeout(LIMIT):
            _, err = await process.communicate()
        assert process.returncode == 3
        assert (b"You stopped it" if number == signal.SIGINT else b"Keen ended while") in err
        assert not called_with(asleep)


USAGE: list[tuple[list[str], str, str]] = [
    ([], "", "no terminal"),
    (["-p", "hi"], "", "No model"),
    (["-p", "hi", "--model", "m"], "", "OPENAI_API_KEY"),
    (["-p", "hi", "--model", "m", "--base-url", "nonsense"], "", "--base-url"),
    (["-p", "", "--model", "m", "--base-url", "http://localhost:1"], "", "prompt is empty"),
    (["-p", "hi", "--model", "m", "--api-key-env", "NOPE"], "", "NOPE"),
    (["--output", "json"], "", "--output only works with -p"),
    (["--mode", "yolo"], "", "--mode takes ask, auto-edit, plan or auto, not 'yolo'"),
    (["-p", "hi", "--max-steps", "0"], "", "--max-steps"),
    ([], "colour = 'red'", "unknown setting 'colour'"),
    ([], "mode = 'yolo'", "mode must be one of"),
    ([], "mode = ", "isn't valid TOML"),
    ([], "api_key = 'sk-1'", "keys don't belong there"),
    ([], "max_steps = true", "whole number"),
]


@pytest.mark.parametrize(("arguments", "settings", "words"), USAGE)
async def test_usage_errors_say_what_and_are_exit_code_2(
    program: Program, arguments: list[str], settings: str, words: str
) -> None:
    (program.home / "settings.toml").write_text(settings)
    run = await program.run(*arguments)
    assert run.code == 2
    assert words in run.err
    assert run.out == ""


async def test_version(program: Program) -> None:
    assert (await program.run("--version")).out == f"keen-tui {__version__}\n"


@pytest.mark.parametrize("api", APIS)
async def test_the_demo_without_a_terminal_plays_the_whole_tour(program: Program, api: str) -> None:
    run = await program.run("--demo", "--api", api)
    assert run.code == 0
    for words in (
        "exit 1",
        "turn incomplete",
        "> ctrl+r",
        "All tests pass",
        "files changed: cart.py",
        "0 tool results from earlier turns",
        "Tool memory:\n- Files changed: cart.py",
    ):
        assert words in run.out
    assert run.out.count("+ edit_file cart.py") == 1, "nothing runs twice"


async def test_a_new_file_that_runs_code_later_is_set_aside(tmp_path: Path) -> None:
    if flags_of_auto():
        pytest.skip("no sandbox on this machine")
    program = Program(tmp_path)
    script = [Reply([Call("bash", {"command": "echo 'all: ; touch ran' > Makefile"})]), Reply([Say("Done.")])]
    async with ModelServer(script) as server:
        flags = ("--base-url", server.base_url, "--model", "m", "--mode", "auto-edit", "-p", "hi")
        assert (await program.run(*flags)).code == 0
        (result,) = [each for each in server.requests[1].body["messages"] if each["role"] == "tool"]
    assert not (program.workspace / "Makefile").exists()
    (folder,) = (program.home / "quarantine").iterdir()
    assert (folder / "0").read_text() == "all: ; touch ran\n"
    assert f"it is in {folder}, and --mode auto allows it" in result["content"]
