"""The files that commands change, at the level of the wire (turn.md rules 12 and 16)."""

from __future__ import annotations

import subprocess
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from keen_tui.demo.script import Answer, Break, Call, Reply, Say
from keen_tui.domain.display import CommandDisplay
from keen_tui.domain.events import (
    Notice,
    ShellFinished,
    ToolFinished,
    ToolOutput,
    TurnAbandoned,
    TurnDone,
    TurnIncomplete,
)
from keen_tui.domain.facts.server_called import CalledTool
from keen_tui.domain.messages import TurnMemory
from keen_tui.settings.added.hooks import Hook
from keen_tui.settings.added.mcp_servers import McpServer
from keen_tui.tools.work_tree import tree
from tests.support.mcp import all_settled, talkative
from tests.support.saving import SavedBench, place
from tests.support.waiting import until

OK: Answer = Reply([Say("ok")])
CUT: Answer = Reply([Say("This sentence is cut in the mid")], broken=Break("reset"))


def bash(command: str) -> Call:
    return Call("bash", {"command": command})


@asynccontextmanager
async def program(
    folder: Path,
    script: list[Answer],
    *,
    watches: bool = True,
    hooks: Sequence[Hook] = (),
    servers: Sequence[McpServer] = (),
) -> AsyncIterator[SavedBench]:
    """A session in a repository with src/a.py, src/b.py and notes.txt; the last one isn't tracked."""
    work = folder / "work"
    (work / "src").mkdir(parents=True)
    (work / "src" / "a.py").write_text("one\n")
    (work / "src" / "b.py").write_text("two\n")
    (work / ".gitignore").write_text("out/\n")
    git(work, "init", "-q")
    git(work, "add", ".")
    git(work, "commit", "-qm", "first")
    (work / "notes.txt").write_text("by hand\n")
    async with (
        place(folder, "openai-chat", script) as here,
        here.program(watches=watches, hooks=hooks, servers=servers) as bench,
    ):
        yield bench


def git(folder: Path, *words: str) -> None:
    who = ("-c", "user.name=a", "-c", "user.email=a@b")
    subprocess.run(["git", *who, *words], cwd=folder, check=True, capture_output=True)


async def test_what_a_hook_changes_after_an_edit_is_remembered_told_and_undone(tmp_path: Path) -> None:
    formatter = Hook(point="PostToolUse", matcher="Edit", command="echo '# formatted' >> src/a.py")
    edit = Call("edit_file", {"path": "src/a.py", "old_text": "one", "new_text": "1"})
    async with program(tmp_path, [Reply([edit]), OK], hooks=[formatter]) as bench:
        work = bench.session.workspace
        end = await bench.ask("change it")
        assert isinstance(end, TurnDone)
        assert end.turn_memory == TurnMemory(files_changed=("src/a.py",))
        assert "[after this call a hook changed src/a.py]" in bench.results()[0]
        assert (work / "src" / "a.py").read_text() == "1\n# formatted\n"
        assert await bench.changes.undo(1) == ""
        assert (work / "src" / "a.py").read_text() == "one\n"


async def test_what_a_call_of_a_server_changes_is_remembered_shown_and_undone(tmp_path: Path) -> None:
    def put(path: str, text: str, **more: bool) -> Call:
        return Call("mcp__talk__put", {"path": path, "text": text, **more})

    calls = Reply([put("src/a.py", "1\n"), put("new.txt", "new\n", fails=True), put("out/x", "ignored")])
    async with program(tmp_path, [calls, OK], servers=[talkative()]) as bench:
        work = bench.session.workspace
        (work / "out").mkdir()
        await all_settled(bench)
        end = await bench.ask("change it")
        assert isinstance(end, TurnDone)
        assert end.turn_memory.files_changed == ("src/a.py", "new.txt")
        assert end.turn_memory.called == (CalledTool(server="talk", tool="put", done=2, failed=1),)
        changed = (await bench.changes.changes(1)).files
        assert {file.path for file in changed} == {"src/a.py", "new.txt"}
        assert await bench.changes.undo(1) == ""
        assert (work / "src" / "a.py").read_text() == "one\n"
        assert not (work / "new.txt").exists()


async def test_later_turns_know_what_commands_changed(tmp_path: Path) -> None:
    script = [
        Reply([bash("sed -i s/one/1/ src/a.py; mkdir out; echo 1 > out/x; touch src/b.py")]),
        Reply([bash("echo more >> notes.txt; mv src/b.py src/c.py; exit 3")]),
        OK,
        OK,
    ]
    async with program(tmp_path, script) as bench:
        end = await bench.ask("go")
        assert isinstance(end, TurnDone)
        assert end.turn_memory.by_command == ("src/a.py", "notes.txt", "src/b.py", "src/c.py")
        await bench.ask("sure?")
        assert bench.lines()[1] == (
            "assistant: ok\n\nTool memory:\n"
            "- Files changed: src/a.py, notes.txt, src/b.py, src/c.py\n"
            "- Failed bash: echo more >> notes.txt; mv src/b.py src/c.py; exit 3 (exit 3)"
        )


async def test_a_person_sees_the_changed_lines(tmp_path: Path) -> None:
    async with program(tmp_path, [Reply([bash("sed -i s/one/1/ src/a.py; rm src/b.py")]), OK]) as bench:
        await bench.ask("go")
        display = bench.log.of(ToolFinished)[0].result.display
        assert isinstance(display, CommandDisplay)
        changed, deleted = display.changed
        assert (changed.path, changed.change, deleted.path, deleted.change) == (
            "src/a.py", "changed", "src/b.py", "deleted",
        )  # fmt: skip
        assert changed.diff
        assert [(row.sign, row.text) for row in changed.diff.hunks[0]] == [("-", "one"), ("+", "1")]


async def test_a_tool_and_a_command_that_change_one_file(tmp_path: Path) -> None:
    edit = Call("edit_file", {"path": "src/a.py", "old_text": "one", "new_text": "two"})
    script = [Reply([bash("echo 1 >> src/a.py; echo 1 >> src/b.py")]), Reply([edit]), OK]
    async with program(tmp_path, script) as bench:
        end = await bench.ask("go")
        assert isinstance(end, TurnDone)
        assert end.turn_memory == TurnMemory(files_changed=("src/a.py", "src/b.py"), by_command=("src/b.py",))


async def test_undo_puts_back_what_commands_changed(tmp_path: Path) -> None:
    command = (
        "sed -i s/one/1/ src/a.py; rm src/b.py; rm notes.txt; mkdir gen; echo 1 > gen/x; chmod +x .gitignore;"
        "head -c 2000000 /dev/zero > large; ln -s src/a.py link"
    )
    async with program(tmp_path, [Reply([bash(command)]), OK, OK]) as bench:
        work = bench.session.workspace
        await bench.ask("go")
        changes = await bench.changes.changes(1)
        assert {file.path for file in changes.files} == {
            ".gitignore", "gen/x", "large", "link", "notes.txt", "src/a.py", "src/b.py",
        }  # fmt: skip
        assert await bench.changes.undo(1) == "large: it is larger than 1 MB. link: it is a symbolic link."
        assert (work / "src" / "a.py").read_text() == "one\n"
        assert (work / "src" / "b.py").read_text() == "two\n"
        assert (work / "notes.txt").read_text() == "by hand\n"
        assert not (work / "gen" / "x").exists()
        assert not (work / ".gitignore").stat().st_mode & 0o100
        await bench.ask("and now?")
        undone = ".gitignore, gen/x, notes.txt, src/a.py, src/b.py"
        assert bench.lines()[1].endswith(
            f"(changes of turn 1 undone)\n\nTool memory:\n- Files changed: {undone}"
        )


async def test_what_a_stopped_command_changed_is_remembered(tmp_path: Path) -> None:
    script = [Reply([bash("echo 1 > src/a.py; echo begun; sleep 600")]), OK, OK]
    async with program(tmp_path, script) as bench:
        bench.session.submit("go")
        await bench.log.wait_for(ToolOutput)
        bench.session.stop()
        end = await bench.log.wait_for_end()
        assert isinstance(end, TurnIncomplete)
        assert end.turn_memory.files_changed == ("src/a.py",)
        bench.session.discard()
        abandoned = await bench.log.wait_for(TurnAbandoned)
        assert abandoned.turn_memory.by_command == ("src/a.py",)


async def test_18_facts_of_commands_in_a_recovered_turn(tmp_path: Path) -> None:
    script = [Reply([bash("echo 1 > src/a.py")]), CUT, Reply([bash("echo 2 > src/b.py")]), OK, OK]
    async with program(tmp_path, script) as bench:
        assert isinstance(await bench.ask("go"), TurnIncomplete)
        end = await bench.retry()
        assert isinstance(end, TurnDone)
        assert end.turn_memory.by_command == ("src/a.py", "src/b.py")
        assert [event.turn for event in bench.log.of(ToolFinished)] == [1, 1]
        await bench.ask("sure?")
        assert bench.lines()[1].endswith("- Files changed: src/a.py, src/b.py")
        assert await bench.changes.undo(1) == ""
        src = bench.session.workspace / "src"
        assert ((src / "a.py").read_text(), (src / "b.py").read_text()) == ("one\n", "two\n")


async def test_many_files_are_folded_by_folder(tmp_path: Path) -> None:
    command = (
        "mkdir -p gen/api/v1 gen/api/v2 docs; touch top.txt docs/only;"
        "for i in $(seq 15); do touch gen/api/v1/$i.py gen/api/v2/$i.py; done"
    )
    async with program(tmp_path, [Reply([bash(command)]), OK, OK]) as bench:
        end = await bench.ask("go")
        assert isinstance(end, TurnDone)
        assert len(end.turn_memory.files_changed) == 32
        await bench.ask("sure?")
        assert bench.lines()[1].endswith(
            "- Files changed: docs/only, gen/api/v1/ (15 files), gen/api/v2/ (15 files), top.txt"
        )


async def test_a_command_of_the_user_is_shown_and_not_remembered(tmp_path: Path) -> None:
    async with program(tmp_path, [OK, OK]) as bench:
        bench.session.run_own("echo 1 > src/a.py")
        ended = await bench.log.wait_for(ShellFinished)
        assert isinstance(ended.result.display, CommandDisplay)
        assert [file.path for file in ended.result.display.changed] == ["src/a.py"]
        assert ended.result.facts == ()
        end = await bench.ask("go")
        assert isinstance(end, TurnDone)
        assert not end.turn_memory


async def test_a_turn_whose_commands_are_not_watched_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tree, "MOST_FOLDERS", 1)
    script = [Reply([bash("echo 1 > src/a.py")]), Reply([bash("echo 2 > src/a.py")]), OK, OK]
    async with program(tmp_path, script) as bench:
        end = await bench.ask("go")
        assert isinstance(end, TurnDone)
        assert end.turn_memory == TurnMemory(unwatched=True)
        notices = [event.text for event in bench.log.of(Notice)]
        assert notices == ["This folder has too many files: Keen can't see here what commands change."]
        await bench.ask("sure?")
        assert bench.lines()[1].endswith("Tool memory:\n- Files changed by commands are not watched here")
        assert (await bench.changes.changes(1)).unwatched == 2


async def test_the_user_can_turn_it_off(tmp_path: Path) -> None:
    async with program(tmp_path, [Reply([bash("echo 1 > src/a.py")]), OK], watches=False) as bench:
        end = await bench.ask("go")
        assert isinstance(end, TurnDone)
        assert end.turn_memory == TurnMemory(unwatched=True)
        assert bench.log.of(Notice) == []


async def test_a_command_that_only_reads_is_not_watched(tmp_path: Path) -> None:
    async with program(tmp_path, [Reply([bash("cat src/a.py")]), OK], watches=False) as bench:
        end = await bench.ask("go")
        assert isinstance(end, TurnDone)
        assert not end.turn_memory


async def test_what_a_command_changed_before_it_went_to_the_background_counts_for_its_call(
    tmp_path: Path,
) -> None:
    command = "echo new > src/a.py; echo begun; while ! test -e go; do sleep 0.05; done"
    async with program(tmp_path, [Reply([bash(command)]), OK]) as bench:
        bench.session.submit("go")
        await until(lambda: any("begun" in output.text for output in bench.log.of(ToolOutput)))
        bench.session.tasks.move()
        end = await bench.log.wait_for_end()
        assert end.turn_memory.files_changed == ("src/a.py",)
        assert bench.session.tasks.running
