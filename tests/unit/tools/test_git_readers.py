"""Commands of git that run unasked: only in a sandbox, and only those that read."""

from __future__ import annotations

from pathlib import Path

import pytest

from keen_tui.tools.files.workspace import Workspace
from keen_tui.tools.permissions.judging import judged

READS = r"""
git status
git status --short --branch
git status -sb
git --no-pager log --oneline -5
git log --oneline --graph --all -n 20
git log -p src/app.py
git log --since=yesterday --author="A B"
git log --format=%H
git diff
git diff --stat
git diff --cached --name-only
git diff HEAD~1 HEAD -- src
git diff main..dev
git diff -U5 src/app.py
git show HEAD
git show HEAD~3:src/app.py
git show --stat HEAD^
git blame -L 1,5 src/app.py
git branch
git branch --list
git branch -a -v
git branch --contains main
git branch --show-current
git tag
git tag --list v1
git remote -v
git ls-files
git ls-files --others --exclude-standard
git ls-tree -r --name-only HEAD
git rev-parse HEAD
git rev-parse --abbrev-ref HEAD
git rev-parse --show-toplevel
git describe --tags --always
git merge-base main dev
git shortlog -sn HEAD
git status && git diff | head -50
"""

ASKS = r"""
git
git -c core.pager=id log
git -C /etc log
git --exec-path=. status
git --git-dir=/tmp/x log
git -p log
git diff --output=x
git diff --outp=x
git diff -o x
git diff --ext-diff
git diff --textconv
git diff --no-index /etc/passwd src/app.py
git diff /etc/passwd /etc/hosts
git diff -O/etc/passwd
git log --output=x
git log --show-signature
git log --exec=x
git show HEAD:.env
git show --format=%H --output=x HEAD
git blame --contents /etc/passwd src/app.py
git blame ../outside
git branch new
git branch -D main
git branch -d main
git branch -m other
git branch --edit-description
git tag v2
git tag -d v1
git remote add x y
git remote update
git remote show origin
git status > x
git add .
git commit -m x
git checkout main
git stash
git reset --hard
git clean -fd
git push
git fetch
git pull
git config user.name x
git grep -O x
git grep x
git gc
git apply x
git bisect run x
git submodule foreach id
git rev-list --exec HEAD
git worktree add x
git ls-files *
git status; rm -rf src
$(git status)
"""


def lines(text: str) -> list[str]:
    return [line for line in text.splitlines() if line]


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    (tmp_path / "outside").touch()
    root = tmp_path / "work"
    (root / "src").mkdir(parents=True)
    (root / "src" / "app.py").touch()
    return Workspace(root)


@pytest.mark.parametrize("command", lines(READS))
def test_in_a_sandbox_git_reads_unasked(workspace: Workspace, command: str) -> None:
    access = judged(command, workspace, sandboxed=True)
    assert access.reads_only, access.concern


@pytest.mark.parametrize("command", lines(READS))
def test_without_a_sandbox_git_asks(workspace: Workspace, command: str) -> None:
    access = judged(command, workspace)
    assert not access.reads_only
    assert "no sandbox" in access.concern


@pytest.mark.parametrize("command", lines(ASKS))
def test_what_may_do_more_than_read_asks_in_a_sandbox_too(workspace: Workspace, command: str) -> None:
    assert not judged(command, workspace, sandboxed=True).reads_only


@pytest.mark.parametrize("command", ["git diff", "git show HEAD", "git log -p", "git log -S key"])
def test_changes_are_shown_unasked_only_where_no_file_may_hold_keys(
    workspace: Workspace, command: str
) -> None:
    (workspace.root / ".env").touch()
    assert not judged(command, workspace, sandboxed=True).reads_only
    assert judged("git status", workspace, sandboxed=True).reads_only
