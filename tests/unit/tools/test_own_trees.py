"""The work tree of one sub-agent, with real git: what may run when it is made, and what it says when left."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from keen_tui.agent.subagents.own_tree import OwnTree, enter_tree
from keen_tui.domain.errors import ConfigError, WorkTreeFailed
from keen_tui.system.presence import Presence
from keen_tui.tools.git.work_trees import WorkTrees
from tests.support.git_repository import commit, git, repository

pytestmark = pytest.mark.skipif(not shutil.which("git"), reason="git is not installed")

ID = "20260101-120000-3fa2b1"


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    repository(tmp_path / "work")
    return {
        "KEEN_HOME": str(tmp_path / "home"),
        "HOME": str(tmp_path),
        "PATH": str(Path(shutil.which("git") or "").parent),
    }


def entered(tmp_path: Path, environ: dict[str, str], folder: str = "work") -> OwnTree:
    return enter_tree(tmp_path / folder, "writer", ID, environ)


def with_filter(tmp_path: Path, *scope: str) -> Path:
    """A repository whose files pass through a program; returns the file that this program makes."""
    work, proof = tmp_path / "work", tmp_path / "proof"
    (work / ".gitattributes").write_text("a.txt filter=own\n")
    git(work, "add", ".gitattributes")
    git(work, "commit", "-qm", "attributes")
    for name in ("smudge", "clean"):
        git(work, "config", *scope, f"filter.own.{name}", f"touch {proof}; cat")
    return proof


def test_a_filter_of_the_repository_does_not_run_because_a_model_asked(
    tmp_path: Path, environ: dict[str, str]
) -> None:
    proof = with_filter(tmp_path)
    (tmp_path / "work/a.txt").write_text("two\n")
    with pytest.raises(ConfigError, match=r"name a program \(filter\.own\.\w+\)"):
        entered(tmp_path, environ)
    assert not proof.exists()
    assert WorkTrees(environ).all() == ()


def test_a_filter_of_the_users_own_settings_runs(tmp_path: Path, environ: dict[str, str]) -> None:
    proof = with_filter(tmp_path, "--file", str(tmp_path / ".gitconfig"))
    assert entered(tmp_path, environ).path.is_dir()
    assert proof.exists()


def test_a_filter_that_only_counts_in_other_work_trees_does_not_run(
    tmp_path: Path, environ: dict[str, str]
) -> None:
    proof = with_filter(tmp_path, "--file", str(tmp_path / "work/.git/more"))
    git(tmp_path / "work", "config", "includeIf.gitdir:**/worktrees/**.path", "more")
    with pytest.raises(ConfigError, match="name a program"):
        entered(tmp_path, environ)
    assert not proof.exists()


def test_nothing_is_fetched_by_a_program_that_the_repository_names(
    tmp_path: Path, environ: dict[str, str]
) -> None:
    work, proof = tmp_path / "work", tmp_path / "proof"
    blob = git(work, "rev-parse", "HEAD:a.txt").strip()
    (work / ".git/objects" / blob[:2] / blob[2:]).unlink()
    for key, value in {
        "core.repositoryFormatVersion": "1",
        "extensions.partialClone": "origin",
        "remote.origin.url": str(repository(tmp_path / "other")),
        "remote.origin.promisor": "true",
        "remote.origin.uploadpack": f"touch {proof}; false",
        "protocol.file.allow": "always",
    }.items():
        git(work, "config", key, value)
    with pytest.raises(WorkTreeFailed, match="No work tree could be made"):
        entered(tmp_path, environ)
    assert not proof.exists()


def test_it_names_the_branch_that_has_the_commits(tmp_path: Path, environ: dict[str, str]) -> None:
    own = entered(tmp_path, environ)
    git(own.path, "checkout", "-qb", "it's")
    commit(own.path, "b.txt", "b\n", "second")
    told = own.leave(finished=True)
    assert "It has 1 commit not in main, with the branch it's checked out, and stays" in told
    assert """git diff main...'it'"'"'s' shows the commits, git merge 'it'"'"'s' merges them.""" in told


def test_without_a_branch_it_names_the_commit(tmp_path: Path, environ: dict[str, str]) -> None:
    own = entered(tmp_path, environ)
    git(own.path, "checkout", "-q", "--detach")
    tip = commit(own.path, "b.txt", "b\n", "second")
    told = own.leave(finished=True)
    assert "It has 1 commit not in main, with no branch checked out, and stays" in told
    assert f"git merge {tip[:10]} merges them." in told


def test_commits_that_are_not_checked_out_are_named(tmp_path: Path, environ: dict[str, str]) -> None:
    own = entered(tmp_path, environ)
    commit(own.path, "b.txt", "b\n", "second")
    git(own.path, "checkout", "-q", "--detach", "main")
    told = own.leave(finished=True)
    assert "It has 1 commit that no other branch has, with no branch checked out, and stays" in told
    assert "git merge keen/writer-3fa2b1 merges them." in told


def test_one_in_which_another_program_works_stays(tmp_path: Path, environ: dict[str, str]) -> None:
    own = entered(tmp_path, environ)
    other = Presence(environ, own.path)
    other.enter()
    assert "It has no changes, and stays until the user removes it." in own.leave(finished=True)
    assert own.path.is_dir()
    other.leave()


def test_it_is_told_where_a_caller_below_the_top_works(tmp_path: Path, environ: dict[str, str]) -> None:
    (tmp_path / "work/apps/shop").mkdir(parents=True)
    own = entered(tmp_path, environ, "work/apps/shop")
    told = "Paths in the task may be relative to the caller's folder, apps/shop."
    assert told in own.role
    again = enter_tree(own.path, "writer", ID.replace("3f", "4f"), environ)
    assert "Paths in the task" not in again.role
    assert git(again.path, "branch", "--show-current") == "keen/writer-4fa2b1\n"
