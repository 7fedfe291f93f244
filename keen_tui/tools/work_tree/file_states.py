"""The state of each watched file when it was last checked."""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Final

from msgspec import Struct

from keen_tui.domain.file_changes import NO_FILE, Fingerprint, Version
from keen_tui.system.safe_read import content_of
from keen_tui.tools.work_tree.repository import Repository, TrackedFile
from keen_tui.tools.work_tree.saved_contents import MOST_BYTES, SavedContents

LARGEST_FILE: Final = 1_000_000
"""Bytes of the largest file whose content is kept."""

_LARGEST_HASHED: Final = 100_000_000
_PIECE: Final = 1 << 20

_READ: Final = os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC
"""A pipe or a link that took the place of a file doesn't hold up a command."""

_TOO_LARGE: Final = f"it is larger than {LARGEST_FILE // 1_000_000} MB"
_NO_ROOM: Final = f"Keen saves at most {MOST_BYTES // 1_000_000} MB before a command"
_IS_LINK: Final = "it is a symbolic link"
_CONVERTED: Final = "git stores it in another form"
_UNREADABLE: Final = "it can't be read"

RepositoryOf = Callable[[str], Repository | None]


class _Loose(Struct, frozen=True):
    """A file whose content git doesn't have. Unless it `is_saved`, the fingerprint stands for its content."""

    fingerprint: Fingerprint
    is_saved: bool
    is_link: bool
    unkept: str


class FileStates:
    """The states of files below `root`, by name. All methods block.

    A content that git has isn't saved a second time.
    """

    def __init__(self, root: Path, scratch: Path, repository_of: RepositoryOf) -> None:
        self._root = root
        self._repository_of = repository_of
        self._saved = SavedContents(scratch)
        self._known: dict[str, TrackedFile | _Loose] = {}

    def note(self, name: str) -> Version:
        """Read a file. What is there now is what `before` gives from now on."""
        old = self._known.pop(name, None)
        self._saved.drop(name)
        try:
            status = os.lstat(self._root / name)
        except OSError:
            return NO_FILE
        if not (stat.S_ISREG(status.st_mode) or stat.S_ISLNK(status.st_mode)):
            return NO_FILE
        sha = old.sha if isinstance(old, TrackedFile) and old.size == status.st_size else b""
        found = self._read(name, status, sha)
        repository = self._repository_of(name)
        tracked = repository.tracked.get(name) if repository else None
        if repository and tracked and repository.holds(tracked, found.content):
            self._known[name] = tracked
        elif found.content is not None and not self._saved.put(name, found.content):
            mark = (status.st_size, status.st_mtime_ns)
            self._known[name] = _Loose(mark, False, found.is_link, found.unkept or _NO_ROOM)
        else:
            is_saved = found.content is not None
            self._known[name] = _Loose(found.fingerprint, is_saved, found.is_link, found.unkept)
        return found

    def note_first(self, name: str) -> None:
        """As `note`, but a file that git certainly has isn't read."""
        try:
            status = os.lstat(self._root / name)
        except OSError:
            return
        repository = self._repository_of(name)
        if repository and repository.is_clean(name, status):
            self._known[name] = repository.tracked[name]
        else:
            self.note(name)

    def before(self, name: str, mode: int) -> Version:
        """Returns the version of a file that was noted last, with the `mode` that it had. Raises OSError."""
        known = self._known.get(name)
        bits = stat.S_IMODE(mode)
        if known is None:
            return Version(mode=bits, unkept=_UNREADABLE)
        if isinstance(known, _Loose):
            return Version(
                content=self._saved.get(name) if known.is_saved else None,
                mode=bits,
                fingerprint=known.fingerprint,
                is_link=known.is_link,
                unkept=known.unkept,
            )
        repository = self._repository_of(name)
        is_large = known.size > LARGEST_FILE
        found = None if is_large or not repository else repository.content(known)
        why = "" if found is not None else _TOO_LARGE if is_large else _CONVERTED
        return Version(content=found, mode=bits, fingerprint=known.sha, unkept=why)

    def _read(self, name: str, status: os.stat_result, sha: bytes) -> Version:
        """A file as it is now. `sha` is what git calls its content if it has the size that it had."""
        path, mode = self._root / name, stat.S_IMODE(status.st_mode)
        mark: Fingerprint = (status.st_size, status.st_mtime_ns)
        try:
            if stat.S_ISLNK(status.st_mode):
                target = os.fsencode(path.readlink())
                return Version(content=target, mode=mode, is_link=True, unkept=_IS_LINK)
            if status.st_size > LARGEST_FILE:
                if sha and status.st_size <= _LARGEST_HASHED:
                    mark = _git_hash(path, status.st_size)
                return Version(mode=mode, fingerprint=mark, unkept=_TOO_LARGE)
            content = content_of(path, most=LARGEST_FILE)
        except OSError:
            return Version(mode=mode, fingerprint=mark, unkept=_UNREADABLE)
        return NO_FILE if content is None else Version(content=content, mode=mode)


def _git_hash(path: Path, size: int) -> bytes:
    """Returns git's hash of the content of a file of that size, as hex digits. Raises OSError."""
    digest = hashlib.sha1(b"blob %d\0" % size, usedforsecurity=False)
    with os.fdopen(os.open(path, _READ), "rb") as file:
        while piece := file.read(_PIECE):
            digest.update(piece)
    return digest.hexdigest().encode()
