"""`--worktree` in the program itself: beginning, going on, and each way to leave."""

from __future__ import annotations

import os
import shutil
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from keen_tui.demo.script import Answer, Call, Reply, Say
from keen_tui.system.work_tree_records import trees_folder
from keen_tui.tools.git.work_trees import WorkTrees
from tests.e2e.test_plain_mode import answer, ready, say
from tests.e2e.test_screen import CTRL_C, CTRL_D, PROMPT_SIGN, program
from tests.support.git_repository import commit, git, repository
from tests.support.jail import flags_of_auto
from tests.support.program import Program
from tests.support.terminal import TerminalProgram

pytestmark = pytest.mark.skipif(not shutil.which("git"), reason="git is not installed")

DONE: Answer = Reply([Say("Done.")])
LEAVE = "Quit and keep the work tree fix?"


@pytest.fixture(autouse=True)
def user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A user of git without settings but a name."""
    home = tmp_path / "user"
    home.mkdir()
    (home / ".gitconfig").write_text("[user]\nname = Ada\nemail = ada@example.org\n")
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)


def tree_of(folder: Path) -> Path:
    return trees_folder(folder / "home", folder / "work") / "fix"


async def test_one_turn_works_apart_and_the_next_goes_on_there(tmp_path: Path) -> None:
    if flags_of_auto():
        pytest.skip("no sandbox on this machine")
    keen = Program(tmp_path)
    repository(keen.workspace)
    (keen.workspace / "notes.txt").write_text("not committed\n")
    command = "touch b.txt && git add -A && git commit -qm second && git status --porcelain"
    script = [Reply([Call("bash", {"command": command})]), DONE]
    run = await keen.ask(script, "--worktree", "fix", "--mode", "auto-edit", "-p", "commit")
    assert run.code == 0, run.err
    assert run.out == "Done.\n"
    assert "A new work tree, fix of" in run.err
    assert "uncommitted changes (1 file) don't come along" in run.err
    assert "has 1 commit that no other branch has" in run.err
    assert "Continue with: keen-tui --worktree fix --continue" in run.err
    assert git(keen.workspace, "log", "--format=%s", "keen/fix") == "second\nfirst\n"
    assert git(keen.workspace, "log", "--format=%s", "main") == "first\n"
    assert not (keen.workspace / "b.txt").exists()
    listed = await keen.run("sessions", "--all")
    assert "work tree fix" in listed.out
    run = await keen.ask([DONE], "--worktree", "fix", "--continue", "-p", "go on")
    assert run.code == 0, run.err
    assert "the work tree fix of" in run.err
    nothing = await keen.ask([DONE], "--continue", "-p", "go on")
    assert "There is no session in this folder yet" in nothing.err


@pytest.mark.parametrize("name", ["../x", "a b", "x\x1b[2J", "a/b", ""])
async def test_a_name_that_is_none_is_told_and_makes_nothing(tmp_path: Path, name: str) -> None:
    keen = Program(tmp_path)
    repository(keen.workspace)
    flags = (f"--worktree={name}", *(() if name else ("--continue",)), "-p", "x")
    run = await keen.run(*flags)
    assert run.code == 2
    assert "\x1b" not in run.err
    assert not (keen.home / "worktrees").exists()
    assert git(keen.workspace, "branch", "--format=%(refname)") == "refs/heads/main\n"


async def test_a_flag_is_no_name(tmp_path: Path) -> None:
    keen = Program(tmp_path)
    repository(keen.workspace)
    run = await keen.run("--worktree", "-f", "-p", "x")
    assert run.code == 2
    assert not (keen.home / "worktrees").exists()


async def test_where_there_is_no_repository_it_says_what_to_do(tmp_path: Path) -> None:
    keen = Program(tmp_path)
    run = await keen.run("--worktree", "fix", "-p", "x")
    assert run.code == 2
    assert "isn't in a git repository" in run.err
    assert "Run git init" in run.err


@contextmanager
def line_by_line(folder: Path) -> Iterator[TerminalProgram]:
    """The program in the work tree `fix` of a new repository, line by line."""
    repository(folder / "work")
    with program(folder, [DONE], "--plain", "--worktree", "fix", controls=True) as (terminal, _):
        ready(terminal)
        yield terminal


def is_over(terminal: TerminalProgram, *words: str) -> None:
    """Wait until the program has ended with these words."""
    for each in words:
        terminal.wait_for(each)
    assert terminal.wait_for_exit() == 0


def test_line_by_line_it_is_kept(tmp_path: Path) -> None:
    with line_by_line(tmp_path) as terminal:
        say(terminal, "hello", "Reply: Done.")
        ready(terminal, since=bytes(terminal.output).rfind(b"Done."))
        (tree_of(tmp_path) / "new.txt").write_text("new\n")
        terminal.type("/exit\r")
        answer(terminal, f"Question: {LEAVE}", "1")
        is_over(terminal, "Continue with: keen-tui --plain --worktree fix --continue")
    assert (tree_of(tmp_path) / "new.txt").exists()


def test_line_by_line_it_is_removed_with_its_changes_only_if_that_is_chosen(tmp_path: Path) -> None:
    with line_by_line(tmp_path) as terminal:
        (tree_of(tmp_path) / "new.txt").write_text("new\n")
        terminal.type("/exit\r")
        terminal.wait_for("fix has 1 file with uncommitted changes.")
        answer(terminal, "quit and remove it", "3")
        is_over(terminal, "Removed the work tree fix")
    assert not tree_of(tmp_path).exists()
    assert git(tmp_path / "work", "branch", "--format=%(refname)") == "refs/heads/main\n"


@pytest.mark.parametrize("end", [CTRL_D, CTRL_C])
def test_no_answer_keeps_it(tmp_path: Path, end: str) -> None:
    with line_by_line(tmp_path) as terminal:
        terminal.type("/exit\r")
        terminal.wait_for(LEAVE)
        terminal.wait_for("Answer, 1 to")
        terminal.settle(0.5)
        terminal.type(end)
        is_over(terminal, "The work tree fix is kept: keen-tui --worktree fix")
    assert tree_of(tmp_path).is_dir()


def test_line_by_line_it_is_merged_and_then_asked_about_again(tmp_path: Path) -> None:
    with line_by_line(tmp_path) as terminal:
        commit(tree_of(tmp_path), "b.txt", "b\n", "second")
        terminal.type("/exit\r")
        answer(terminal, LEAVE, "2")
        answer(terminal, "main now has the 1 commit of keen/fix.", "2")
        is_over(terminal, "Removed the work tree fix")
    assert (tmp_path / "work/b.txt").read_text() == "b\n"
    assert not tree_of(tmp_path).exists()


def test_line_by_line_its_patch_is_shown_where_it_can_not_be_merged(tmp_path: Path) -> None:
    with line_by_line(tmp_path) as terminal:
        commit(tree_of(tmp_path), "b.txt", "bee\n", "second")
        commit(tmp_path / "work", "c.txt", "c\n", "another way")
        terminal.type("/exit\r")
        answer(terminal, LEAVE, "2")
        terminal.wait_for("Changes of the work tree fix: 1 file.")
        terminal.wait_for("Line 1 added: bee")
        terminal.wait_for("apply --3way")
        patch = tree_of(tmp_path).parent / ".patches/fix.patch"
        git(tmp_path / "work", "apply", str(patch))
    assert (tmp_path / "work/b.txt").read_text() == "bee\n"
    assert tree_of(tmp_path).is_dir()


def test_on_the_screen_enter_keeps_it_and_a_number_removes_it(tmp_path: Path) -> None:
    repository(tmp_path / "work")
    with program(tmp_path, [], "--worktree", "fix") as (terminal, _):
        terminal.wait_for_screen(PROMPT_SIGN, "keen/fix", "branch keen/fix, from main")
        (tree_of(tmp_path) / "new.txt").write_text("new\n")
        terminal.type("/exit\r")
        terminal.wait_for_screen(LEAVE, "1 file with uncommitted changes")
        terminal.settle(1)
        terminal.type("\r")
        is_over(terminal, "The work tree fix is kept")
    assert (tree_of(tmp_path) / "new.txt").exists()
    with program(tmp_path, [], "--worktree", "fix") as (terminal, _):
        terminal.wait_for_screen(PROMPT_SIGN, "keen/fix")
        terminal.type("/exit\r")
        terminal.wait_for_screen(LEAVE, "loses 1 file with uncommitted changes")
        terminal.settle(1)
        terminal.type("3")
        terminal.settle(0.5)
        terminal.type("\r")
        is_over(terminal, "Removed the work tree fix")
    assert not tree_of(tmp_path).exists()


def test_ctrl_c_twice_leaves_and_keeps_it(tmp_path: Path) -> None:
    repository(tmp_path / "work")
    with program(tmp_path, [], "--worktree", "fix") as (terminal, _):
        terminal.wait_for_screen(PROMPT_SIGN, "keen/fix")
        terminal.type("/exit\r")
        terminal.wait_for_screen(LEAVE)
        terminal.settle(1)
        terminal.type(CTRL_C)
        is_over(terminal, "The work tree fix is kept")
    assert tree_of(tmp_path).is_dir()


def test_what_was_killed_is_still_there(tmp_path: Path) -> None:
    repository(tmp_path / "work")
    with program(tmp_path, [], "--worktree", "fix") as (terminal, _):
        terminal.wait_for_screen(PROMPT_SIGN, "keen/fix")
        (tree_of(tmp_path) / "new.txt").write_text("new\n")
        os.kill(terminal.pid, signal.SIGKILL)
        terminal.wait_for_exit()
    assert (tree_of(tmp_path) / "new.txt").exists()
    with program(tmp_path, [], "--worktree", "fix") as (terminal, _):
        terminal.wait_for_screen(PROMPT_SIGN, "keen/fix", "This is the work tree fix")


async def test_work_trees_are_listed_with_what_they_hold_and_removed_on_request(tmp_path: Path) -> None:
    keen = Program(tmp_path)
    repository(keen.workspace)
    assert "No work trees here" in (await keen.run("worktrees")).out
    for name in ("fix", "other"):
        assert (await keen.ask([DONE], "--worktree", name, "-p", f"about {name}")).code == 0
    commit(tree_of(tmp_path), "b.txt", "b\n", "second")
    (tree_of(tmp_path) / "a.txt").write_text("two\n")
    listed = (await keen.run("worktrees")).out
    has = "1 file with uncommitted changes and 1 commit that no other branch has, 1 ahead of main"
    assert f"fix   keen/fix   {has}\n    about fix, 1 turn" in listed
    assert "other   keen/other   no changes\n    about other, 1 turn" in listed
    assert str(tree_of(tmp_path)) in listed
    assert f"{keen.workspace}" in (await keen.run("worktrees", "--all")).out
    kept = await keen.run("worktrees", "remove", "fix")
    assert kept.code == 2
    assert "fix has 1 file with uncommitted changes" in kept.err
    assert "there is nobody to ask here" in kept.err
    assert tree_of(tmp_path).is_dir()
    removed = await keen.run("worktrees", "remove", "other")
    assert (removed.code, removed.out) == (0, "Removed the work tree other and its branch keen/other.\n")
    assert (await keen.run("worktrees", "remove", "other")).code == 2
    assert (await keen.run("worktrees", "remove")).code == 2
    assert "keen/other" not in (await keen.run("worktrees")).out


@pytest.mark.parametrize(("typed", "stays"), [("\r", True), ("n\r", True), ("y\r", False)])
def test_one_with_changes_is_removed_by_a_yes_only(tmp_path: Path, typed: str, stays: bool) -> None:
    repository(tmp_path / "work")
    WorkTrees({**os.environ, "KEEN_HOME": str(tmp_path / "home")}).begin(tmp_path / "work", "fix")
    (tree_of(tmp_path) / "new.txt").write_text("new\n")
    with program(tmp_path, [], command=("worktrees", "remove", "fix")) as (terminal, _):
        terminal.wait_for("Remove it with that? [y/N]")
        terminal.type(typed)
        is_over(terminal, "Not removed." if stays else "Removed the work tree fix")
    assert tree_of(tmp_path).exists() is stays


def test_one_in_which_a_program_works_is_not_removed(tmp_path: Path) -> None:
    repository(tmp_path / "work")
    with program(tmp_path, [], "--worktree", "fix") as (terminal, _):
        terminal.wait_for_screen(PROMPT_SIGN, "keen/fix")
        with program(tmp_path, [], command=("worktrees", "remove", "fix")) as (other, _):
            other.wait_for(f"Keen is running there (process {terminal.pid})")
            assert other.wait_for_exit() == 2
    assert tree_of(tmp_path).is_dir()
