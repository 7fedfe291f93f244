"""Sub-agents that work in a git work tree of their own (turn.md rule 20, case 29), with real git."""

from __future__ import annotations

import asyncio
import os
import shutil
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from keen_tui.demo.model_server import ModelServer
from keen_tui.demo.script import Break, Call, Reply, Say
from keen_tui.demo.wires import seen
from keen_tui.domain.choices import Api
from keen_tui.domain.display import AgentDisplay
from keen_tui.domain.events import ApprovalRequested, TurnAbandoned, TurnDone, TurnIncomplete
from keen_tui.frontends.shared.questions import approval_choices
from keen_tui.settings.added.agents import BUILT_IN
from keen_tui.system.presence import present_in
from keen_tui.tools.git.linked_tree import LinkedTree, WorkTreeState
from keen_tui.tools.git.work_trees import WorkTrees
from tests.support.git_repository import commit, git, repository
from tests.support.saving import SavedBench
from tests.support.sub_agents import WRITER, ByTask, kill_when, own_home, said, server_of, task, with_agents
from tests.support.waiting import until
from tests.support.wire import assert_valid

pytestmark = pytest.mark.skipif(not shutil.which("git"), reason="git is not installed")

APART = replace(WRITER, isolation="worktree")
WRITE = Reply([Call("write_file", {"path": "b.txt", "content": "b\n"})])
COMMIT = "git add -A && git -c user.name=Ada -c user.email=ada@example.org commit -qm second"
CUT = Reply([Say("This sentence is cut in the mid")], broken=Break("reset"))
HANG = Reply([Say("Thinking")], broken=Break("stall"))


@pytest.fixture
def environ(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    home = own_home(tmp_path, monkeypatch)
    repository(tmp_path / "work")
    return home


@asynccontextmanager
async def apart(
    folder: Path, server: ModelServer, environ: dict[str, str], api: Api = "openai-chat", **more: Any
) -> AsyncIterator[SavedBench]:
    """A running program whose sub-agent `writer` works apart."""
    async with with_agents(folder, server, api, environ, agents=(*BUILT_IN, APART), **more) as bench:
        yield bench


def trees() -> tuple[LinkedTree, ...]:
    return WorkTrees(os.environ).all()


def results_of(answers: ByTask) -> list[str]:
    """The results in the parent's newest request."""
    return [message.text for message in seen(answers.sent["go"][-1]) if message.role == "tool"]


async def test_29_it_changes_its_own_work_tree_and_later_turns_know_where(
    tmp_path: Path, api: Api, environ: dict[str, str]
) -> None:
    server, answers = server_of(
        {
            "go": [Reply([task("write b", "writer")]), said("Done."), said("Later.")],
            "write b": [WRITE, Reply([Call("bash", {"command": "exit 3"})]), said("Written.")],
        }
    )
    async with server, apart(tmp_path, server, environ, api) as bench:
        end = await bench.ask("go")
        assert isinstance(end, TurnDone)
        (tree,) = trees()
        assert (tree.path / "b.txt").read_text() == "b\n"
        assert not (tmp_path / "work/b.txt").exists()
        assert tree.record.branch == f"keen/{tree.path.name}" and tree.path.name.startswith("writer-")
        (result,) = results_of(answers)
        assert result == (
            "Written.\n\nTool memory:\n- Files changed: b.txt\n- Failed bash: exit 3 (exit 3)\n\n"
            f"It worked in its own git work tree, {tree.path}, on the branch {tree.record.branch}. "
            "Your workspace doesn't have its changes. It has 1 file with uncommitted changes, and "
            "stays until the user removes it."
        )
        assert "your own git work tree" in seen(answers.sent["write b"][0])[0].text
        assert end.turn_memory.files_changed == ()
        assert [each.branch for each in end.turn_memory.work_trees] == [tree.record.branch]
        assert len(end.turn_memory.failed_bash) == 1
        await bench.ask("and now")
        assert (
            f"- Work tree: {tree.path.name} (branch {tree.record.branch})"
            in seen(server.requests[-1])[2].text
        )
        assert_valid(server.requests)


async def test_its_commits_can_be_merged(tmp_path: Path, environ: dict[str, str]) -> None:
    server, answers = server_of(
        {
            "go": [Reply([task("write b", "writer")]), said("Done.")],
            "write b": [WRITE, Reply([Call("bash", {"command": COMMIT})]), said("Written.")],
        }
    )
    async with server, apart(tmp_path, server, environ) as bench:
        await bench.ask("go")
        (tree,) = trees()
        branch = tree.record.branch
        (result,) = results_of(answers)
        assert "It has 1 commit not in main, and stays" in result
        assert f"git diff main...{branch} shows the commits, git merge {branch} merges them." in result
        git(tmp_path / "work", "merge", "-q", branch)
        assert (tmp_path / "work/b.txt").read_text() == "b\n"


async def test_an_unchanged_work_tree_is_removed(tmp_path: Path, api: Api, environ: dict[str, str]) -> None:
    read = Reply([Call("read_file", {"path": "a.txt"})])
    server, answers = server_of(
        {"go": [Reply([task("look", "writer")]), said("Done.")], "look": [read, said("Seen.")]}
    )
    async with server, apart(tmp_path, server, environ, api) as bench:
        end = await bench.ask("go")
        assert results_of(answers) == ["Seen."]
        assert not end.turn_memory
        assert trees() == ()
        assert git(tmp_path / "work", "branch", "--format=%(refname:short)") == "main\n"


async def test_a_retry_goes_on_in_the_same_work_tree(
    tmp_path: Path, api: Api, environ: dict[str, str]
) -> None:
    append = Reply([Call("bash", {"command": "echo once >> b.txt"})])
    server, _ = server_of(
        {"go": [Reply([task("one", "writer")]), said("Done.")], "one": [append, CUT, said("One.")]}
    )
    async with server, apart(tmp_path, server, environ, api) as bench:
        end = await bench.ask("go")
        (tree,) = trees()
        assert isinstance(end, TurnIncomplete)
        assert [each.name for each in end.turn_memory.work_trees] == [tree.path.name]
        assert present_in(os.environ, tree.path)
        end = await bench.retry()
        assert isinstance(end, TurnDone)
        assert [each.path for each in trees()] == [tree.path]
        assert (tree.path / "b.txt").read_text() == "once\n"
        assert len(end.turn_memory.work_trees) == 1
        assert not present_in(os.environ, tree.path)
        assert_valid(server.requests)


async def test_a_killed_program_goes_on_in_the_same_work_tree(
    tmp_path: Path, environ: dict[str, str]
) -> None:
    append = Reply([Call("bash", {"command": "echo once >> b.log"})])  # ignored by git, so never a change
    server, answers = server_of(
        {"go": [Reply([task("one", "writer")]), said("Done.")], "one": [append, HANG, said("One.")]}
    )
    async with server:
        async with apart(tmp_path, server, environ, durable=True) as bench:
            bench.session.submit("go")
            kill = await kill_when(bench, lambda: len(answers.sent.get("one", ())) == 2)
        (tree,) = trees()
        kill.come()
        async with apart(tmp_path, server, environ, durable=True, opening=kill.session_id) as bench:
            end = await bench.retry()
            assert isinstance(end, TurnDone)
            assert [each.path for each in trees()] == [] and not tree.path.exists()
            again = seen(answers.sent["one"][2])
            assert str(tree.path) in again[0].text
            assert len(answers.sent["one"]) == 3


@pytest.mark.parametrize("has_changed", [False, True])
async def test_a_message_after_a_kill_tells_of_the_work_tree_and_removes_it_unchanged(
    tmp_path: Path, environ: dict[str, str], has_changed: bool
) -> None:
    server, answers = server_of(
        {
            "go": [Reply([task("one", "writer")]), said("Understood.")],
            "one": [WRITE if has_changed else Reply([Call("read_file", {"path": "a.txt"})]), HANG],
        }
    )
    async with server:
        async with apart(tmp_path, server, environ, durable=True) as bench:
            bench.session.submit("go")
            kill = await kill_when(bench, lambda: len(answers.sent.get("one", ())) == 2)
        kill.come()
        (tree,) = trees()
        async with apart(tmp_path, server, environ, durable=True, opening=kill.session_id) as bench:
            assert isinstance(await bench.ask("leave it"), TurnDone)
            (result,) = results_of(answers)
            place = f"It worked in its own git work tree, {tree.path}, on the branch"
            assert result.startswith(
                f"The sub-agent was interrupted before it finished: the program ended\n{place}"
            )
            assert ("- Work tree: " in result) == has_changed
            if not has_changed:
                await until(lambda: not trees())
        assert tree.path.exists() == has_changed


async def test_a_change_that_a_kill_cut_short_is_remembered_after_a_retry(
    tmp_path: Path, environ: dict[str, str]
) -> None:
    server, answers = server_of(
        {
            "go": [Reply([task("one", "writer")]), said("Understood.")],
            "one": [Reply([Call("bash", {"command": "echo b > b.txt; sleep 300"})]), HANG],
        }
    )
    async with server:
        async with apart(tmp_path, server, environ, durable=True) as bench:
            bench.session.submit("go")
            kill = await kill_when(bench, lambda: any((tree.path / "b.txt").exists() for tree in trees()))
        kill.come()
        (tree,) = trees()
        async with apart(tmp_path, server, environ, durable=True, opening=kill.session_id) as bench:
            bench.session.retry()
            kill = await kill_when(bench, lambda: len(answers.sent.get("one", ())) == 2)
        kill.come()
        async with apart(tmp_path, server, environ, durable=True, opening=kill.session_id) as bench:
            end = await bench.ask("leave it")
            assert isinstance(end, TurnDone)
            assert [each.name for each in end.turn_memory.work_trees] == [tree.record.name]
        assert (tree.path / "b.txt").exists()


async def test_discarded_work_stays_in_its_work_tree(tmp_path: Path, environ: dict[str, str]) -> None:
    server, _ = server_of({"go": [Reply([task("one", "writer")]), said("Later.")], "one": [WRITE, CUT]})
    async with server, apart(tmp_path, server, environ) as bench:
        await bench.ask("go")
        bench.session.discard()
        abandoned = await bench.log.wait_for(TurnAbandoned)
        (tree,) = trees()
        assert [each.name for each in abandoned.turn_memory.work_trees] == [tree.path.name]
        assert (tree.path / "b.txt").exists()


async def test_the_model_is_told_where_it_was_broken_off(tmp_path: Path, environ: dict[str, str]) -> None:
    server, answers = server_of(
        {"go": [Reply([task("one", "writer")]), said("Understood.")], "one": [WRITE, CUT]}
    )
    async with server, apart(tmp_path, server, environ) as bench:
        await bench.ask("go")
        await bench.ask("leave it")
        (tree,) = trees()
        (result,) = results_of(answers)
        assert result.startswith("The sub-agent was interrupted before it finished:")
        assert f"It worked in its own git work tree, {tree.path}" in result
        assert "Files changed" not in result


async def test_in_a_work_tree_it_begins_at_the_commit_of_that(
    tmp_path: Path, environ: dict[str, str]
) -> None:
    parent = WorkTrees(os.environ).begin(tmp_path / "work", "parent").tree
    tip = commit(parent.path, "p.txt", "p\n", "in the work tree")
    (tmp_path / "at").mkdir()
    (tmp_path / "at/work").symlink_to(parent.path)
    server, answers = server_of(
        {"go": [Reply([task("one", "writer")]), said("Done.")], "one": [WRITE, said("One.")]}
    )
    async with server, apart(tmp_path / "at", server, environ) as bench:
        await bench.ask("go")
        (tree,) = (each for each in trees() if each.path != parent.path)
        assert (tree.record.commit, tree.record.base) == (tip, "keen/parent")
        assert (tree.path / "p.txt").exists() and not (parent.path / "b.txt").exists()
        assert f"the branch {tree.record.branch}" in results_of(answers)[0]


async def test_without_a_repository_its_call_fails_with_the_reason(
    tmp_path: Path, environ: dict[str, str]
) -> None:
    shutil.rmtree(tmp_path / "work/.git")
    server, answers = server_of({"go": [Reply([task("one", "writer")]), said("Done.")]})
    async with server, apart(tmp_path, server, environ) as bench:
        assert isinstance(await bench.ask("go"), TurnDone)
        (result,) = results_of(answers)
        assert "isn't in a git repository, so it can't have work trees" in result
        assert result.endswith("or leave isolation: worktree out of the sub-agent's definition.")


async def test_plan_mode_makes_no_work_tree(tmp_path: Path, environ: dict[str, str]) -> None:
    server, answers = server_of({"go": [Reply([task("one", "writer")]), said("Done.")]})
    async with server, apart(tmp_path, server, environ, mode="plan") as bench:
        await bench.ask("go")
        assert "In plan mode there is no work tree" in results_of(answers)[0]
        assert trees() == ()


async def test_undo_leaves_its_work_tree_alone(tmp_path: Path, environ: dict[str, str]) -> None:
    own = Call("write_file", {"path": "own.txt", "content": "own\n"})
    server, _ = server_of(
        {"go": [Reply([own, task("one", "writer")]), said("Done.")], "one": [WRITE, said("One.")]}
    )
    async with server, apart(tmp_path, server, environ) as bench:
        await bench.ask("go")
        (tree,) = trees()
        changes = await bench.changes.changes(1)
        assert [file.path for file in changes.files] == ["own.txt"]
        await bench.changes.undo(1)
        assert not (tmp_path / "work/own.txt").exists() and (tree.path / "b.txt").exists()


async def test_its_session_is_saved_and_shown(tmp_path: Path, environ: dict[str, str]) -> None:
    server, _ = server_of(
        {"go": [Reply([task("one", "writer")]), said("Done.")], "one": [WRITE, said("One.")]}
    )
    async with server, apart(tmp_path, server, environ) as bench:
        await bench.ask("go")
        (tree,) = trees()
        finished = next(event for event in bench.log.ends if isinstance(event, TurnDone))
        assert finished.turn_memory.work_trees[0].name == tree.path.name
        assert tree.record.agent == "writer"
        steps = bench.session.past.steps[1]
        display = steps[0].calls[0][1].display
        assert isinstance(display, AgentDisplay)
        events = bench.store.read(bench.store.path_of(display.session)).records
        assert any(isinstance(record.event, TurnDone) for record in events)


async def test_what_is_allowed_in_its_work_tree_is_not_allowed_in_the_workspace(
    tmp_path: Path, environ: dict[str, str]
) -> None:
    server, _ = server_of(
        {
            "go": [Reply([task("one", "writer")]), WRITE, said("Done.")],
            "one": [WRITE, WRITE, said("One.")],
        }
    )
    async with server, apart(tmp_path, server, environ, mode="ask") as bench:
        bench.session.submit("go")
        asked = await bench.log.wait_for(ApprovalRequested)
        assert asked.agent == "writer" and asked.grant == "allow all edits in this workspace for this session"
        bench.session.answer(asked.id, allow=True, scope="session")
        await until(lambda: len(bench.log.of(ApprovalRequested)) == 2 or bool(bench.log.of(TurnDone)))
        again = bench.log.of(ApprovalRequested)[-1]
        assert not again.agent and not (tmp_path / "work/b.txt").exists()
        bench.session.answer(again.id, allow=False)
        await bench.log.wait_for(TurnDone)
        assert len(bench.log.of(ApprovalRequested)) == 2


async def test_what_is_always_allowed_in_its_work_tree_counts_for_the_project(
    tmp_path: Path, environ: dict[str, str]
) -> None:
    check = Reply([Call("bash", {"command": "make check"})])
    server, _ = server_of(
        {"go": [Reply([task("one", "writer")]), check, said("Done.")], "one": [check, said("One.")]}
    )
    async with server, apart(tmp_path, server, environ, mode="ask") as bench:
        bench.session.submit("go")
        asked = await bench.log.wait_for(ApprovalRequested)
        assert asked.agent == "writer" and asked.saves_for_project
        assert asked.saves == ("make check *",)
        assert [choice.label for choice in approval_choices(asked, "; ")][2] == "yes, always in this project"
        bench.session.answer(asked.id, allow=False)
        await until(lambda: len(bench.log.of(ApprovalRequested)) == 2)
        own = bench.log.of(ApprovalRequested)[-1]
        assert not own.agent and not own.saves_for_project
        assert [choice.label for choice in approval_choices(own, "; ")][2] == "yes, always in this folder"
        bench.session.answer(own.id, allow=True, scope="workspace")
        await bench.log.wait_for(TurnDone)


async def test_a_stop_while_its_work_tree_is_looked_at_leaves_its_place_in_the_result(
    tmp_path: Path, environ: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    looks, may_look, state = threading.Event(), threading.Event(), LinkedTree.state

    def slowly(tree: LinkedTree) -> WorkTreeState:
        looks.set()
        may_look.wait()
        return state(tree)

    monkeypatch.setattr(LinkedTree, "state", slowly)
    server, answers = server_of(
        {"go": [Reply([task("one", "writer")]), said("Done.")], "one": [WRITE, said("One.")]}
    )
    async with server, apart(tmp_path, server, environ) as bench:
        bench.session.submit("go")
        await until(looks.is_set)
        bench.session.stop()
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        may_look.set()
        await bench.log.wait_for(TurnIncomplete)
        assert isinstance(await bench.retry(), TurnDone)
        (tree,) = trees()
        assert f"It worked in its own git work tree, {tree.path}" in results_of(answers)[0]
        assert len(answers.sent["one"]) == 2


async def test_the_end_of_the_program_removes_an_unchanged_work_tree_that_nobody_goes_on_with(
    tmp_path: Path, environ: dict[str, str]
) -> None:
    read = Reply([Call("read_file", {"path": "a.txt"})])
    server, answers = server_of({"go": [Reply([task("one", "writer")])], "one": [read, HANG]})
    async with server:
        async with apart(tmp_path, server, environ) as bench:
            bench.session.submit("go")
            await until(lambda: len(answers.sent.get("one", ())) == 2)
            assert len(trees()) == 1
        assert trees() == ()
        assert git(tmp_path / "work", "branch", "--format=%(refname:short)") == "main\n"


async def test_one_whose_work_tree_was_removed_meanwhile_says_so_and_does_not_go_on(
    tmp_path: Path, environ: dict[str, str]
) -> None:
    server, answers = server_of(
        {"go": [Reply([task("one", "writer")]), said("Again, then.")], "one": [WRITE, CUT]}
    )
    async with server:
        async with apart(tmp_path, server, environ, durable=True) as bench:
            await bench.ask("go")
            session_id = bench.history.session_id
        (tree,) = trees()
        tree.remove(with_changes=True)
        async with apart(tmp_path, server, environ, durable=True, opening=session_id) as bench:
            assert isinstance(await bench.retry(), TurnDone)
            (result,) = results_of(answers)
            assert "It was interrupted and its work tree has been removed" in result
            assert len(answers.sent["one"]) == 2
            assert trees() == ()


async def test_it_leaves_the_workspace_alone_and_tells_of_other_files(
    tmp_path: Path, environ: dict[str, str]
) -> None:
    writes = [
        Reply([Call("write_file", {"path": str(file), "content": "c\n"})])
        for file in (tmp_path / "work/c.txt", tmp_path / "beside.txt")
    ]
    server, answers = server_of(
        {"go": [Reply([task("one", "writer")]), said("Done.")], "one": [*writes, said("One.")]}
    )
    async with server, apart(tmp_path, server, environ) as bench:
        end = await bench.ask("go")
        assert not (tmp_path / "work/c.txt").exists()
        told = [message.text for message in seen(answers.sent["one"][-1]) if message.role == "tool"]
        assert f"{tmp_path}/work/c.txt is in your caller's folder, which you don't change." in told[0]
        assert (tmp_path / "beside.txt").exists()
        assert end.turn_memory.files_changed == ("../beside.txt",)
        assert end.turn_memory.work_trees == () and trees() == ()
