"""Git's everyday commands in the program itself: they run without a question where commands do."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from keen_tui.demo.model_server import ModelServer
from keen_tui.demo.script import Call, Reply, Say
from keen_tui.tools.sandbox.scratch import FOLDER
from tests.e2e.test_orphans import require, without_bubblewrap
from tests.support.jail import flags_of_auto
from tests.support.program import Program
from tests.support.waiting import until


def git(folder: Path, home: Path, *words: str) -> str:
    environ = {"PATH": os.environ["PATH"], "HOME": str(home)}
    return subprocess.run(
        ("git", *words), cwd=folder, env=environ, check=True, capture_output=True, text=True
    ).stdout


def with_repository(folder: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Program, Path]:
    """A program in a repository with one commit, and the home of its user."""
    user = folder / "user"
    user.mkdir()
    (user / ".gitconfig").write_text("[user]\nname = Ada\nemail = ada@example.org\n")
    monkeypatch.setenv("HOME", str(user))
    program = Program(folder)
    (program.workspace / "src").mkdir()
    (program.workspace / "src/a").touch()
    for words in ("init -qb main", "add .", "commit -qm first"):
        git(program.workspace, user, *words.split())
    return program, user


@pytest.mark.parametrize(("mode", "subjects"), [("auto-edit", "second\nfirst\n"), ("ask", "first\n")])
async def test_a_commit_is_made_without_a_question_where_commands_need_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mode: str, subjects: str
) -> None:
    if flags_of_auto() or not shutil.which("git"):
        pytest.skip("no sandbox, or no git, on this machine")
    program, user = with_repository(tmp_path, monkeypatch)
    (program.workspace / "src/b").touch()
    script = [
        Reply([Call("bash", {"command": "git add -A && git commit -qm second && git log --format=%s"})]),
        Reply([Say("Done.")]),
    ]
    run = await program.ask(script, "--mode", mode, "-p", "commit")
    assert run.code == 0, run.err
    assert git(program.workspace, user, "log", "--format=%s") == subjects


@pytest.mark.skipif(not shutil.which("git"), reason="git is not installed")
@pytest.mark.parametrize("sandbox", ["bubblewrap", "landlock"])
async def test_what_a_command_has_committed_is_saved_after_a_kill_of_the_program(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, sandbox: str
) -> None:
    require(sandbox)
    program, user = with_repository(tmp_path, monkeypatch)
    hiding = without_bubblewrap(tmp_path) if sandbox == "landlock" else tmp_path
    paths = {"PATH": f"{hiding}:{os.environ['PATH']}", "PYTHONPATH": str(hiding)}
    (tmp_path / "elsewhere").mkdir()
    elsewhere = Program(tmp_path / "elsewhere")
    elsewhere.home = program.home
    command = (
        "echo x > src/b; git add -A; git commit -qm second; git tag -am it v1; git checkout -q --detach; "
        "git commit -q --allow-empty -m third; touch committed; while :; do sleep 0.05; done"
    )
    script = [Reply([Call("bash", {"command": command})]), *[Reply([Say("Ok.")])] * 3]
    async with ModelServer(script) as server:
        model = ("--base-url", server.base_url, "--model", "m")
        flags = (*model, "--mode", "auto", "--output", "json", "-p", "go")
        process = await program.start(*flags, PATH=paths["PATH"], PYTHONPATH=paths["PYTHONPATH"])
        await until((program.workspace / "committed").exists)
        process.kill()
        await process.communicate()
        assert git(program.workspace, user, "log", "--all", "--format=%s") == "first\n"
        runs = [await each.run(*flags, **paths) for each in (elsewhere, program, program)]
    notices = [run.records[0]["notices"] for run in runs]
    refs = git(
        program.workspace, user, "for-each-ref", "--format=%(refname) %(*subject)%(subject)", "refs/keen"
    )
    rows = [row.split(" ", 1) for row in refs.splitlines()]
    assert [subject for _, subject in rows] == ["third", "second", "secondit"]
    names = [name for name, _ in rows]
    assert [name[:-8] for name in names] == [f"refs/keen/{each}-" for each in ("HEAD", "main", "tags-v1")]
    assert git(program.workspace, user, "show", f"{names[1]}:src/b") == "x\n"
    assert git(program.workspace, user, "log", "--format=%s", "HEAD") == "first\n"
    assert git(program.workspace, user, "branch", "--format=%(refname:short)") == "main\n"
    git(program.workspace, user, "fsck", "--strict")
    told = f"The commits of that command are saved as {', '.join(names)}; your branches are unchanged."
    assert [[told in each for each in said if "killed" in each] for said in notices] == [[], [True], []]
    assert not list((program.home / FOLDER).glob("*/shadow-*"))
