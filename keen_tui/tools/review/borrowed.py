"""An empty repository that borrows the objects of the one under review."""

from __future__ import annotations

import os
import shutil
import stat
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from msgspec import Struct

from keen_tui.domain.errors import WorkTreeFailed
from keen_tui.domain.review import ReviewScope, SkippedFile
from keen_tui.text.units import size
from keen_tui.tools.review.repository import ReviewedRepository

_LARGEST_NEW: Final = 20_000_000
"""The most bytes of an untracked file that git reads."""

_LINK: Final = "160000"
"""The mode of a submodule."""


class ChangedEntry(Struct, frozen=True, kw_only=True):
    """A changed file as git lists it. Modes are `100644` and the like, `000000` for a missing file;
    `old_object` and `new_object` are the object names of its contents; `old_path` differs from `path` if the
    file was renamed."""

    path: bytes
    old_path: bytes
    old_mode: str
    new_mode: str
    old_object: str
    new_object: str

    @property
    def is_submodule(self) -> bool:
        """Whether it is a submodule, before or after."""
        return _LINK in (self.old_mode, self.new_mode)

    @property
    def is_new(self) -> bool:
        return not int(self.old_mode, 8)

    @property
    def is_deleted(self) -> bool:
        return not int(self.new_mode, 8)


class BorrowedRepository:
    """Reads changes and contents. All methods block and raise WorkTreeFailed if git fails.

    `skipped` are the uncommitted files that git doesn't read.
    """

    def __init__(self, repository: ReviewedRepository, folder: Path) -> None:
        self._top = repository.top
        self._git = repository.elsewhere(folder)
        self._excluded = repository.file_of("info/exclude")
        self.skipped: tuple[SkippedFile, ...] = ()
        _fill(repository, folder)

    def add_uncommitted(self, head: str) -> None:
        """Add the changed and untracked files of the work tree to the copy of the index."""
        names: list[bytes] = []
        gone: list[bytes] = []
        for name in self._candidates(head):
            (names if _is_file(self._path(name)) else gone).append(name)
        reasons = {name: _unreadable(self._path(name)) for name in names}
        reasons |= {name: self._reason(name) for name in self._untracked()}
        changed = [name for name, reason in reasons.items() if not reason]
        self.skipped = tuple(SkippedFile(shown(name), reason) for name, reason in reasons.items() if reason)
        self._update("--force-remove", gone)
        self._update("--add", changed)

    def changes(self, scope: ReviewScope) -> tuple[ChangedEntry, ...]:
        """The changed files of the scope. For uncommitted changes call `add_uncommitted` first."""
        words = ("--raw", "-z", "--no-abbrev", "-r", "-M", "--ignore-submodules=dirty")
        old = scope.old or self._empty_tree()
        if scope.new:
            return tuple(_entries(self._git.run("diff-tree", *words, old, scope.new, "--")))
        return tuple(_entries(self._git.run("diff-index", "--cached", *words, old, "--")))

    def sizes(self, objects: Sequence[str]) -> dict[str, int]:
        """The sizes of these contents in bytes, by object name, without those that the clone lacks."""
        given = "".join(f"{name}\n" for name in objects).encode()
        rows = self._git.run("cat-file", "--batch-check", given=given).decode().splitlines()
        parts = (row.split() for row in rows)
        return {part[0]: int(part[2]) for part in parts if part[1:2] == ["blob"]}

    def contents(self, objects: Sequence[str]) -> dict[str, bytes]:
        """These contents by object name. The clone must have all of them."""
        given = "".join(f"{name}\n" for name in objects).encode()
        output = self._git.run("cat-file", "--batch", given=given)
        found, at = {}, 0
        for name in objects:
            end = output.index(b"\n", at)
            length = int(output[at:end].split()[2])
            found[name] = output[end + 1 : end + 1 + length]
            at = end + length + 2
        return found

    def _candidates(self, head: str) -> list[bytes]:
        """Tracked files that may differ from the commit, without submodules."""
        words = ("--raw", "-z", "--no-abbrev", "--no-renames", "--ignore-submodules=all")
        found = _entries(self._git.run("diff-index", *words, head or self._empty_tree(), "--"))
        return list(dict.fromkeys(entry.path for entry in found if not entry.is_submodule))

    def _untracked(self) -> list[bytes]:
        excluded = (f"--exclude-from={self._excluded}",) if self._excluded.is_file() else ()
        words = ("--others", "--exclude-standard", *excluded, "-z")
        return [name for name in self._git.run("ls-files", *words).split(b"\0") if name]

    def _reason(self, name: bytes) -> str:
        """Why an untracked file is left out; "" if it isn't."""
        if name.endswith(b"/"):
            return "a repository of its own"
        path = self._path(name)
        if not _is_file(path):
            return "not a regular file"
        length = path.lstat().st_size
        if length > _LARGEST_NEW:
            return f"too large ({size(length)})"
        return _unreadable(path)

    def _update(self, how: str, names: Sequence[bytes]) -> None:
        if names:
            given = b"".join(name + b"\0" for name in names)
            self._git.run("update-index", how, "-z", "--stdin", given=given)

    def _path(self, name: bytes) -> Path:
        return self._top / os.fsdecode(name)

    def _empty_tree(self) -> str:
        return self._git.run("hash-object", "-t", "tree", "-w", "--stdin").decode().strip()


@contextmanager
def borrowed(repository: ReviewedRepository) -> Iterator[BorrowedRepository]:
    """A borrowed repository in a temporary folder, which is removed at the end."""
    with tempfile.TemporaryDirectory(prefix="keen-review-") as folder:
        yield BorrowedRepository(repository, Path(folder))


def _fill(repository: ReviewedRepository, folder: Path) -> None:
    """Create the repository: settings, a reference to the other one's objects, and a copy of its index."""
    is_sha1 = repository.object_format() == "sha1"
    settings = [f"[core]\n\trepositoryformatversion = {0 if is_sha1 else 1}\n\tbare = false\n"]
    settings += [] if is_sha1 else ["[extensions]\n\tobjectFormat = sha256\n"]
    for name, value in repository.disk_settings().items():
        settings.append(f"[core]\n\t{name.partition('.')[2]} = {value}\n")
    objects = repository.file_of("objects")
    index = repository.file_of("index")
    try:
        (folder / "objects" / "info").mkdir(parents=True)
        (folder / "refs").mkdir()
        (folder / "HEAD").write_text("ref: refs/heads/review\n")
        (folder / "config").write_text("".join(settings))
        (folder / "objects" / "info" / "alternates").write_bytes(_quoted(objects) + b"\n")
        for file in (index, *index.parent.glob("sharedindex.*")):
            if _is_file(file) and not file.is_symlink():
                shutil.copy2(file, folder / file.name)  # git compares its time with those of the files
    except OSError as error:
        raise WorkTreeFailed(f"The changes can't be read: {error.strerror}.") from error


def shown(name: bytes) -> str:
    """The name of a file; bytes that aren't UTF-8 are replaced."""
    return name.decode("utf-8", "replace")


def _unreadable(path: Path) -> str:
    return "" if path.is_symlink() or os.access(path, os.R_OK) else "can't be read"


def _quoted(path: Path) -> bytes:
    """A path as git reads it in `objects/info/alternates`."""
    escapes = {b"\\": b"\\\\", b'"': b'\\"', b"\n": b"\\n"}
    raw = os.fsencode(path)
    for character, escaped in escapes.items():
        raw = raw.replace(character, escaped)
    return b'"' + raw + b'"'


def _is_file(path: Path) -> bool:
    """Whether the path is a regular file or a symlink, and no folder in it is a symlink."""
    try:
        mode = path.lstat().st_mode
    except OSError:
        return False
    is_there = os.path.realpath(path.parent) == str(path.parent)
    return is_there and (stat.S_ISREG(mode) or stat.S_ISLNK(mode))


def _entries(listed: bytes) -> Iterator[ChangedEntry]:
    """Yields the entries of git's raw format: `:100644 100644 OLD NEW M`, then one path, or two for a renamed
    file."""
    parts = iter(listed.split(b"\0"))
    for head in parts:
        if not head.startswith(b":"):
            continue
        old_mode, new_mode, old_object, new_object, status = head[1:].decode().split()
        old_path = next(parts)
        path = next(parts) if status[0] in "RC" else old_path
        yield ChangedEntry(
            path=path,
            old_path=old_path,
            old_mode=old_mode,
            new_mode=new_mode,
            old_object=old_object,
            new_object=new_object,
        )
