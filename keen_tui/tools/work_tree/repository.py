"""Git repositories, read as data: which files they track, and what those hold. Git itself never runs here, so
no setting, hook or filter of a repository takes effect."""

from __future__ import annotations

import hashlib
import logging
import os
import re
import stat
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from keen_tui.system.safe_read import content_of
from keen_tui.tools.search.gitignore import IgnoreRules, with_rules_from

if TYPE_CHECKING:
    from dulwich.index import IndexEntry
    from dulwich.object_store import DiskObjectStore

log = logging.getLogger(__name__)

_LONGEST_POINTER: Final = 4_096
_LARGEST_ATTRIBUTES: Final = 1_000_000
_CONVERTS: Final = re.compile(rb"filter=|working-tree-encoding=|eol=crlf|\bident\b")
"""Attributes with which the content in the repository isn't that of the file."""


class TrackedFile(NamedTuple):
    """A file in the index. `stamp` is the hash of what git noted of the file when both were the same; `sha`
    names its content, `size` is in bytes, and of the `mode` git keeps only whether it is executable."""

    stamp: int
    sha: bytes
    size: int
    mode: int


class Repository:
    """The repository whose work tree is the folder `top`, as far as it lies below `root`.

    All methods block.

    Args:
        root: files are named by their paths from here, with forward slashes.
    """

    def __init__(self, top: Path, git: Path, root: Path) -> None:
        self._git = git
        self._top = top
        self._root = root
        self._index_stamp: tuple[int, ...] = ()
        self._written_at = 0
        self._converts = False
        self._folders: frozenset[str] = frozenset()
        self._store: DiskObjectStore | None = None
        self.tracked: Mapping[str, TrackedFile] = {}

    @property
    def rules(self) -> IgnoreRules:
        """Returns the rules of ignored files that don't come from a .gitignore."""
        everywhere = with_rules_from(_users_ignore_file(), self._top, ())
        return with_rules_from(self._common / "info" / "exclude", self._top, everywhere)

    def refresh(self) -> bool:
        """Read the index if it isn't the one read last; tells whether it was."""
        try:
            status = (self._git / "index").stat()
        except OSError:
            changed, self.tracked, self._index_stamp = bool(self.tracked), {}, ()
            return changed
        stamp = (status.st_ctime_ns, status.st_mtime_ns, status.st_ino, status.st_size)
        if stamp == self._index_stamp:
            return False
        self._index_stamp, self._written_at = stamp, status.st_mtime_ns
        self.tracked = self._read()
        self._folders = frozenset(_with_parents({path.rpartition("/")[0] for path in self.tracked}))
        self._converts = self._has_conversions()
        return True

    def has_below(self, folder: str) -> bool:
        """Whether it tracks a file below the folder."""
        return folder in self._folders

    def is_clean(self, path: str, status: os.stat_result) -> bool:
        """Whether a file is certainly what the repository holds, by what git noted of it.

        As for git itself, a file as young as the index may have changed since without a trace.
        """
        file = self.tracked.get(path)
        return (
            file is not None
            and not self._converts
            and status.st_mtime_ns < self._written_at
            and file.stamp == _stamp(status.st_ctime_ns, status.st_mtime_ns, status.st_ino, status.st_size)
            and bool(file.mode & stat.S_IXUSR) == bool(status.st_mode & stat.S_IXUSR)
        )

    def holds(self, file: TrackedFile, content: bytes | None) -> bool:
        """Whether that content is the one that it has of a file."""
        if content is None or not file.sha or self._converts:
            return False
        digest = hashlib.sha1(b"blob %d\0" % len(content), usedforsecurity=False)
        digest.update(content)
        return digest.hexdigest().encode() == file.sha and len(content) == file.size

    def content(self, file: TrackedFile) -> bytes | None:
        """Returns the repository's content of a file; None if it can't be read, or isn't as long as the file
        was. Only inside `reading`."""
        try:
            found = self._objects[file.sha].as_raw_string()  # type: ignore[index]
        except Exception as error:  # dulwich has no common error for what it can't read
            log.warning("an object of %s can't be read: %r", self._git, error)
            return None
        return found if len(found) == file.size else None

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Its objects can be read meanwhile."""
        try:
            yield
        finally:
            if self._store is not None:
                self._store.close()
                self._store = None

    @property
    def _objects(self) -> DiskObjectStore:
        from dulwich.object_store import DiskObjectStore  # noqa: PLC0415 - 40 ms

        if self._store is None:
            self._store = DiskObjectStore(str(self._common / "objects"))
        return self._store

    def _read(self) -> Mapping[str, TrackedFile]:
        from dulwich.index import ConflictedIndexEntry, Index  # noqa: PLC0415 - 40 ms

        before, below = self._prefixes()
        tracked: dict[str, TrackedFile] = {}
        try:
            for name, entry in Index(str(self._git / "index")).items():
                path = os.fsdecode(name)
                file = None if isinstance(entry, ConflictedIndexEntry) else _tracked(entry)
                if file and path.startswith(below):
                    tracked[before + path[len(below) :]] = file
        except Exception:  # dulwich has no common error for what it can't read
            log.warning("the index of %s can't be read", self._git, exc_info=True)
            return {}
        return tracked

    def _prefixes(self) -> tuple[str, str]:
        """Returns the prefix to add to a path of the index, and the one to remove from it: one of both is
        ""."""
        if self._top == self._root or self._root in self._top.parents:
            inside = self._top.relative_to(self._root).as_posix()
            return ("" if inside == "." else f"{inside}/"), ""
        return "", f"{self._root.relative_to(self._top).as_posix()}/"

    def _has_conversions(self) -> bool:
        files = [self._common / "info" / "attributes"]
        files += [self._root / path for path in self.tracked if path.endswith(".gitattributes")]
        return any(map(_converts, files))

    @property
    def _common(self) -> Path:
        """Where the objects are: linked work trees share them."""
        pointed = _text(self._git / "commondir")
        return self._git if pointed is None else Path(os.path.normpath(self._git / pointed))


def repository_above(folder: Path, root: Path) -> Repository | None:
    """The repository whose work tree holds the folder, None for none."""
    found = (repository_at(above, root) for above in (folder, *folder.parents))
    return next((repository for repository in found if repository), None)


def repository_at(folder: Path, root: Path) -> Repository | None:
    """The repository whose work tree begins with this folder, None where none does."""
    git = folder / ".git"
    with suppress(OSError):
        if git.is_file() and (pointed := _text(git)) is not None and pointed.startswith("gitdir:"):
            git = Path(os.path.normpath(folder / pointed.removeprefix("gitdir:").strip()))
        if (git / "HEAD").is_file():
            return Repository(folder, git, root)
    return None


def _tracked(entry: IndexEntry) -> TrackedFile | None:
    """A file or a link of the index; None for what is neither, such as a submodule."""
    if stat.S_ISLNK(entry.mode):
        return TrackedFile(0, b"", 0, entry.mode)
    if not stat.S_ISREG(entry.mode):
        return None
    stamp = _stamp(_nanoseconds(entry.ctime), _nanoseconds(entry.mtime), entry.ino, entry.size)
    return TrackedFile(stamp, bytes(entry.sha), entry.size, entry.mode)


def _stamp(ctime: int, mtime: int, inode: int, size: int) -> int:
    """Returns a hash of the times, inode and size of a file, of which the index keeps 32 bits each."""
    return hash(
        (ctime & 0xFFFFFFFFFFFFFFFF, mtime & 0xFFFFFFFFFFFFFFFF, inode & 0xFFFFFFFF, size & 0xFFFFFFFF)
    )


def _nanoseconds(time: int | float | tuple[int, int]) -> int:
    return time[0] * 1_000_000_000 + time[1] if isinstance(time, tuple) else int(time * 1_000_000_000)


def _with_parents(folders: set[str]) -> set[str]:
    found: set[str] = set()
    for folder in folders:
        while folder and folder not in found:
            found.add(folder)
            folder = folder.rpartition("/")[0]
    return found


def _users_ignore_file() -> Path:
    """The user's own file of ignored names, where git looks for it if no setting says otherwise."""
    return Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config") / "git" / "ignore"


def _text(file: Path) -> str | None:
    try:
        found = content_of(Path(os.path.realpath(file)), most=_LONGEST_POINTER)
    except OSError:
        return None
    return None if found is None else os.fsdecode(found).strip()


def _converts(file: Path) -> bool:
    try:
        found = content_of(file, most=_LARGEST_ATTRIBUTES)
    except OSError:
        return True  # it can't be read, so nothing is certain
    return bool(found and _CONVERTS.search(found))
