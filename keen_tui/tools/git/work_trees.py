"""Makes git work trees in the data folder, each on a branch of its own, and opens them again.

For `--worktree` and for sub-agents that work apart. All methods block. Decision 28 says why work trees are as
they are.
"""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from keen_tui.domain.errors import ConfigError, WorkTreeFailed
from keen_tui.system.folders import make_private
from keen_tui.system.paths import data_folder
from keen_tui.system.work_tree_records import (
    WorkTreeRecord,
    forget_record,
    read_record,
    record_file,
    recorded,
    tree_at,
    trees_folder,
    write_record,
)
from keen_tui.text.sanitize import clean
from keen_tui.tools.git.config import LIST, parse
from keen_tui.tools.git.linked_tree import LinkedTree
from keen_tui.tools.git.own_git import OwnGit
from keen_tui.tools.git.tree_names import PREFIX, new_name, require_name

_TRIES = 20


class Begun(Struct, frozen=True, kw_only=True):
    """A work tree to work in. `is_new`: it was made just now; then `left_behind` is the number of files of
    the project whose changes aren't committed, so that they aren't in it. `was_gone`: there was none of that
    name, or its folder was missing."""

    tree: LinkedTree
    is_new: bool
    was_gone: bool = True
    left_behind: int = 0


class _Origin(Struct, frozen=True):
    """Where a work tree begins: a commit, its branch ("" for none), and the number of files with changes that
    aren't committed."""

    commit: str
    branch: str
    uncommitted: int


class WorkTrees:
    """The work trees below a data folder.

    Args:
        environ: names the data folder and the program git.
        otherwise: what to do instead where there can be no work tree, as the end of a sentence.

    Raises:
        ConfigError: git isn't installed.
    """

    def __init__(
        self, environ: Mapping[str, str] = os.environ, otherwise: str = "start without --worktree"
    ) -> None:
        self._environ = environ
        self._otherwise = otherwise
        self._data = data_folder(environ)
        self._git = OwnGit(environ)

    def begin(self, folder: Path, name: str = "", *, agent: str = "") -> Begun:
        """The work tree of that name for the repository around `folder`, made now if there is none; "" makes
        one with a new name. In a work tree of Keen's this means the project of that one. One for the
        sub-agent `agent` begins at the commit that is checked out in the folder, wherever that is.

        Raises:
            ConfigError: the name can't be one or is taken, or there is no repository, or nothing in it to
                begin with, or its settings name a program. WorkTreeFailed: git can't make it.
        """
        if name:
            require_name(name)
        project = self.project_of(folder)
        self._require_no_filter(project)
        trees = trees_folder(self._data, project)
        _make_folder(trees)
        with _alone(trees):
            tree = trees / (name or self._free_name(trees, project))
            record = read_record(tree)
            if record and record.git and tree.is_dir():
                return Begun(tree=self._require_whole(tree, record), is_new=False, was_gone=False)
            where = folder if agent else project
            return self._again(tree, record, where) if record else self._made(tree, project, where, agent)

    def project_of(self, folder: Path) -> Path:
        """The top of the work tree around the folder; in a work tree of Keen's, that of its project. Raises
        ConfigError: there is none."""
        inside = tree_at(folder, self._environ)
        return self._project(Path(inside[1].project) if inside else folder)

    def all(self, project: Path | None = None) -> tuple[LinkedTree, ...]:
        """All work trees, or those of the project with that top folder."""
        return tuple(LinkedTree(tree, record, self._git) for tree, record in recorded(self._data, project))

    def at(self, folder: Path) -> LinkedTree | None:
        """The work tree that the folder is in; None if it is in none of Keen's."""
        found = tree_at(folder, self._environ)
        return LinkedTree(*found, self._git) if found else None

    def _project(self, folder: Path) -> Path:
        """The top of the work tree around the folder. Raises ConfigError."""
        if not folder.is_dir():
            raise ConfigError(f"{folder}, to which this work tree belongs, no longer exists.")
        code, output, complaint = self._git.tried(folder, "rev-parse", "--is-inside-work-tree")
        if code and "not a git repository" in complaint:
            raise ConfigError(
                f"{folder} isn't in a git repository, so it can't have work trees. "
                f"Run git init and commit something, or {self._otherwise}."
            )
        if code:
            raise ConfigError(f"git can't use the repository in {folder}: {complaint}")
        if output.strip() != b"true":
            raise ConfigError(
                f"{folder} is a bare repository, or a folder inside one: nothing is checked out here. "
                "Start Keen in a clone of it."
            )
        return Path(os.path.realpath(self._git.line(folder, "rev-parse", "--show-toplevel")))

    def _free_name(self, trees: Path, project: Path) -> str:
        for _ in range(_TRIES):
            name = new_name()
            if not record_file(trees / name).exists() and not self._has_branch(project, PREFIX + name):
                return name
        raise WorkTreeFailed("No free name for a work tree was found: give one, as in --worktree fix-login.")

    def _require_whole(self, tree: Path, record: WorkTreeRecord) -> LinkedTree:
        found = LinkedTree(tree, record, self._git)
        if problem := found.problem:
            raise WorkTreeFailed(f"The work tree {tree.name} in {tree} can't be used: {problem}")
        return found

    def _made(self, tree: Path, project: Path, where: Path, agent: str) -> Begun:
        """Make a work tree on a new branch, at what is checked out in the folder `where`. The record comes
        first, so that a kill leaves nothing unknown."""
        origin = self._origin(where)
        self._require_content(project, origin.commit)
        branch = PREFIX + tree.name
        if self._has_branch(project, branch):
            raise ConfigError(
                f"The branch {branch} already exists in {project}, but isn't a Keen work tree. "
                f"Choose another name, or rename the branch: git branch -m {branch} OTHER."
            )
        if self._has_branch(project, PREFIX.rstrip("/")):
            raise ConfigError(
                f"A branch named {PREFIX.rstrip('/')} in {project} keeps git from making {branch}. "
                "Rename it first: git branch -m keen OTHER."
            )
        if os.path.lexists(tree):
            raise ConfigError(f"{tree} is in the way: move it, or choose another name.")
        record = WorkTreeRecord(
            name=tree.name,
            project=str(project),
            common=os.path.realpath(
                self._git.line(project, "rev-parse", "--path-format=absolute", "--git-common-dir")
            ),
            git="",
            branch=branch,
            base=origin.branch,
            commit=origin.commit,
            made=time.time(),
            agent=agent,
        )
        _write(tree, record)
        try:
            self._git.output(
                project, "worktree", "add", "--quiet", "-b", branch, "--", str(tree), origin.commit
            )
        except WorkTreeFailed as error:
            if not tree.exists():
                with suppress(OSError):
                    forget_record(tree)
                self._git.tried(project, "branch", "--quiet", "-D", "--", branch)
            raise WorkTreeFailed(f"No work tree could be made in {tree}. {error}") from error
        made = self._noted(tree, record)
        return Begun(tree=made, is_new=True, left_behind=origin.uncommitted)

    def _again(self, tree: Path, record: WorkTreeRecord, begins: Path) -> Begun:
        """Make a work tree whose folder was removed, or whose making was cut off, once more."""
        where = Path(record.project)
        if os.path.lexists(tree):  # git was ended before it was done, so nobody has worked there
            LinkedTree(tree, record, self._git).sweep()
        self._git.tried(where, "worktree", "remove", "--force", "--force", "--", str(tree))
        if not self._has_branch(where, record.branch):
            _forget(tree)
            return self._made(tree, where, begins, record.agent)
        try:
            self._git.output(where, "worktree", "add", "--quiet", "--", str(tree), record.branch)
        except WorkTreeFailed as error:
            raise WorkTreeFailed(f"The work tree {tree.name} can't be opened again. {error}") from error
        return Begun(tree=self._noted(tree, record), is_new=False)

    def _noted(self, tree: Path, record: WorkTreeRecord) -> LinkedTree:
        """Note where git keeps what belongs to this work tree."""
        git = os.path.realpath(self._git.line(tree, "rev-parse", "--absolute-git-dir"))
        whole = replace(record, git=git)
        _write(tree, whole)
        return LinkedTree(tree, whole, self._git)

    def _origin(self, folder: Path) -> _Origin:
        """Returns the commit and the branch that are checked out in the folder, and the number of its
        uncommitted files; in one of Keen's work trees, according to its record."""
        inside = tree_at(folder, self._environ)
        if inside:
            tree = self._require_whole(*inside)
            return _Origin(*tree.checked_out(), tree.state().files)
        commit = self._git.line(folder, "rev-parse", "--verify", "--quiet", "HEAD^{commit}")
        branch = self._git.line(folder, "symbolic-ref", "--quiet", "--short", "HEAD")
        return _Origin(commit, branch, self._uncommitted(folder))

    def _require_no_filter(self, project: Path) -> None:
        """Raises ConfigError: the settings of the repository name a program for the contents of files. Git
        would run it outside the sandbox, and a downloaded folder may bring such settings."""
        try:
            key = parse(self._git.output(project, *LIST)).filter_of_repository
        except ValueError as error:
            raise ConfigError(f"The settings of the repository in {project} can't be read.") from error
        if key:
            raise ConfigError(
                f"The settings of the repository in {project} name a program ({clean(key)[:80]}) that git "
                "would run, or may run, for the files of a work tree, outside the sandbox. If you trust it, "
                f"move it to your own settings (git config --global), or {self._otherwise}."
            )

    def _require_content(self, project: Path, commit: str) -> None:
        """Raises ConfigError: there is no commit, or it has submodules."""
        if not commit:
            raise ConfigError(
                f"The repository in {project} has no commit yet, so there is nothing to make a work tree "
                f"from. Commit something first, or {self._otherwise}."
            )
        listed = self._git.output(project, "ls-tree", "-r", "-z", commit)
        if module := next((row for row in listed.split(b"\0") if row.startswith(b"160000 ")), b""):
            name = clean(os.fsdecode(module.partition(b"\t")[2]))
            raise ConfigError(
                f"{project} has submodules ({name}), which git doesn't set up in additional work trees. To "
                f"continue, {self._otherwise}, or start Keen in a clone of it."
            )

    def _has_branch(self, project: Path, branch: str) -> bool:
        return self._git.is_true(project, "show-ref", "--verify", "--quiet", f"refs/heads/{branch}")

    def _uncommitted(self, project: Path) -> int:
        """How many files of the project have changes that aren't committed, untracked ones included."""
        words = ("status", "--porcelain", "-z", "--no-renames", "--ignore-submodules=all")
        code, listed, _ = self._git.tried(project, *words)
        return 0 if code else listed.count(b"\0")


def _write(tree: Path, record: WorkTreeRecord) -> None:
    try:
        write_record(tree, record)
    except OSError as error:
        raise WorkTreeFailed(f"{record_file(tree)} can't be written: {error.strerror}.") from error


def _forget(tree: Path) -> None:
    try:
        forget_record(tree)
    except OSError as error:
        raise WorkTreeFailed(f"{record_file(tree)} can't be removed: {error.strerror}.") from error


def _make_folder(folder: Path) -> None:
    try:
        make_private(folder)
    except OSError as error:
        raise WorkTreeFailed(f"{folder} can't be made: {error.strerror}.") from error


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Inside, no other program makes or opens work trees of this project. The lock ends with the program."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)
