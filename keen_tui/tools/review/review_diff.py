"""The diff under review. Files that don't fit or shouldn't be shown are left out and named."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from msgspec import Struct

from keen_tui.domain.errors import ConfigError, ToolFailure
from keen_tui.domain.review import ReviewScope, ReviewWish, SkippedFile
from keen_tui.system.trees import walk
from keen_tui.text.diff import diff_display
from keen_tui.text.units import size
from keen_tui.tools.access.sensitive import holds_secrets
from keen_tui.tools.files.workspace import Workspace
from keen_tui.tools.review.borrowed import BorrowedRepository, ChangedEntry, borrowed, shown
from keen_tui.tools.review.numbered import ReviewedFile, named, reviewed_file
from keen_tui.tools.review.repository import ReviewedRepository
from keen_tui.tools.review.scope import scope_of
from keen_tui.tools.rules.rules import NO_RULES, Rules

MOST_CHARACTERS: Final = 400_000
"""The most characters of the whole diff, about 100,000 tokens."""

_LARGEST: Final = 1_000_000
"""The most bytes of one version of a file."""
_MOST_ROWS: Final = 3_000
_LEAST: Final = 200
"""If fewer characters of room are left, no further file is read."""
_NO_ROOM: Final = "no room in the review"
_LOCK_FILES: Final = frozenset(
    """
    package-lock.json npm-shrinkwrap.json yarn.lock pnpm-lock.yaml bun.lock bun.lockb deno.lock
    poetry.lock uv.lock pdm.lock pipfile.lock pixi.lock cargo.lock gemfile.lock composer.lock go.sum
    mix.lock pubspec.lock podfile.lock package.resolved packages.lock.json gradle.lockfile flake.lock
    .terraform.lock.hcl conan.lock
    """.split()  # noqa: SIM905 - a list of quoted names is no easier to read
)
_READ_BY_GIT: Final = frozenset((".gitignore", ".gitattributes"))
_LINK: Final = "120000"


class ReviewDiff(Struct, frozen=True, kw_only=True):
    """The changes under review. Paths are relative to `root`."""

    root: Path
    scope: ReviewScope
    files: tuple[ReviewedFile, ...]
    left_out: tuple[SkippedFile, ...]
    notices: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """The diff as the model reads it."""
        return "\n\n".join(file.text for file in self.files)


def read_diff(
    folder: Path,
    wish: ReviewWish,
    *,
    rules: Rules = NO_RULES,
    environ: Mapping[str, str] = os.environ,
    most_characters: int = MOST_CHARACTERS,
) -> ReviewDiff:
    """The changes that the user wants reviewed, in the repository around the folder. Blocks.

    Args:
        rules: the user's rules. Files that they protect, or that may hold secrets, are left out.

    Raises:
        ConfigError: there is no repository, or no branch or commit of that name, or git would wait for a
            named pipe.
        WorkTreeFailed: git fails.
    """
    repository = ReviewedRepository(folder, environ)
    _require_files(repository.top)
    with borrowed(repository) as git:
        head = repository.commit("HEAD")
        uncommitted = ReviewScope(kind="uncommitted", title="", old=head)
        git.add_uncommitted(head)
        has_uncommitted = bool(git.skipped or git.changes(uncommitted))
        scope = scope_of(wish, repository, has_uncommitted=has_uncommitted)
        entries = git.changes(scope)
        sorted_out = _SortedOut(git, _protected(repository.top, rules), most_characters)
        files = tuple(sorted_out.files(entries))
        skipped = git.skipped if not scope.new else ()
        notices = _notices(scope, has_uncommitted=has_uncommitted)
    left_out = (*sorted_out.left_out, *skipped)
    return ReviewDiff(root=repository.top, scope=scope, files=files, left_out=left_out, notices=notices)


class _SortedOut:
    """Makes the diff of each file that can be shown; `left_out` are the others."""

    def __init__(self, git: BorrowedRepository, hides: Callable[[bytes], bool], room: int) -> None:
        self._git = git
        self._hides = hides
        self._room = room
        self.left_out: list[SkippedFile] = []

    def files(self, entries: Sequence[ChangedEntry]) -> Iterator[ReviewedFile]:
        wanted = [entry for entry in entries if not self._skip(entry, _named_reason(entry, self._hides))]
        sizes = self._git.sizes([name for entry in wanted for name in _objects(entry)])
        for entry in wanted:
            if not self._skip(entry, _size_reason(entry, sizes)):
                yield from self._diff(entry)

    def _diff(self, entry: ChangedEntry) -> Iterator[ReviewedFile]:
        if self._skip(entry, _NO_ROOM if self._room < _LEAST else ""):
            return
        contents = self._git.contents(_objects(entry))
        before, after = (contents.get(name, b"") for name in (entry.old_object, entry.new_object))
        if b"\0" in before or b"\0" in after:
            self._skip(entry, "binary")
            return
        path = entry.path.decode()
        texts = (before.decode("utf-8", "replace"), after.decode("utf-8", "replace"))
        diff = diff_display(path, *texts, most_rows=_MOST_ROWS)
        if self._skip(entry, "too many changed lines" if diff.left_out else ""):
            return
        file = reviewed_file(path, _change(entry), diff)
        if self._skip(entry, _NO_ROOM if len(file.text) > self._room else ""):
            return
        self._room -= len(file.text)
        yield file

    def _skip(self, entry: ChangedEntry, reason: str) -> bool:
        if reason:
            self.left_out.append(SkippedFile(shown(entry.path), reason))
        return bool(reason)


def _require_files(top: Path) -> None:
    """Raises ConfigError: one of the files that git reads in the folders of the work tree is a named pipe."""
    for folder, folders, files in walk(top):
        folders[:] = [name for name in folders if name != ".git"]
        for name in _READ_BY_GIT.intersection(files):
            path = Path(folder, name)
            if path.is_fifo():
                raise ConfigError(f"{path} is a named pipe, and git would wait for it. Remove it first.")


def _protected(top: Path, rules: Rules) -> Callable[[bytes], bool]:
    """A function that says whether a file of the repository is protected."""
    workspace = Workspace(top, rules=rules)

    def hides(name: bytes) -> bool:
        try:
            place = workspace.place(str(top / os.fsdecode(name)))
        except ToolFailure:
            return True
        return holds_secrets(shown(name)) or workspace.withholds(place)

    return hides


def _named_reason(entry: ChangedEntry, hides: Callable[[bytes], bool]) -> str:
    """Why the file is left out whatever its content; "" if it isn't."""
    if entry.is_submodule:
        return f"a submodule, from {_short(entry.old_object)} to {_short(entry.new_object)}"
    if "\ufffd" in shown(entry.path) or "\ufffd" in shown(entry.old_path):
        return "its name isn't UTF-8"
    if entry.path.rpartition(b"/")[2].lower().decode() in _LOCK_FILES:
        return "a lock file"
    return "may hold secrets, or a rule protects it" if hides(entry.path) or hides(entry.old_path) else ""


def _size_reason(entry: ChangedEntry, sizes: Mapping[str, int]) -> str:
    missing = [name for name in _objects(entry) if name not in sizes]
    if missing:
        return "its content isn't in this clone"
    largest = max((sizes[name] for name in _objects(entry)), default=0)
    return f"too large ({size(largest)})" if largest > _LARGEST else ""


def _objects(entry: ChangedEntry) -> list[str]:
    """The object names of its contents, before and after, without those of missing files."""
    old = () if entry.is_new else (entry.old_object,)
    return list(dict.fromkeys((*old, *(() if entry.is_deleted else (entry.new_object,)))))


def _short(name: str) -> str:
    return name[:10] if name.strip("0") else "nothing"


def _change(entry: ChangedEntry) -> str:
    """How the file changed: `new`, `renamed from a.py`, `changed, mode 100644 became 100755`."""
    if entry.is_new:
        return "a new symlink" if entry.new_mode == _LINK else "new"
    if entry.is_deleted:
        return "deleted; the line numbers are those of the old version"
    renamed = (f"renamed from {named(entry.old_path.decode())}",) if entry.path != entry.old_path else ()
    modes = (f"mode {entry.old_mode} became {entry.new_mode}",) if entry.old_mode != entry.new_mode else ()
    changed = ("changed",) if entry.old_object != entry.new_object else ()
    return ", ".join((*changed, *renamed, *modes))


def _notices(scope: ReviewScope, *, has_uncommitted: bool) -> tuple[str, ...]:
    if scope.new and has_uncommitted:
        return ("There are uncommitted changes, which aren't reviewed.",)
    return ()
