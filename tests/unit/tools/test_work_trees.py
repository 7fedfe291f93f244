"""Work trees that Keen makes: with real git."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from keen_tui.agent.turn.audience import NO_AUDIENCE
from keen_tui.domain.errors import ConfigError, KeenError, WorkTreeFailed
from keen_tui.providers.not_configured import NotConfigured
from keen_tui.settings.load import load_all
from keen_tui.settings.project import Trust, read_project
from keen_tui.settings.schema import Settings
from keen_tui.system.work_tree_records import is_work_tree, project_folder, read_record, record_file
from keen_tui.tools.files.git_place import GitPlace, git_place
from keen_tui.tools.git.linked_tree import LinkedTree
from keen_tui.tools.git.work_trees import WorkTrees
from keen_tui.tools.permissions.allowances import Allowances
from keen_tui.tools.permissions.rule_check import check_rules
from keen_tui.tools.shell.patterns import CommandPattern
from keen_tui.wiring import sessions
from keen_tui.wiring.sessions import SessionProgram, build_session
from tests.support.git_repository import commit, git, repository

pytestmark = pytest.mark.skipif(not shutil.which("git"), reason="git is not installed")


class Place:
    """A project with one commit, and the work trees of a home."""

    def __init__(self, folder: Path) -> None:
        self.environ = {**os.environ, "KEEN_HOME": str(folder / "home"), "HOME": str(folder)}
        self.project = repository(folder / "proj")
        self.trees = WorkTrees(self.environ)

    def begin(self, name: str = "fix") -> LinkedTree:
        return self.trees.begin(self.project, name).tree

    @property
    def branches(self) -> set[str]:
        return set(git(self.project, "branch", "--format=%(refname:short)").split())


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


def test_a_work_tree_begins_at_the_commit_on_a_branch_of_its_own(place: Place) -> None:
    (place.project / "a.txt").write_text("changed\n")
    (place.project / "new.txt").write_text("new\n")
    begun = place.trees.begin(place.project, "fix")
    assert begun.is_new
    assert begun.left_behind == 2
    tree = begun.tree
    assert tree.path.is_relative_to(Path(place.environ["KEEN_HOME"], "worktrees").resolve())
    assert (tree.path / "a.txt").read_text() == "one\n"
    assert not (tree.path / "new.txt").exists()
    assert git(tree.path, "branch", "--show-current") == "keen/fix\n"
    assert tree.record.base == "main"
    assert not tree.state().is_changed
    assert tree.state().is_merged


def test_the_same_name_opens_it_again_from_any_folder_of_the_project(place: Place) -> None:
    tree = place.begin()
    (tree.path / "b.txt").write_text("b\n")
    (place.project / "sub").mkdir()
    for folder in (place.project, place.project / "sub", tree.path):
        begun = place.trees.begin(folder, "fix")
        assert not begun.is_new
        assert begun.tree.path == tree.path
    assert (tree.path / "b.txt").exists()


def test_without_a_name_each_one_is_new(place: Place) -> None:
    one, other = (place.trees.begin(place.project).tree for _ in range(2))
    assert one.path != other.path
    assert {one.record.branch, other.record.branch} < place.branches


def test_a_work_tree_belongs_to_the_folder_where_it_was_made(place: Place) -> None:
    tree = place.begin()
    assert project_folder(tree.path, place.environ) == place.project
    assert project_folder(tree.path / "src", place.environ) == place.project / "src"
    assert project_folder(place.project, place.environ) == place.project
    found = git_place(tree.path / "src", Path("/nonexistent"))
    assert found == GitPlace(tree.path, place.project / ".git/worktrees/fix", place.project / ".git")
    assert is_work_tree(tree.path, place.environ)
    assert not is_work_tree(tree.path / "src", place.environ)
    assert not is_work_tree(place.project, place.environ)


@pytest.mark.parametrize(
    "name",
    [
        "../x",
        "-f",
        "a b",
        "a/b",
        "..",
        ".",
        "x..y",
        "x.lock",
        "x.",
        "\x1b[2J",
        "a\nb",
        "é",
        "a" * 61,
        "x\0",
        "~",
    ],
)
def test_a_name_that_is_none_is_refused_before_anything_is_made(place: Place, name: str) -> None:
    with pytest.raises(ConfigError, match="can't be named") as refused:
        place.begin(name)
    assert "\x1b" not in str(refused.value)
    assert "\n" not in str(refused.value)
    assert not Path(place.environ["KEEN_HOME"]).exists()
    assert place.branches == {"main"}


def test_a_branch_of_that_name_is_left_alone(place: Place) -> None:
    git(place.project, "branch", "keen/fix")
    with pytest.raises(ConfigError, match="The branch keen/fix already exists"):
        place.begin()
    assert place.trees.all() == ()
    git(place.project, "branch", "-m", "keen/fix", "keen")
    with pytest.raises(ConfigError, match="A branch named keen"):
        place.begin()


def test_a_folder_without_a_repository_or_a_commit_is_refused(place: Place, tmp_path: Path) -> None:
    plain = tmp_path / "plain"
    plain.mkdir()
    with pytest.raises(ConfigError, match="isn't in a git repository"):
        place.trees.begin(plain, "fix")
    git(plain, "init", "-q")
    with pytest.raises(ConfigError, match="has no commit yet"):
        place.trees.begin(plain, "fix")
    bare = tmp_path / "bare"
    bare.mkdir()
    git(bare, "init", "-q", "--bare")
    with pytest.raises(ConfigError, match="bare"):
        place.trees.begin(bare, "fix")
    with pytest.raises(ConfigError, match="bare"):
        place.trees.begin(place.project / ".git", "fix")


def test_submodules_are_refused(place: Place, tmp_path: Path) -> None:
    inner = repository(tmp_path / "inner")
    git(place.project, "-c", "protocol.file.allow=always", "submodule", "add", "-q", str(inner), "lib")
    git(place.project, "commit", "-qm", "lib")
    with pytest.raises(ConfigError, match=r"has submodules \(lib\)"):
        place.begin()


def test_a_filter_of_the_repository_is_refused_before_it_runs(place: Place, tmp_path: Path) -> None:
    proof = tmp_path / "proof"
    (place.project / ".git/info/attributes").write_text("* filter=own\n")
    for name in ("smudge", "clean"):
        git(place.project, "config", f"filter.own.{name}", f"touch {proof}; cat")
    for name in ("", "fix"):
        with pytest.raises(ConfigError, match=r"name a program \(filter\.own\.\w+\)"):
            place.begin(name)
    assert not proof.exists()
    assert place.trees.all() == ()


def test_without_git_it_says_so(place: Place) -> None:
    with pytest.raises(ConfigError, match="need git"):
        WorkTrees({**place.environ, "PATH": "/nonexistent"})


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ("edit", "1 file with uncommitted changes"),
        ("new", "1 file with uncommitted changes"),
        ("commit", "1 commit that no other branch has"),
        ("detached", "1 commit that no other branch has"),
        ("nested", "1 file with uncommitted changes"),
        ("link", "2 files with uncommitted changes"),
    ],
)
def test_one_with_changes_is_never_removed_unless_that_is_said(place: Place, change: str, told: str) -> None:
    tree = place.begin()
    match change:
        case "edit":
            (tree.path / "a.txt").write_text("two\n")
        case "new":
            (tree.path / "b.txt").write_text("b\n")
        case "commit":
            commit(tree.path, "b.txt", "b\n", "second")
        case "detached":
            git(tree.path, "checkout", "-q", "--detach")
            commit(tree.path, "b.txt", "b\n", "second")
        case "nested" | "link":
            repository(tree.path / "nested")
            if change == "link":
                git(tree.path, "add", "nested")
                (tree.path / "c.txt").write_text("c\n")
    state = tree.state()
    assert state.is_changed
    assert state.changes == told
    with pytest.raises(WorkTreeFailed, match=f"was not removed: it has {told}"):
        tree.remove()
    assert tree.path.is_dir()
    said = tree.remove(with_changes=True)
    assert not tree.path.exists()
    assert place.branches == {"main"}
    assert place.trees.all() == ()
    if state.commits:
        lost = said.split("git branch NAME ")[1].split()[0]
        assert git(place.project, "log", "-1", "--format=%s", lost) == "second\n"


def test_one_without_changes_is_removed_with_its_branch(place: Place) -> None:
    tree = place.begin()
    (tree.path / "x.log").write_text("ignored\n")
    assert "Removed the work tree fix" in tree.remove()
    assert not tree.path.exists()
    assert place.branches == {"main"}
    assert git(place.project, "worktree", "list").count("\n") == 1
    assert place.begin().path == tree.path


def test_what_another_branch_has_is_no_change(place: Place) -> None:
    tree = place.begin()
    commit(tree.path, "b.txt", "b\n", "second")
    git(place.project, "branch", "other", "keen/fix")
    assert tree.state().commits == 0
    tree.remove()
    assert place.branches == {"main", "other"}


def test_programs_of_a_repository_in_it_never_run(place: Place, tmp_path: Path) -> None:
    """A command can make a repository with settings that name a program; git would run it."""
    tree = place.begin()
    nested = repository(tree.path / "nested")
    proof = tmp_path / "proof"
    git(nested, "config", "core.fsmonitor", f"touch {proof}; false")
    git(tree.path, "add", "nested")
    proof.unlink(missing_ok=True)
    tree.state()
    tree.patch()
    tree.remove(with_changes=True)
    assert not proof.exists()


def test_hooks_of_the_repository_do_not_run(place: Place, tmp_path: Path) -> None:
    proof = tmp_path / "proof"
    hook = place.project / ".git/hooks/post-checkout"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text(f"#!/bin/sh\ntouch {proof}\n")
    hook.chmod(0o755)
    place.begin()
    assert not proof.exists()


def test_the_patch_has_commits_changes_and_new_files(place: Place, tmp_path: Path) -> None:
    tree = place.begin()
    commit(tree.path, "b.txt", "b\n", "second")
    (tree.path / "a.txt").write_text("two\n")
    (tree.path / "new file.txt").write_text("new\n")
    (tree.path / "bytes").write_bytes(bytes(range(256)))
    (tree.path / "x.log").write_text("ignored\n")
    commit(place.project, "main.txt", "main\n", "goes its own way")
    objects = git(place.project, "count-objects", "-v")
    index = (place.project / ".git/worktrees/fix/index").read_bytes()
    file = tree.write_patch()
    assert git(place.project, "count-objects", "-v") == objects
    assert (place.project / ".git/worktrees/fix/index").read_bytes() == index
    git(place.project, "apply", str(file))
    assert (place.project / "a.txt").read_text() == "two\n"
    assert (place.project / "b.txt").read_text() == "b\n"
    assert (place.project / "new file.txt").read_text() == "new\n"
    assert (place.project / "bytes").read_bytes() == bytes(range(256))
    assert (place.project / "main.txt").exists()
    assert not (place.project / "x.log").exists()
    (tree.path / "a.txt").unlink()
    assert b"deleted file" in tree.patch()


def test_a_work_tree_without_changes_has_no_patch(place: Place) -> None:
    assert place.begin().patch() == b""


def test_a_merge_moves_the_branch_and_the_files_where_it_is_checked_out(place: Place) -> None:
    tree = place.begin()
    tip = commit(tree.path, "b.txt", "b\n", "second")
    (place.project / "notes").write_text("mine\n")
    assert tree.state().follows
    assert tree.merge() == "main now has the 1 commit of keen/fix."
    assert git(place.project, "rev-parse", "main").strip() == tip
    assert (place.project / "b.txt").read_text() == "b\n"
    assert (place.project / "notes").read_text() == "mine\n"
    assert not tree.state().is_changed
    assert "Nothing to merge" in tree.merge()


def test_one_for_a_sub_agent_begins_in_and_is_merged_into_the_work_tree_of_its_parent(place: Place) -> None:
    parent = place.begin()
    tip = commit(parent.path, "p.txt", "p\n", "of the parent")
    begun = place.trees.begin(parent.path, "helper-1", agent="helper")
    assert (begun.tree.record.commit, begun.tree.record.base) == (tip, "keen/fix")
    assert (begun.tree.record.agent, begun.left_behind) == ("helper", 0)
    commit(begun.tree.path, "h.txt", "h\n", "of the sub-agent")
    pointer = (parent.path / ".git").read_text()
    (parent.path / ".git").write_text("gitdir: /somewhere/else\n")
    with pytest.raises(WorkTreeFailed, match=r"The file \.git in .* no longer points to"):
        begun.tree.merge()
    (parent.path / ".git").write_text(pointer)
    assert begun.tree.merge() == "keen/fix now has the 1 commit of keen/helper-1."
    assert (parent.path / "h.txt").read_text() == "h\n"


def test_a_merge_that_would_overwrite_changes_is_refused_by_git(place: Place) -> None:
    tree = place.begin()
    before = git(place.project, "rev-parse", "main")
    commit(tree.path, "a.txt", "two\n", "second")
    (place.project / "a.txt").write_text("mine\n")
    with pytest.raises(WorkTreeFailed, match="main was not moved"):
        tree.merge()
    assert git(place.project, "rev-parse", "main") == before
    assert (place.project / "a.txt").read_text() == "mine\n"


def test_a_branch_that_is_checked_out_nowhere_is_moved_alone(place: Place) -> None:
    tree = place.begin()
    tip = commit(tree.path, "b.txt", "b\n", "second")
    git(place.project, "switch", "-qc", "elsewhere")
    tree.merge()
    assert git(place.project, "rev-parse", "main").strip() == tip
    assert not (place.project / "b.txt").exists()


def test_branches_that_went_different_ways_are_not_merged(place: Place) -> None:
    tree = place.begin()
    commit(tree.path, "b.txt", "b\n", "second")
    commit(place.project, "c.txt", "c\n", "another")
    with pytest.raises(WorkTreeFailed, match="main has commits that this work tree doesn't have"):
        tree.merge()
    (tree.path / "a.txt").write_text("two\n")
    with pytest.raises(WorkTreeFailed, match=r"Not everything is committed \(1 file\)"):
        tree.merge()


def test_a_work_tree_of_no_branch_has_none_to_merge_into(place: Place) -> None:
    git(place.project, "checkout", "-q", "--detach")
    tree = place.begin()
    commit(tree.path, "b.txt", "b\n", "second")
    assert tree.record.base == ""
    with pytest.raises(WorkTreeFailed, match="The branch it was started from no longer exists"):
        tree.merge()
    assert b"b.txt" in tree.patch()


def test_a_removed_folder_is_made_again_from_its_branch(place: Place) -> None:
    tree = place.begin()
    commit(tree.path, "b.txt", "b\n", "second")
    shutil.rmtree(tree.path)
    assert "its folder is gone" in place.trees.all()[0].problem
    with pytest.raises(WorkTreeFailed, match="has commits that no other branch has"):
        tree.remove()
    again = place.trees.begin(place.project, "fix")
    assert not again.is_new
    assert (again.tree.path / "b.txt").exists()
    assert again.tree.state().commits == 1


def test_what_a_killed_program_left_half_made_is_made_anew(place: Place) -> None:
    tree = place.begin()
    record = read_record(tree.path)
    assert record
    text = record_file(tree.path).read_text().replace(record.git, "")
    record_file(tree.path).write_text(text)
    (tree.path / "half").touch()
    begun = place.trees.begin(place.project, "fix")
    assert begun.tree.record.git == record.git
    assert not (begun.tree.path / "half").exists()
    assert begun.tree.problem == ""


def test_a_work_tree_whose_git_file_leads_elsewhere_is_not_used(place: Place, tmp_path: Path) -> None:
    tree = place.begin()
    other = repository(tmp_path / "other")
    (tree.path / ".git").write_text(f"gitdir: {other / '.git'}\n")
    with pytest.raises(WorkTreeFailed, match="no longer points to"):
        place.begin()
    with pytest.raises(WorkTreeFailed, match="can't tell whether"):
        tree.remove()


def test_a_project_that_is_gone_leaves_its_work_trees_listed(place: Place) -> None:
    tree = place.begin()
    shutil.rmtree(place.project)
    (found,) = place.trees.all()
    assert "no longer knows it" in found.problem
    with pytest.raises(KeenError, match="no longer exists"):
        place.trees.begin(tree.path, "other")
    with pytest.raises(WorkTreeFailed, match="can't tell whether"):
        found.remove()
    found.remove(with_changes=True)
    assert place.trees.all() == ()


def test_variables_of_git_do_not_lead_it_elsewhere(
    place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = repository(tmp_path / "other")
    environ = {**place.environ, "GIT_DIR": str(other / ".git"), "GIT_WORK_TREE": str(other)}
    tree = WorkTrees(environ).begin(place.project, "fix").tree
    assert tree.record.project == str(place.project)


def test_two_programs_that_make_the_same_one_share_it(place: Place) -> None:
    program = (
        "import os, sys; from pathlib import Path; from keen_tui.tools.git.work_trees import WorkTrees;"
        "print(WorkTrees(os.environ).begin(Path(sys.argv[1]), 'fix').is_new)"
    )
    import sys

    words = (sys.executable, "-c", program, str(place.project))
    both = [subprocess.Popen(words, env=place.environ, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    said = sorted(each.communicate()[0].strip() for each in both)
    assert said == ["False", "True"]


def test_what_the_user_agreed_to_in_the_project_counts_and_nothing_else(place: Place) -> None:
    """The project's settings may not be committed, and a branch may bring others."""
    settings = place.project / ".keen/settings.toml"
    settings.parent.mkdir()
    settings.write_text('[permissions]\ndeny = ["bash(git push)"]\n')
    tree = place.begin()
    (tree.path / ".keen").mkdir()
    (tree.path / ".keen/settings.toml").write_text('[permissions]\ndeny = ["bash(ls)"]\nmodel = "evil"\n')
    given: dict[str, object] = {"words": []}
    used, said = load_all(given, place.environ, tree.path, check_rules)
    assert "you haven't trusted this folder yet" in said
    assert used.permissions_deny == ()
    project = read_project(place.project, check_rules)
    assert project
    Trust(place.environ).say(place.project, project, trusted=True)
    used, said = load_all(given, place.environ, tree.path, check_rules)
    assert (used.permissions_deny, said) == (("bash(git push)",), "")
    settings.write_text('model = "other"\n')
    assert "you haven't trusted" in load_all(given, place.environ, tree.path, check_rules)[1]


def test_hooks_of_the_project_run_in_the_project_where_the_scripts_are_that_the_user_saw(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("KEEN_HOME", "HOME"):
        monkeypatch.setenv(name, place.environ[name])
    tree = place.begin()
    ran: list[Path] = []
    monkeypatch.setattr(sessions, "HookPrograms", lambda folder, *_: ran.append(folder))
    provider = NotConfigured("none")
    build_session(Settings(), tree.path, provider, None, SessionProgram(audience=NO_AUDIENCE))
    assert ran == [place.project]


def test_what_was_always_allowed_in_the_project_is_allowed_in_its_work_trees(place: Place) -> None:
    tree = place.begin()
    file = Path(place.environ["KEEN_HOME"], "allowances.json")
    pattern = CommandPattern(words=("make",))
    Allowances(file, place.project).add((pattern,))
    assert Allowances(file, project_folder(tree.path, place.environ)).commands == (pattern,)
