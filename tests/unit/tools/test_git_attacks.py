"""A command may do anything with its repository: none of it runs in the person's own git, which still shows
the truth."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.support import git_attacks
from tests.support.jail import PYTHON, SANDBOXES, Jail

pytestmark = pytest.mark.skipif(not shutil.which("git"), reason="git is not installed")


class Person:
    """The person whose repository it is, with git outside of any sandbox."""

    def __init__(self, jail: Jail) -> None:
        self.jail = jail
        self.root = jail.workspace
        self.proof = jail.outside / "RAN"
        (jail.home / ".gitconfig").write_text("[user]\nname = Ada\nemail = ada@example.org\n")
        (self.root / "src").mkdir()
        (self.root / "src/a").write_text("one\n")
        self.evil = self.root / "src/evil.sh"
        self.evil.write_text(f"#!/bin/sh\ntouch {self.proof} 2>/dev/null\nexit 0\n")
        self.evil.chmod(0o755)
        (self.root / "src/evil.inc").write_text(f"[core]\n\tfsmonitor = {self.evil}\n")
        for name in git_attacks.HOOKS:
            shutil.copy(self.evil, self.root / "src" / name)
        (self.root / ".gitattributes").write_text("src/a filter=e diff=e merge=e\n")
        shutil.copy(git_attacks.__file__, self.root / "attack.py")
        self.git("init", "-q", "-b", "main", ".")
        self.git("add", "-A")
        self.git("commit", "-qm", "first")
        self.head = self.git("rev-parse", "HEAD")
        self.settings = (self.root / ".git/config").read_bytes()
        self.hooks = sorted((self.root / ".git/hooks").iterdir())

    def git(self, *words: str) -> str:
        environ = {"PATH": os.environ["PATH"], "HOME": str(self.jail.home), "GIT_EDITOR": "true"}
        ran = subprocess.run(
            ("git", *words), cwd=self.root, env=environ, capture_output=True, text=True, errors="replace"
        )
        assert ran.returncode == 0, (words, ran.stderr)
        return ran.stdout.strip()

    def works(self) -> None:
        """What a person does next: everything is true, and nothing runs but git."""
        (self.root / "src/a").write_text("changed\n")
        assert "src/a" in self.git("status", "--porcelain")
        assert "+changed" in self.git("diff", "src/a")
        assert self.head in self.git("log", "--format=%H")
        assert self.git("ls-tree", "--name-only", f"{self.head}:src").splitlines()[0] == "a"
        self.git("commit", "-qm", "mine", "--", "src/a")
        assert self.git("show", "HEAD:src/a") == "changed"
        assert self.git("log", "-1", "--format=%s") == "mine"
        self.git("fsck", "--full")
        self.git("worktree", "list")
        self.git("branch", "-a")
        assert sorted((self.root / ".git/hooks").iterdir()) == self.hooks
        assert not self.proof.exists()


@pytest.fixture(params=SANDBOXES)
def person(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Person:
    jail = Jail(request.param, tmp_path)
    monkeypatch.setenv("HOME", str(jail.home))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    return Person(jail)


@pytest.mark.parametrize("attack", list(git_attacks.names()))
async def test_no_attack_gets_out_of_the_shadow(person: Person, attack: str) -> None:
    before = await person.jail("git status --short")
    assert before.exit_code == 0, before.text
    result = await person.jail(f"{PYTHON} -S attack.py '{attack}' {person.evil}")
    assert result.exit_code == 0, result.text
    if attack.startswith("setting"):
        assert "changed only in the sandbox: the setting" in result.text
    assert (person.root / ".git/config").read_bytes() == person.settings
    person.works()
    after = await person.jail("true")  # and once more with what stayed in the shadow
    assert after.exit_code == 0, after.text
    person.git("status")
    assert person.git("log", "-1", "--format=%s") == "mine"
    assert not person.proof.exists()
