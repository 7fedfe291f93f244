"""The repository under review, which somebody else may have written.

Git reads its settings only to find branches and commits. All contents are read through another, empty
repository that borrows its objects: there git knows none of its filters, drivers, hooks, attributes outside
the files, remotes and submodules. Connections are forbidden, since git would fetch the objects that a partial
clone lacks with a program that the settings name.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from keen_tui.domain.errors import ConfigError
from keen_tui.text.sanitize import clean
from keen_tui.tools.git.own_git import OwnGit

_NO_GIT: Final = "Reviews need git, which isn't installed here. Install it first."
_NO_CONNECTION: Final[Mapping[str, str]] = {"GIT_ALLOW_PROTOCOL": "none", "GIT_NO_LAZY_FETCH": "1"}
_KINDS: Final[Mapping[str, frozenset[str]]] = {
    "core.autocrlf": frozenset(("true", "false", "input")),
    "core.eol": frozenset(("lf", "crlf", "native")),
    "core.fileMode": frozenset(("true", "false")),
    "core.ignoreCase": frozenset(("true", "false")),
    "core.symlinks": frozenset(("true", "false")),
    "core.precomposeUnicode": frozenset(("true", "false")),
}
"""Settings of the repository about files on this disk, with the values that are accepted. None names a
program."""

_MOST_NAMES: Final = 2_000
"""The most branches and tags that are read to find a misspelt one."""

SHALLOW: Final = (
    "This clone doesn't have the whole history: fetch it, with git fetch --unshallow, or in a workflow "
    "with fetch-depth: 0 for actions/checkout."
)


class ReviewedRepository:
    """The git repository around `folder`. All methods block.

    `top` is the top folder of its work tree.

    Raises:
        ConfigError: there is no repository, it has no work tree, or git isn't installed.
    """

    def __init__(self, folder: Path, environ: Mapping[str, str] = os.environ) -> None:
        self._git = OwnGit(environ, _NO_GIT)
        self.top = self._top(folder)

    def commit(self, name: str) -> str:
        """The commit of that name, which may have any characters; "" if there is none."""
        words = ("rev-parse", "--verify", "--quiet", "--end-of-options", f"{name}^{{commit}}")
        found = self._line(*words) if name else ""
        return found if found.isalnum() else ""  # `^main` is all but a commit

    def merge_base(self, one: str, other: str) -> str:
        """The newest commit that both have in common; "" if there is none."""
        return self._line("merge-base", one, other)

    def parent(self, commit: str) -> str:
        """The first parent of a commit; "" for the first commit.

        Raises:
            ConfigError: the clone is too shallow to have it.
        """
        content = self._output("cat-file", "commit", commit).partition(b"\n\n")[0]
        named = [row.split()[1].decode() for row in content.split(b"\n") if row.startswith(b"parent ")]
        if named and not self.commit(named[0]):
            raise ConfigError(f"The commit before {commit[:12]} isn't here. {SHALLOW}")
        return named[0] if named else ""

    def title_of(self, commit: str) -> str:
        """The first line of a commit's message."""
        content = self._output("cat-file", "commit", commit)
        return content.partition(b"\n\n")[2].partition(b"\n")[0].decode("utf-8", "replace")

    def branch(self) -> str:
        """The branch that is checked out; "" for none."""
        return self._line("symbolic-ref", "--quiet", "--short", "HEAD")

    def names(self) -> list[str]:
        """The branches and tags, such as `main` and `origin/main`."""
        places = ("refs/heads", "refs/remotes", "refs/tags")
        return self._line(
            "for-each-ref", f"--count={_MOST_NAMES}", "--format=%(refname:short)", *places
        ).split()

    def upstream(self) -> str:
        """The upstream of the branch that is checked out, such as `origin/main`; "" for none."""
        return self._line("rev-parse", "--verify", "--quiet", "--abbrev-ref", "@{upstream}")

    def default_branch(self) -> str:
        """The default branch of the remote `origin`, such as `origin/main`; "" if it isn't known."""
        return self._line("symbolic-ref", "--quiet", "--short", "refs/remotes/origin/HEAD")

    def is_shallow(self) -> bool:
        """Whether the clone lacks part of the history."""
        return self._line("rev-parse", "--is-shallow-repository") == "true"

    def file_of(self, name: str) -> Path:
        """The path of a file inside the repository, such as `index`."""
        return Path(self._line("rev-parse", "--path-format=absolute", "--git-path", name))

    def object_format(self) -> str:
        """The hash of its object names: `sha1` or `sha256`."""
        return self._line("rev-parse", "--show-object-format") or "sha1"

    def disk_settings(self) -> dict[str, str]:
        """Its settings about files on this disk, those with accepted values."""
        found = {name: self._line("config", "--get", name).lower() for name in _KINDS}
        return {name: value for name, value in found.items() if value in _KINDS[name]}

    def elsewhere(self, git_dir: Path) -> PrivateGit:
        """Git for the same work tree with another repository."""
        return PrivateGit(self._git, git_dir, self.top)

    def _top(self, folder: Path) -> Path:
        code, output, complaint = self._git.tried(
            folder, "rev-parse", "--is-inside-work-tree", more=_NO_CONNECTION
        )
        if code and "not a git repository" in complaint:
            raise ConfigError(f"{folder} isn't in a git repository, so there are no changes to review.")
        if code:
            raise ConfigError(f"git can't use the repository in {folder}: {complaint}")
        if output.strip() != b"true":
            raise ConfigError(f"{folder} is a bare repository, or a folder inside one: review a clone of it.")
        top = self._path(folder, "--show-toplevel")
        if not _is_top(top, self._path(folder, "--absolute-git-dir")):
            raise ConfigError(
                f"The repository in {folder} says that its files are in {clean(str(top))}, which doesn't "
                "belong to it. Check core.worktree in its settings."
            )
        return top

    def _path(self, folder: Path, what: str) -> Path:
        shown = self._git.output(folder, "rev-parse", what, more=_NO_CONNECTION)
        return Path(os.path.realpath(os.fsdecode(shown.removesuffix(b"\n"))))

    def _line(self, *words: str) -> str:
        code, output, _ = self._git.tried(self.top, *words, more=_NO_CONNECTION)
        return "" if code else os.fsdecode(output.removesuffix(b"\n"))

    def _output(self, *words: str) -> bytes:
        return self._git.output(self.top, *words, more=_NO_CONNECTION)


def _is_top(top: Path, git_dir: Path) -> bool:
    """Whether the folder is the top of that repository's work tree: its `.git` is the repository, or a file
    as in work trees and submodules. The repository's settings don't count."""
    entry = top / ".git"
    return entry.is_file() or Path(os.path.realpath(entry)) == git_dir


class PrivateGit:
    """Runs git with a repository that Keen made, on the work tree under review. Methods block, and raise
    WorkTreeFailed if git fails."""

    def __init__(self, git: OwnGit, git_dir: Path, top: Path) -> None:
        self._git = git
        self._words = (f"--git-dir={git_dir}", f"--work-tree={top}")
        self._top = top

    def run(self, *words: str, given: bytes = b"") -> bytes:
        """The output of a git command."""
        return self._git.output(self._top, *self._words, *words, given=given, more=_NO_CONNECTION)
