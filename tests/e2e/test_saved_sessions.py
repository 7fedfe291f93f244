"""What the command line does with saved sessions: the program itself, as a process, without a screen."""

from __future__ import annotations

import asyncio
import json
import os
import signal
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from keen_tui.demo.model_server import ModelServer
from keen_tui.demo.script import Answer, Break, Call, Reply, Say
from keen_tui.demo.wires import seen
from tests.support.program import Program, Run
from tests.support.waiting import LIMIT, until

CUT = Reply([Say("Half a sent")], broken=Break("reset"))
WRITE = Call("write_file", {"path": "a.py", "content": "x"})
FAIL = Call("bash", {"command": "echo ran >> counter; exit 3"})
HANG = Call("bash", {"command": "echo yes > begun; sleep 600"})


@dataclass
class ServedProgram:
    """The program and the server that it speaks to. The answers come in the order of `script`."""

    program: Program
    script: list[Answer] = field(default_factory=list)
    server: ModelServer = field(init=False)

    def __post_init__(self) -> None:
        self.server = ModelServer(lambda _: self.script.pop(0) if self.script else Reply([Say("Ok.")]))

    @property
    def flags(self) -> tuple[str, ...]:
        return ("--base-url", self.server.base_url, "--model", "scripted", "--mode", "auto")

    async def ask(self, text: str, *more: str) -> Run:
        return await self.program.run(*self.flags, "-p", text, *more)

    async def session_of(self, text: str, *more: str) -> str:
        """Ask, and give the id of the session."""
        run = await self.ask(text, "--output", "json", *more)
        assert run.code == 0, run.err
        return str(run.records[0]["session_id"])

    async def ids(self, *more: str) -> list[str]:
        """The first column of the list."""
        run = await self.program.run("sessions", *more)
        return [line.split()[0] for line in run.out.splitlines()]

    def said(self, number: int = -1) -> list[str]:
        """What the model was told in a request, behind the system prompt."""
        return [f"{message.role}: {message.text}" for message in seen(self.server.requests[number])[1:]]

    def file(self, session_id: str) -> Path:
        (found,) = self.program.home.glob(f"sessions/*/{session_id}.jsonl")
        return found

    def settings(self, text: str) -> None:
        (self.program.home / "settings.toml").write_text(f"retry_attempts = 1\n{text}")

    async def running_turn(self) -> asyncio.subprocess.Process:
        """A program of its own, in the middle of a command."""
        self.script += [Reply([WRITE, FAIL]), Reply([HANG])]
        begun = self.program.workspace / "begun"
        process = await self.program.start(*self.flags, "-p", "work")
        await until(lambda: bool(begun.read_text()))
        return process


@pytest.fixture
async def served(tmp_path: Path) -> AsyncIterator[ServedProgram]:
    served = ServedProgram(Program(tmp_path))
    for name in ("begun", "counter"):
        (served.program.workspace / name).touch()
    async with served.server:
        yield served


async def test_a_turn_without_a_screen_is_a_session_whose_id_every_format_tells(
    served: ServedProgram,
) -> None:
    first = await served.session_of("fix the cart")
    assert await served.ids() == [first]
    run = await served.ask("and the tax", "--output", "stream-json")
    opened = run.records[0]
    assert opened["type"] == "session_opened"
    assert await served.ids() == [opened["id"], first]


async def test_continue_sends_the_conversation_on_with_its_turn_memory(served: ServedProgram) -> None:
    served.script += [Reply([WRITE, FAIL]), Reply([Say("Done.")])]
    first = await served.session_of("write it")
    assert await served.session_of("and now", "--continue") == first
    failed = "echo ran >> counter; exit 3 (exit 3)"
    memory = f"Tool memory:\n- Files changed: a.py, counter\n- Failed bash: {failed}"
    assert served.said() == ["user: write it", f"assistant: Done.\n\n{memory}", "user: and now"]
    (line,) = (await served.program.run("sessions")).out.splitlines()
    assert "2 turns" in line
    assert "write it" in line


async def test_continue_takes_the_newest_of_this_folder_alone(served: ServedProgram, tmp_path: Path) -> None:
    here = await served.session_of("here")
    await _elsewhere(served, tmp_path, "there")
    assert await served.session_of("go on", "--continue") == here
    assert served.said()[0] == "user: here"


@pytest.mark.parametrize("content", [b"", b"{}\n", b'{"n":0,"at":17', b"\0\xff" * 100])
async def test_a_file_without_a_record_is_not_gone_on_with(served: ServedProgram, content: bytes) -> None:
    session_id = await served.session_of("one")
    (file,) = served.program.home.rglob(f"{session_id}.jsonl")
    file.write_bytes(content)
    for more in ([], ["--fork"]):
        run = await served.ask("two", "--resume", session_id, *more)
        assert run.code == 2
        assert f"{session_id} has no readable content" in run.err
        assert str(file) in run.err
    assert file.read_bytes() == content


async def test_a_session_is_resumed_by_the_beginning_of_its_id(served: ServedProgram) -> None:
    first, second = await served.session_of("first"), await served.session_of("second")
    assert await served.session_of("go on", "--resume", first[:-1]) == first
    assert served.said() == ["user: first", "assistant: Ok.", "user: go on"]
    assert await served.ids() == [first, second], "the one that was used last comes first"


async def test_an_id_that_names_no_session_or_several_says_so_and_begins_none(served: ServedProgram) -> None:
    known = [await served.session_of("first"), await served.session_of("second")]
    several = await served.ask("hi", "--resume", known[0][:2])
    assert (several.code, several.out) == (2, "")
    assert all(session_id in several.err for session_id in known)
    for wrong in ("nope", "../../etc/passwd", ""):
        unknown = await served.ask("hi", "--resume", wrong)
        assert unknown.code == 2
        assert f"no session {wrong!r}" in unknown.err
    assert sorted(await served.ids()) == sorted(known)


async def test_continue_in_a_folder_without_sessions_says_where_there_are_some(served: ServedProgram) -> None:
    run = await served.ask("hi", "--continue")
    assert run.code == 2
    assert "sessions --all" in run.err


async def test_fork_goes_on_with_a_copy_and_leaves_the_old_one_as_it_is(served: ServedProgram) -> None:
    old = await served.session_of("first")
    before = served.file(old).read_bytes()
    copy = await served.session_of("another way", "--continue", "--fork")
    assert copy != old
    assert served.file(old).read_bytes() == before
    assert served.said() == ["user: first", "assistant: Ok.", "user: another way"]
    assert json.loads(served.file(copy).read_text().splitlines()[0])["forked_from"] == old


@pytest.mark.parametrize("flags", [("-p", " "), ("-p", "hi", "--api-key-env", "NOPE")])
async def test_a_fork_that_is_refused_leaves_no_copy(served: ServedProgram, flags: tuple[str, ...]) -> None:
    known = await served.session_of("first")
    assert (await served.program.run(*served.flags, "--continue", "--fork", *flags)).code == 2
    assert await served.ids() == [known]


async def test_sessions_lists_those_of_this_folder_and_with_all_those_of_every_folder(
    served: ServedProgram, tmp_path: Path
) -> None:
    assert (await served.program.run("sessions")).out == "No sessions in this folder yet.\n"
    assert (await served.program.run("sessions", "--all")).out == "No sessions yet.\n"
    here = await served.session_of("here")
    there = await _elsewhere(served, tmp_path, "there")
    assert await served.ids() == [here]
    assert await served.ids("--all") == [there, here]
    listed = (await served.program.run("sessions", "--all")).out
    assert str(served.program.workspace) in listed
    assert str(tmp_path / "other") in listed


async def _elsewhere(served: ServedProgram, tmp_path: Path, text: str) -> str:
    """Ask in another folder."""
    here, served.program.workspace = served.program.workspace, tmp_path / "other"
    served.program.workspace.mkdir()
    session_id = await served.session_of(text)
    served.program.workspace = here
    return session_id


async def test_a_list_that_nobody_reads_on_is_no_mistake(served: ServedProgram) -> None:
    await served.session_of("first")
    reading, writing = os.pipe()
    os.close(reading)
    served.program.stdout = writing
    process = await served.program.start("sessions")
    os.close(writing)
    async with asyncio.timeout(LIMIT):
        _, err = await process.communicate()
    assert (process.returncode, err) == (128 + signal.SIGPIPE, b"")


EXPORTS: list[tuple[tuple[str, ...], str, str]] = [
    ((), "exports/keen-{}.md", "> first"),
    (("--format", "html"), "exports/keen-{}.html", "<!DOCTYPE html>"),
    (("--format", "json"), "exports/keen-{}.json", '"format": "keen-tui-session"'),
    (("-o", "page.HTM"), "page.HTM", "<!DOCTYPE html>"),
    (("--out", "it.json", "--format", "json"), "it.json", '"format": "keen-tui-session"'),
    (("--out", "notes.txt"), "notes.txt", "> first"),
]


@pytest.mark.parametrize(("flags", "name", "words"), EXPORTS)
async def test_export_writes_the_format_that_flag_or_suffix_name_and_prints_the_file(
    served: ServedProgram, flags: tuple[str, ...], name: str, words: str
) -> None:
    session_id = await served.session_of("first")
    run = await served.program.run("export", session_id[:-1], *flags)
    folder = served.program.workspace if "/" not in name else served.program.home
    file = folder / name.format(session_id)
    assert (run.code, run.out, run.err) == (0, f"{file}\n", "")
    assert words in file.read_text()


async def test_an_export_never_writes_over_a_file(served: ServedProgram) -> None:
    session_id = await served.session_of("first")
    (served.program.workspace / "mine.md").write_text("mine")
    run = await served.program.run("export", session_id, "-o", "mine.md")
    assert run.code == 1
    assert "mine.md already exists" in run.err
    assert (served.program.workspace / "mine.md").read_text() == "mine"


async def test_an_export_that_cannot_be_says_why_and_writes_nothing(served: ServedProgram) -> None:
    session_id = await served.session_of("first")
    before = sorted(served.program.workspace.iterdir())
    disagree = await served.program.run("export", session_id, "--format", "html", "-o", "x.md")
    assert (disagree.code, disagree.out) == (2, "")
    assert "--format html and the file name x.md disagree" in disagree.err
    unknown = await served.program.run("export", "nope")
    assert unknown.code == 2, "as for --resume nope"
    assert "no session 'nope'" in unknown.err
    no_folder = await served.program.run("export", session_id, "-o", "missing/x.md")
    assert no_folder.code == 1
    assert "missing/x.md can't be written" in no_folder.err
    assert sorted(served.program.workspace.iterdir()) == before


async def test_a_damaged_session_is_exported_with_what_is_whole(served: ServedProgram) -> None:
    session_id = await served.session_of("first")
    with served.file(session_id).open("ab") as file:
        file.write(b'{"n": 99, "type": "turn_sta')
    before = served.file(session_id).read_bytes()
    assert (await served.program.run("export", session_id)).code == 0
    assert served.file(session_id).read_bytes() == before, "reading changes nothing"


MISUSE: list[tuple[list[str], str]] = [
    (["nonsense"], "There is no command 'nonsense'."),
    (["fix the bug"], "To send a prompt, use -p."),
    (["sessions", "20260131"], "takes no arguments"),
    (["sessions", "-p", "hi"], "-p doesn't work with sessions"),
    (["sessions", "--continue"], "--continue doesn't work with sessions"),
    (["sessions", "--format", "html"], "--format only works with export"),
    (["export"], "takes one session id"),
    (["export", "1", "2"], "takes one session id"),
    (["export", "1", "--all"], "--all only works with sessions"),
    (["export", "1", "--fork"], "--fork doesn't work with export"),
    (["export", "1", "--format", "pdf"], "--format takes"),
    (["replay"], "takes one file"),
    (["replay", "x.jsonl"], "no terminal"),
    (["replay", "x.jsonl", "--speed", "-1"], "--speed must be 0 or more"),
    (["replay", "x.jsonl", "--speed", "nan"], "--speed must be 0 or more"),
    (["replay", "x.jsonl", "--speed", "fast"], "--speed takes a number, not 'fast'."),
    (["replay", "x.jsonl", "--output", "json"], "--output doesn't work with replay"),
    (["--speed", "2"], "--speed only works with replay"),
    (["--demo", "--out", "x"], "--out only works with export"),
    (["--fork"], "--fork only works with --continue or --resume"),
    (["-p", "hi", "--fork"], "--fork only works with --continue or --resume"),
    (["--continue", "--resume", "2026"], "--resume and --continue don't go together"),
    (["--demo", "-p", "hi"], "--demo and -p don't go together"),
    (["--demo", "--continue"], "--demo and --continue don't go together"),
    (["--pace", "2"], "--pace only works with --demo"),
    (["--demo", "--pace", "nan"], "--pace must be 0 or more"),
    (["--memory", "everything"], "--memory takes summary, in-band or full-trace, not 'everything'."),
    (["--resume"], "--resume needs a value: --resume ID."),
    (["--continue"], "no terminal"),
    (["sesions"], "There is no command 'sesions'. Did you mean sessions?"),
    (["resume"], "There is no command 'resume'. Did you mean --resume?"),
    (["login"], "There is no command 'login'. The commands are "),
    (["--modle", "x"], "There is no flag --modle. Did you mean --model or --mode? See"),
    (["--verbose"], "There is no flag --verbose. See keen-tui --help all."),
    (["-p", "hi", "--output", "github"], "--output with -p takes text, json or stream-json, not 'github'."),
    (["-p", "hi", "--output", "jsno"], "takes text, json or stream-json, not 'jsno'. Did you mean json?"),
    (["--continue=3"], "--continue takes no value."),
    (
        ["--base-url", "foo", "--model", "m"],
        "--base-url must begin with http:// or https:// and name a host, such as "
        "http://localhost:8000/v1, not 'foo'.",
    ),
    (["-p", "hi", "--max-steps", "0"], "--max-steps must be a whole number above 0, not 0."),
    (["serve", "--port", "x"], "--port takes a whole number, not 'x'."),
    (["--provider", "nosuch"], "There is no provider 'nosuch'. Choose openai, anthropic"),
    (["--provider", "antropic"], "There is no provider 'antropic'. Did you mean anthropic?"),
    (["-p", "hi", "--effort", "huge"], "There is no effort 'huge'. Choose low, medium"),
    (["--theme", "keen-ligt"], "There is no theme 'keen-ligt'. Did you mean keen-light?"),
    (["-r", "zzzz"], "There is no session 'zzzz'. keen-tui sessions lists them."),
    (["-p", "hi", "-r", "zzzz"], "There is no session 'zzzz'. keen-tui sessions lists them."),
]


async def test_names_that_cant_be_checked_here_are_left_to_those_who_know_them(served: ServedProgram) -> None:
    (served.program.home / "settings.toml").write_text("retry_attempts = 1\n")
    themes = served.program.home / "themes"
    themes.mkdir()
    (themes / "broken.toml").write_text("[[")
    for flags in (("--theme", "keen-dark"), ("--effort", "minimal")):
        run = await served.program.run(
            "-p", "hi", "--base-url", "http://127.0.0.1:9/v1", "--model", "m", *flags
        )
        assert run.code == 1
        assert "Can't reach 127.0.0.1:9" in run.err


@pytest.mark.parametrize(("arguments", "words"), MISUSE, ids=lambda value: str(value))
async def test_what_does_not_go_together_is_one_sentence_and_exit_code_2(
    served: ServedProgram, arguments: list[str], words: str
) -> None:
    run = await served.program.run(*arguments)
    assert (run.code, run.out) == (2, "")
    assert words in run.err
    assert len(run.err.splitlines()) == 1


TABLES: list[tuple[str, str]] = [
    ("[memory]\npolicy = 'everything'", "memory.policy must be one of summary, in-band, full-trace"),
    ("[memory]\npolcy = 'summary'", "unknown setting 'memory.polcy'"),
    ("[memory]\npolicy = 1", "memory.policy must be one of"),
    ("memory = 'summary'", "memory must be a table, [memory]"),
    ("[pending]\ndurable = 'yes'", "pending.durable must be true or false, not 'yes'"),
    ("[pending]\ndurabel = true", "unknown setting 'pending.durabel'"),
    ("pending = true", "pending must be a table, [pending]"),
    ("compact_at = 0", "compact_at must be a whole number above 0"),
    ("[sessions]\nkeep = 3", "unknown setting 'sessions'"),
]


@pytest.mark.parametrize(("settings", "words"), TABLES)
async def test_a_setting_that_is_wrong_is_named_as_it_is_written_with_its_file(
    served: ServedProgram, settings: str, words: str
) -> None:
    served.settings(settings)
    run = await served.program.run("sessions")
    assert run.code == 2
    assert words in run.err
    assert str(served.program.home / "settings.toml") in run.err
    if "unknown" in words:
        assert "memory.policy" in run.err.partition("Known are")[2]


async def test_the_memory_policy_of_the_settings_holds_and_the_flag_wins(served: ServedProgram) -> None:
    served.settings("[memory]\npolicy = 'full-trace'")
    served.script += [Reply([WRITE]), Reply([Say("Done.")])]
    await served.session_of("write it")
    await served.session_of("go on", "--continue")
    assert [words.split(":")[0] for words in served.said()] == [
        "user",
        "assistant",
        "tool",
        "assistant",
        "user",
    ]
    await served.session_of("go on", "--continue", "--memory", "summary")
    assert not any(words.startswith("tool:") for words in served.said())


async def test_a_session_that_runs_elsewhere_is_refused_and_can_be_forked(served: ServedProgram) -> None:
    other = await served.running_turn()
    try:
        (line,) = (await served.program.run("sessions")).out.splitlines()
        assert "open elsewhere" in line
        refused = await served.ask("me too", "--continue")
        assert (refused.code, refused.out) == (1, "")
        assert "open in another program" in refused.err
        assert "--fork" in refused.err
        assert len(refused.err.splitlines()) == 1
        assert (await served.ask("me too", "--continue", "--fork")).code == 0
        assert "Tool memory:\n- Files changed: a.py" in "\n".join(served.said())
    finally:
        other.send_signal(signal.SIGINT)
        await other.communicate()
    assert (await served.ask("and now", "--resume", line.split()[0])).code == 0


async def test_an_incomplete_turn_is_lost_with_the_process_but_remembered(served: ServedProgram) -> None:
    served.settings("")
    served.script += [Reply([WRITE, FAIL]), CUT]
    run = await served.ask("write it")
    assert run.code == 3
    assert "2 calls are lost with this process; files changed: a.py, counter." in run.err
    await served.session_of("go on", "--continue")
    assert served.said()[1].startswith("assistant: (turn abandoned)\n\nTool memory:\n- Files changed: a.py")


async def test_what_opening_a_session_leaves_out_and_gives_up_is_told(served: ServedProgram) -> None:
    served.settings("")
    served.script += [Reply([WRITE, FAIL]), CUT]
    await served.ask("write it")
    (session_id,) = await served.ids()
    with served.file(session_id).open("ab") as file:
        file.write(b'{"n": 99, "type": "turn_sta')
    run = await served.ask("go on", "--continue")
    assert run.code == 0
    assert "! The session file had 1 damaged place" in run.err
    assert "! Turn 1 was incomplete and its work was abandoned; files changed: a.py, counter." in run.err
    again = await served.ask("and on", "--continue")
    assert (again.code, again.err) == (0, "")


async def test_with_durable_pending_state_it_says_how_to_go_on_and_does(served: ServedProgram) -> None:
    served.settings("[pending]\ndurable = true")
    served.script += [Reply([WRITE, FAIL]), CUT]
    run = await served.ask("write it")
    (session_id,) = await served.ids()
    assert run.code == 3
    assert "2 calls are kept; files changed: a.py, counter." in run.err
    assert f"keen-tui --resume {session_id}" in run.err
    assert "lost" not in run.err
    assert await served.session_of("go on", "--resume", session_id) == session_id
    roles = [words.split(":")[0] for words in served.said()]
    assert roles == ["user", "assistant", "tool", "tool", "user"], "the finished work is sent whole"
    assert (served.program.workspace / "counter").read_text() == "ran\n", "nothing ran twice"


@pytest.mark.parametrize("durable", [False, True])
async def test_a_program_that_is_killed_mid_turn_is_gone_on_with(
    served: ServedProgram, *, durable: bool
) -> None:
    served.settings(f"[pending]\ndurable = {str(durable).lower()}")
    process = await served.running_turn()
    process.send_signal(signal.SIGKILL)
    await process.communicate()
    await served.session_of("what now", "--continue")
    said = "\n".join(served.said())
    assert (served.program.workspace / "counter").read_text() == "ran\n", "nothing ran twice"
    if durable:
        assert "effects unknown" in said
        assert "turn abandoned" not in said
    else:
        memory = "Tool memory:\n- Files changed: a.py, counter\n- Failed bash:"
        assert f"assistant: (turn abandoned)\n\n{memory}" in said
    (line,) = (await served.program.run("sessions")).out.splitlines()
    assert "open elsewhere" not in line, "a dead program has nothing open"
