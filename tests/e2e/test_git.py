"""Git's everyday commands in the program itself: they run without a question where commands do."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from keen_tui.demo.script import Call, Reply, Say
from tests.support.jail import flags_of_auto
from tests.support.program import Program


def git(folder: Path, home: Path, *words: str) -> str:
    environ = {"PATH": os.environ["PATH"], "HOME": str(home)}
    return subprocess.run(
        ("git", *words), cwd=folder, env=environ, check=True, capture_output=True, text=True
    ).stdout


@pytest.mark.parametrize(("mode", "subjects"), [("auto-edit", "second\nfirst\n"), ("ask", "first\n")])
async def test_a_commit_is_made_without_a_question_where_commands_need_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mode: str, subjects: str
) -> None:
    if flags_of_auto() or not shutil.which("git"):
        pytest.skip("no sandbox, or no git, on this machine")
    user = tmp_path / "user"
    user.mkdir()
    (user / ".gitconfig").write_text("[user]\nname = Ada\nemail = ada@example.org\n")
    monkeypatch.setenv("HOME", str(user))
    program = Program(tmp_path)
    (program.workspace / "src").mkdir()
    (program.workspace / "src/a").touch()
    for words in ("init -q", "add .", "commit -qm first"):
        git(program.workspace, user, *words.split())
    (program.workspace / "src/b").touch()
    script = [
        Reply([Call("bash", {"command": "git add -A && git commit -qm second && git log --format=%s"})]),
        Reply([Say("Done.")]),
    ]
    run = await program.ask(script, "--mode", mode, "-p", "commit")
    assert run.code == 0, run.err
    assert git(program.workspace, user, "log", "--format=%s") == subjects
