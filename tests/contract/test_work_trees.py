"""A session in a work tree of Keen's: commands of git, undo, and what protects the user, with real git and in
every sandbox of this machine."""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from pathlib import Path

import pytest

from keen_tui.domain.facts.file_changed import FileChanged
from keen_tui.domain.messages import ToolResult
from keen_tui.tools.builtin.bash import Bash
from keen_tui.tools.files.workspace import Workspace
from keen_tui.tools.git.work_trees import WorkTrees
from keen_tui.tools.sandbox.probe import ProbeResult, SandboxFinder, policy_here, problem_of
from keen_tui.tools.work_tree.watch import CommandWatch
from tests.support.git_repository import git, repository
from tests.support.jail import SANDBOXES

pytestmark = pytest.mark.skipif(not shutil.which("git"), reason="git is not installed")


class Tree:
    """A work tree, and its commands in one sandbox. `home` is the user's."""

    def __init__(self, sandbox: str, folder: Path) -> None:
        self.home = folder / "home"
        self.home.mkdir()
        (self.home / ".gitconfig").write_text("[user]\nname = Ada\nemail = ada@example.org\n")
        self.project = repository(self.home / "proj")
        self.environ = {**os.environ, "HOME": str(self.home), "KEEN_HOME": str(self.home / ".keen-data")}
        tree = WorkTrees(self.environ).begin(self.project, "fix").tree
        self.tree, self.root = tree, tree.path
        self.policy = policy_here(self.root, self.environ)
        assert self.policy.objection == ""
        made = SANDBOXES[sandbox](self.policy)
        if isinstance(made, str):
            pytest.skip(made)
        assert problem_of(made, self.policy, self.environ) == ""
        self.bash = Bash(Workspace(self.root), SandboxFinder(lambda: ProbeResult(sandbox=made)))

    async def __call__(self, command: str) -> ToolResult:
        prepared = await self.bash.prepare({"command": command, "timeout": 120})
        assert prepared.access.sandboxed
        return await prepared.run(lambda *_: None)

    @property
    def subjects(self) -> Sequence[str]:
        return git(self.root, "log", "--format=%s").split("\n")[:-1]


@pytest.fixture(params=SANDBOXES)
def tree(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Tree:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    monkeypatch.delenv("XDG_DATA_HOME", raising=False)
    return Tree(request.param, tmp_path)


async def test_git_works_as_in_any_workspace(tree: Tree) -> None:
    (tree.root / "b.txt").write_text("b\n")
    result = await tree("git status --porcelain")
    assert "?? b.txt" in result.text
    result = await tree("git add -A && git commit -qm second && git log --format=%s")
    assert result.exit_code == 0, result.text
    assert tree.subjects == ["second", "first"]
    assert git(tree.project, "log", "--format=%s", "main") == "first\n"
    result = await tree("git switch -qc other && git branch && git stash list && git diff main --stat")
    assert "b.txt" in result.text
    (tree.root / "a.txt").write_text("two\n")
    result = await tree(
        "git stash && git switch keen/fix && git merge --no-ff other -m merged; git stash pop"
    )
    assert result.exit_code == 0, result.text
    assert (tree.root / "a.txt").read_text() == "two\n"
    assert git(tree.project, "status", "--porcelain") == ""


async def test_commands_reach_neither_the_project_nor_the_data_of_keen(tree: Tree) -> None:
    secret = Path(tree.environ["KEEN_HOME"], "settings.toml")
    secret.write_text("TOP SECRET\n")
    record = next(tree.root.parent.glob(".records/*"))
    for path in (tree.project / "a.txt", secret, record):
        result = await tree(f"cat {path}")
        assert result.exit_code, result.text
        assert "SECRET" not in result.text
    for path in (
        tree.project / "new",
        tree.project / ".git/new",
        tree.root.parent / "new",
        tree.root / ".git",
    ):
        await tree(f"echo x > {path}")
    assert not (tree.project / "new").exists()
    assert not (tree.project / ".git/new").exists()
    assert not (tree.root.parent / "new").exists()
    assert tree.tree.problem == ""


async def test_commands_can_not_change_what_git_runs(tree: Tree) -> None:
    common = tree.project / ".git"
    config = (common / "config").read_bytes()
    for command in (
        f"git config core.fsmonitor false; echo x >> {common}/config",
        f"echo x > {common}/hooks/pre-commit",
        f"echo /tmp > {common}/worktrees/fix/commondir",
        "rm -f .git; mkdir .git; mv .git other",
        "echo gitdir: /tmp > .git",
    ):
        await tree(command)
    assert (common / "config").read_bytes() == config
    assert not (common / "hooks/pre-commit").exists()
    assert (common / "worktrees/fix/commondir").read_text() == "../..\n"
    assert tree.tree.problem == ""


async def test_a_hook_runs_where_it_can_not_write_the_repository(tree: Tree) -> None:
    hook = tree.project / ".git/hooks/pre-commit"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text(
        "#!/bin/sh\necho seen > seen.txt\ngit add seen.txt\n"
        "echo x > $(git rev-parse --git-common-dir)/RAN\nexit 0\n"
    )
    hook.chmod(0o755)
    (tree.root / "b.txt").write_text("b\n")
    result = await tree("git add b.txt && git commit -qm second")
    assert result.exit_code == 0, result.text
    assert git(tree.root, "show", "HEAD:seen.txt") == "seen\n"
    assert not (tree.project / ".git/RAN").exists()
    hook.write_text("#!/bin/sh\nexit 1\n")
    result = await tree("git commit --allow-empty -qm third")
    assert result.exit_code == 1
    assert tree.subjects == ["second", "first"]


async def test_secrets_in_a_work_tree_are_hidden(tree: Tree) -> None:
    (tree.root / ".env").write_text("KEY=TOP SECRET\n")
    result = await tree("cat .env; true")
    assert "SECRET" not in result.text


async def test_a_git_file_that_leads_elsewhere_is_not_believed(tree: Tree, tmp_path: Path) -> None:
    """A person, or a command outside the sandbox, may have replaced it."""
    other = repository(tmp_path / "other")
    (tree.root / ".git").write_text(f"gitdir: {other / '.git'}\n")
    (tree.root / "b.txt").write_text("b\n")
    result = await tree("git add -A && git commit -qm second")
    assert result.exit_code
    assert git(other, "log", "--format=%s") == "first\n"


async def test_what_commands_change_is_noticed(tree: Tree, tmp_path: Path) -> None:
    watch = CommandWatch(tree.root, tmp_path / "scratch", None, tuple, watches=True)
    watch.begin()
    await tree("echo two > a.txt; echo b > b.txt; echo x > x.log")
    assert watch.end(keeps=False).facts == (
        FileChanged(path="a.txt", by_command=True),
        FileChanged(path="b.txt", by_command=True),
    )
