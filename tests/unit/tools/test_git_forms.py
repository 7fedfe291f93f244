"""Git works in the sandbox in every form: with options, from scripts, with hooks that call it."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from keen_tui.tools.files.git_place import git_place
from tests.support.jail import Jail

pytestmark = pytest.mark.skipif(not shutil.which("git"), reason="git is not installed")

AUTHOR = (
    "GIT_AUTHOR_NAME=x GIT_AUTHOR_EMAIL=x@example.org GIT_COMMITTER_NAME=x GIT_COMMITTER_EMAIL=x@example.org"
)
PRE_COMMIT = "#!/bin/sh\necho formatted >> src/a && git add src/a && echo hook ran\n"

FORMS = [
    ("git -c user.name=Grace commit -qam two", "two"),
    (f"{AUTHOR} git commit -qam two", "two"),
    (f"export {AUTHOR}; git commit -qam two", "two"),
    ("git commit --no-gpg-sign -qam two", "two"),
    ("git commit -qam two 2>&1 | cat", "two"),
    ("git switch -qc feat; git commit -qam two; git switch -q main; git rebase -q feat", "two"),
    ("git commit -qam two; git cherry-pick --allow-empty HEAD --keep-redundant-commits", "two"),
    ("git commit -qam two; git revert --no-edit HEAD", 'Revert "two"'),
    ("git checkout -- src/a && test $(cat src/a) = one", "first"),
    ("git branch feat; git branch -D feat", "first"),
    ("git gc -q", "first"),
    (
        "for n in 1 2 3; do git commit -q --allow-empty -m $n; done;"
        " git bisect start HEAD HEAD~3 && git bisect run true; git bisect reset",
        "3",
    ),
    ("git worktree add -q -b wt wt && cd wt && git commit -q --allow-empty -m there && git log -1", "first"),
    ("git config user.name Grace && git commit -qam two", "two"),
    ("for n in 1 2; do echo $n >> src/a; git commit -qam $n; done", "2"),
    ("printf 'git commit -qam two\n' > run.sh; sh run.sh", "two"),
    ("printf 'all:\n\tgit commit -qam two\n' > Makefile; make", "two"),
    ("python3 -c \"import subprocess; subprocess.run(['git', 'commit', '-qam', 'two'], check=True)\"", "two"),
    ("git add -A && git commit -qF - <<'END'\ntwo\n\nbody\nEND", "two"),
    ("git stash -q && git stash pop -q && git commit -qam two && git tag -a v1 -m v1", "two"),
]
"""Commands in a repository with an uncommitted change, and the subject of HEAD after each."""

ELSEWHERE = [
    ("git status --short | grep -q .", "first"),
    ("git diff --stat | grep -q .", "first"),
    ("git log --oneline | grep -q first", "first"),
    ("git commit -qam two", "two"),
    ("git switch -qc feat && git commit -qam two && git stash list", "two"),
]
"""The same in a folder of a repository, in a linked work tree and in a submodule."""


class Repository:
    """A repository in a jail with a commit, a change of `src/a`, and a hook that stages files."""

    def __init__(self, jail: Jail, top: Path, *, hook: bool = True) -> None:
        self.jail = jail
        self.top = top
        (jail.home / ".gitconfig").write_text("[user]\nname = Ada\nemail = ada@example.org\n")
        (top / "src").mkdir(parents=True, exist_ok=True)
        (top / "src/a").write_text("one\n")
        self.git("init", "-q", "-b", "main", ".")
        self.git("add", "-A")
        self.git("commit", "-q", "-m", "first")
        (top / "src/a").write_text("changed\n")
        if hook:
            file = top / ".git/hooks/pre-commit"
            file.parent.mkdir(exist_ok=True)
            file.write_text(PRE_COMMIT)
            file.chmod(0o755)

    def git(self, *words: str, folder: Path | None = None) -> str:
        """Run git as the user does, outside of any sandbox."""
        environ = {"PATH": os.environ["PATH"], "HOME": str(self.jail.home), "GIT_EDITOR": "true"}
        ran = subprocess.run(
            ("git", *words), cwd=folder or self.top, env=environ, capture_output=True, text=True
        )
        assert ran.returncode == 0, ran.stderr
        return ran.stdout.strip()

    def subject(self, folder: Path | None = None) -> str:
        return self.git("log", "-1", "--format=%s", folder=folder)


@pytest.mark.parametrize(("command", "subject"), FORMS)
async def test_a_form_works_in_a_repository_with_a_hook(jail: Jail, command: str, subject: str) -> None:
    repository = Repository(jail, jail.workspace)
    result = await jail(command)
    assert (result.exit_code, repository.subject()) == (0, subject), result.text
    assert ("hook ran" in result.text) == ("commit" in command or "rebase" in command), result.text
    assert repository.git("fsck", "--strict").count("missing") == 0
    shown = await jail("git status --porcelain=v2 --branch; git log --format=%H --all")
    outside = "\n".join(
        (
            repository.git("status", "--porcelain=v2", "--branch"),
            repository.git("log", "--format=%H", "--all"),
        )
    )
    assert shown.text.strip() == outside


@pytest.mark.parametrize(("command", "subject"), ELSEWHERE)
@pytest.mark.parametrize("place", ["folder", "work tree", "submodule"])
async def test_a_form_works_where_the_repository_is_elsewhere(
    jail: Jail, place: str, command: str, subject: str
) -> None:
    above = jail.outside / "project"
    repository = Repository(jail, above, hook=False)
    if place == "folder":
        workspace = above / "src"
    elif place == "work tree":
        workspace = jail.outside / "linked"
        repository.git("worktree", "add", "-q", "--detach", str(workspace))
    else:
        workspace = above / "module"
        repository.git("-c", "protocol.file.allow=always", "submodule", "add", "-q", str(above), "module")
    if place != "folder":
        (workspace / "src/a").write_text("changed\n")
    found = git_place(workspace, jail.home)
    assert found is not None
    jail.move(workspace, found)
    result = await jail(command)
    assert (result.exit_code, repository.subject(workspace)) == (0, subject), result.text
