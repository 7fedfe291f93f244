"""One git work tree of Keen's: what it holds that is nowhere else, its patch, its merge and its end.

Git runs here with the repository that the record names, whatever the file `.git` in the work tree says.
Folders in it that are repositories of their own are never entered: a command may have made them, and git
would obey their settings.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from msgspec import Struct

from keen_tui.domain.errors import WorkTreeFailed
from keen_tui.domain.reports import FileVersions
from keen_tui.system.atomic_write import put_file
from keen_tui.system.folders import make_private
from keen_tui.system.safe_read import content_of
from keen_tui.system.work_tree_records import WorkTreeRecord, forget_record, read_record
from keen_tui.text.units import counted
from keen_tui.tools.git.own_git import NO_MORE, OwnGit

_PATCHES: Final = ".patches"
_GITLINK: Final = b"160000 "
_LONGEST_POINTER: Final = 4_096
_MOST_BYTES: Final = 1_000_000_000


class WorkTreeState(Struct, frozen=True, kw_only=True):
    """The state of a work tree.

    `files` have changes that aren't committed; untracked ones count, ignored ones don't. `commits` are on its
    branch and on no other, and `ahead` those that `base` lacks. `base` is the branch on which it was begun,
    "" if that no longer exists. `follows`: everything is committed, and that branch can simply be moved
    forward to it.
    """

    files: int
    commits: int
    ahead: int
    base: str
    follows: bool

    @property
    def is_changed(self) -> bool:
        """Whether something would be lost with it."""
        return bool(self.files or self.commits)

    @property
    def is_merged(self) -> bool:
        """Whether there is nothing to merge."""
        return not (self.files or self.ahead)

    @property
    def changes(self) -> str:
        """The work that would be lost with the work tree, in a few words; "" for none."""
        files = (f"{counted(self.files, 'file')} with uncommitted changes",) if self.files else ()
        commits = (f"{counted(self.commits, 'commit')} that no other branch has",) if self.commits else ()
        return " and ".join((*files, *commits))


class LinkedTree:
    """The work tree in the folder `path`, as its record has it. All methods block.

    Methods raise WorkTreeFailed with git's own words if git can't do something.
    """

    def __init__(self, path: Path, record: WorkTreeRecord, git: OwnGit) -> None:
        self.path = path
        self.record = record
        self._git = git

    @property
    def problem(self) -> str:
        """Why it can't be worked in, as a sentence; "" if it can."""
        record = self.record
        if not self.path.is_dir():
            return f"its folder is gone. keen-tui --worktree {record.name} makes it again from its branch."
        if not record.git:
            return f"it was never finished. keen-tui --worktree {record.name} makes it again."
        if not Path(record.git, "HEAD").is_file():
            return f"its repository, {record.common}, no longer knows it."
        if not points_to(self.path, Path(record.git)):
            return f"its file .git no longer points to {record.git}."
        return ""

    def checked_out(self) -> tuple[str, str]:
        """The commit that is checked out in it, and its branch, "" for none."""
        return self._line("rev-parse", "HEAD"), self._line("symbolic-ref", "--quiet", "--short", "HEAD")

    def state(self) -> WorkTreeState:
        """Returns the current state."""
        base = self._base()
        files = len(self._changed_files())
        ahead = self._count("HEAD", "--not", base or self.record.commit)
        return WorkTreeState(
            files=files,
            commits=self._only_here(),
            ahead=ahead,
            base=base,
            follows=bool(base and ahead and not files and self._is_ancestor(base)),
        )

    def patch(self) -> bytes:
        """Everything that it has and the branch on which it was begun lacks, as git's patch: commits,
        uncommitted changes and new files. b"" for nothing."""
        with self._index_of_everything() as more:
            words = ("--cached", "--binary", "--no-color", "--no-ext-diff", "--no-textconv", "--no-renames")
            return self._run("diff", *words, self._origin(), "--", more=more)

    def changed_files(self) -> tuple[FileVersions, ...]:
        """The same file by file, with the contents before and after."""
        with self._index_of_everything() as more:
            words = ("--cached", "--raw", "--abbrev=64", "--no-renames", "-z", self._origin(), "--")
            rows = self._run("diff", *words, more=more).split(b"\0")
            found = [(*rows[at].split()[:4], rows[at + 1]) for at in range(0, len(rows) - 1, 2)]
            wanted = [sha for _, _, before, after, _ in found for sha in (before, after)]
            contents = iter(self._contents(wanted, more))
            return tuple(
                FileVersions(path=os.fsdecode(path), before=next(contents), after=next(contents))
                for *_, path in found
            )

    def _contents(self, names: Sequence[bytes], more: Mapping[str, str]) -> Iterator[bytes | None]:
        """The contents with these names in git; None for a name of zeros, and for what isn't a file."""
        given = b"".join(name + b"\n" for name in names)
        output = self._run("cat-file", "--batch", given=given, more=more)
        at = 0
        for _ in names:
            end = output.index(b"\n", at)
            head = output[at:end].split()
            at = end + 1
            if head[-1] == b"missing":
                yield None
                continue
            size = int(head[2])
            yield output[at : at + size] if head[1] == b"blob" else None
            at += size + 1

    def write_patch(self) -> Path:
        """Write the patch to a file, and return that. It stays when the work tree is removed."""
        folder = self.path.parent / _PATCHES
        file = folder / f"{self.record.name}.patch"
        try:
            make_private(folder)
            put_file(file, self.patch(), content_of(file, most=_MOST_BYTES), mode=0o600)
        except OSError as error:
            raise WorkTreeFailed(f"{file} can't be written: {error.strerror}.") from error
        return file

    def merge(self) -> str:
        """Move the branch on which it was begun forward to its last commit; returns a sentence about that.

        Where that branch is checked out, git moves the files there too, and refuses if that would overwrite
        changes.

        Raises:
            WorkTreeFailed: something isn't committed, the branches went different ways, or git refuses.
        """
        state = self.state()
        if state.is_merged:
            return f"Nothing to merge: {state.base or self.record.commit[:10]} has everything."
        if not state.follows:
            raise WorkTreeFailed(_why_not(state))
        tip, base = self._line("rev-parse", "HEAD"), state.base
        if folder := self._folder_with(base):
            _require_untouched(folder)
            words = ("-c", "merge.autoStash=false", "merge", "--ff-only", "--quiet", tip)
            code, _, complaint = self._git.tried(folder, *words)
            if code:
                raise WorkTreeFailed(f"{base} was not moved, since git refuses that in {folder}: {complaint}")
        else:
            folder, old = Path(self.record.project), self._line("rev-parse", f"refs/heads/{base}")
            self._run("update-ref", "-m", f"keen: merge {self.record.branch}", f"refs/heads/{base}", tip, old)
        return f"{base} now has the {counted(state.ahead, 'commit')} of {self.record.branch}."

    def remove(self, *, with_changes: bool = False) -> str:
        """Remove it and its branch; returns a sentence about that.

        Raises:
            WorkTreeFailed: it has changes and `with_changes` isn't set, or it can't be removed.
        """
        tip = ""
        if not with_changes and (problem := self.problem) and self.path.exists():
            raise WorkTreeFailed(f"Keen can't tell whether {self.record.name} has changes: {problem}")
        if not self.problem:
            state = self.state()
            if state.is_changed and not with_changes:
                raise WorkTreeFailed(f"{self.record.name} was not removed: it has {state.changes}.")
            tip = self._line("rev-parse", "HEAD") if state.commits else ""
        elif not with_changes and self._has_branch() and self._only_here_of_branch():
            raise WorkTreeFailed(
                f"{self.record.name} was not removed: its branch {self.record.branch} has commits that no "
                "other branch has."
            )
        self.sweep()
        project = Path(self.record.project)
        if project.is_dir():
            self._git.tried(project, "worktree", "remove", "--force", "--force", "--", str(self.path))
            if self._has_branch():
                self._git.output(project, "branch", "--quiet", "-D", "--", self.record.branch)
        with suppress(OSError):
            forget_record(self.path)
        back = f" Its last commit was {tip[:12]}: git branch NAME {tip[:12]} brings it back." if tip else ""
        return f"Removed the work tree {self.record.name} and its branch {self.record.branch}.{back}"

    def sweep(self) -> None:
        """Remove its folder, whatever is in there. Raises WorkTreeFailed: something can't be removed."""
        try:
            shutil.rmtree(self.path)
        except FileNotFoundError:
            return
        except OSError as error:
            raise WorkTreeFailed(
                f"{error.filename or self.path} can't be removed: {error.strerror}."
            ) from error

    def _base(self) -> str:
        """The branch on which it was begun, "" if it is gone."""
        base = self.record.base
        words = ("show-ref", "--verify", "--quiet", f"refs/heads/{base}")
        return base if base and self._git.is_true(self.path, *self._repository(), *words) else ""

    def _origin(self) -> str:
        """The commit from which the patch counts."""
        base = self._base()
        return (self._line("merge-base", "HEAD", f"refs/heads/{base}") if base else "") or self.record.commit

    def _changed_files(self) -> Sequence[bytes]:
        """The files with uncommitted changes, and the untracked ones, once each. A folder that is a
        repository of its own counts as one, with a slash at its end."""
        words = ("status", "--porcelain", "-z", "--no-renames", "--untracked-files=all")
        listed = self._run(*words, "--ignore-submodules=all").split(b"\0")
        staged = self._run("ls-files", "--stage", "-z").split(b"\0")
        links = [row.partition(b"\t")[2] + b"/" for row in staged if row.startswith(_GITLINK)]
        return [*(row[3:] for row in listed if row), *links]

    def _only_here(self) -> int:
        return self._count("HEAD", *self._of_branch(), "--not", *self._others())

    def _only_here_of_branch(self) -> bool:
        """Whether the branch has commits of its own; asked in the project, where the work tree is broken."""
        words = ("rev-list", "--max-count=1", f"refs/heads/{self.record.branch}", "--not", *self._others())
        return bool(self._git.output(Path(self.record.project), *words))

    def _others(self) -> tuple[str, ...]:
        return (f"--exclude={self.record.branch}", "--branches", "--remotes", "--tags")

    def _of_branch(self) -> tuple[str, ...]:
        return (f"refs/heads/{self.record.branch}",) if self._has_branch() else ()

    def _has_branch(self) -> bool:
        words = ("show-ref", "--verify", "--quiet", f"refs/heads/{self.record.branch}")
        return self._git.is_true(Path(self.record.project), *words)

    def _is_ancestor(self, base: str) -> bool:
        words = ("merge-base", "--is-ancestor", f"refs/heads/{base}", "HEAD")
        return self._git.is_true(self.path, *self._repository(), *words)

    def _count(self, *revisions: str) -> int:
        return int(self._run("rev-list", "--count", *revisions, "--"))

    def _folder_with(self, branch: str) -> Path | None:
        """The folder where that branch is checked out; None for nowhere."""
        folder = b""
        for row in self._run("worktree", "list", "--porcelain", "-z").split(b"\0"):
            if row.startswith(b"worktree "):
                folder = row.removeprefix(b"worktree ")
            elif row == b"branch refs/heads/" + os.fsencode(branch):
                path = Path(os.fsdecode(folder))
                return path if path.is_dir() else None
        return None

    @contextmanager
    def _index_of_everything(self) -> Iterator[dict[str, str]]:
        """Variables with which git sees everything that isn't ignored as if it were added. Neither the index
        nor the objects of the repository change."""
        with tempfile.TemporaryDirectory(prefix="keen-patch-") as folder:
            objects = Path(folder, "objects")
            objects.mkdir()
            more = {
                "GIT_INDEX_FILE": str(Path(folder, "index")),
                "GIT_OBJECT_DIRECTORY": str(objects),
                "GIT_ALTERNATE_OBJECT_DIRECTORIES": str(Path(self.record.common, "objects")),
            }
            self._run("read-tree", "HEAD", more=more)
            files = [name for name in self._changed_files() if not name.endswith(b"/")]
            given = b"".join(name + b"\0" for name in files)
            self._run("update-index", "--add", "--remove", "-z", "--stdin", given=given, more=more)
            yield more

    def _run(self, *words: str, given: bytes = b"", more: Mapping[str, str] = NO_MORE) -> bytes:
        return self._git.output(self.path, *self._repository(), *words, given=given, more=more)

    def _line(self, *words: str) -> str:
        return self._git.line(self.path, *self._repository(), *words)

    def _repository(self) -> tuple[str, str]:
        return (f"--git-dir={self.record.git}", f"--work-tree={self.path}")


def points_to(tree: Path, git: Path) -> bool:
    """Whether the file `.git` of a work tree leads to that repository."""
    try:
        content = content_of(tree / ".git", most=_LONGEST_POINTER) or b""
    except OSError:
        return False
    named = os.fsdecode(content).strip().removeprefix("gitdir:").strip()
    return bool(named) and Path(os.path.realpath(tree / named)) == git


def _require_untouched(folder: Path) -> None:
    """Raises WorkTreeFailed: the folder is a work tree of Keen's whose file `.git` leads elsewhere."""
    record = read_record(folder)
    if record and not points_to(folder, Path(record.git)):
        raise WorkTreeFailed(f"The file .git in {folder} no longer points to {record.git}.")


def _why_not(state: WorkTreeState) -> str:
    if not state.base:
        return "The branch it was started from no longer exists, so there is none to merge into."
    if state.files:
        return f"Not everything is committed ({counted(state.files, 'file')})."
    return f"{state.base} has commits that this work tree doesn't have, so it can't be fast-forwarded."
