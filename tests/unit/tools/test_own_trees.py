"""The work tree of one sub-agent, with real git: what may run when it is made, and what it says when left."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from keen_tui.agent.subagents.own_tree import OwnTree, enter_tree
from keen_tui.domain.errors import ConfigError, WorkTreeFailed
from keen_tui.tools.git.work_trees import WorkTrees
from tests.support.git_repository import git, repository

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
