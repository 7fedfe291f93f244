"""The files of the workspace that commands in a sandbox can't read, because of their names."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Collection, Iterator
from functools import lru_cache
from pathlib import Path
from typing import Final

from keen_tui.tools.access.sensitive import EntryKind
from keen_tui.tools.sandbox.base import Terms
from keen_tui.tools.sandbox.noted_entries import noted_entries
from keen_tui.tools.sandbox.policy import Policy

_LENGTH: Final = 0xFFF
"""The bits of an entry's flags in git's index with the length of its name."""
_OF_FILES: Final = (b"\0\0\x81\xa4", b"\0\0\x81\xed")
"""The modes of files, plain and executable."""
_LARGEST: Final = 1_000_000
"""Bytes of the largest file that is compared with git's copy."""


class SecretFiles:
    """The secret files of one workspace, and of the work tree around it."""

    def __init__(self, policy: Policy) -> None:
        self._top = policy.top
        self._index_file = (policy.git.git if policy.git else policy.workspace / ".git") / "index"
        self._hidden_anyway = set(policy.hidden) - set(policy.hidden_around)
        self._entries = noted_entries(policy.top)

    def hidden(self, terms: Terms) -> tuple[Path, ...]:
        """The files and folders that a command on these terms must not read, with links resolved. Blocks.

        A file that is exactly as git has it stays readable, unless the terms say otherwise: its content is
        readable in .git anyway, tests need such keys, and git would report the file as changed.
        """
        found = self._entries.look()
        secret = (path for path, kinds in found.items() if kinds & EntryKind.SECRET)
        real = dict.fromkeys(Path(os.path.realpath(path)) for path in secret)
        covered = {*real, *self._hidden_anyway}
        inside = (path for path in real if path.is_relative_to(self._top) and path.exists())
        outermost = (path for path in inside if covered.isdisjoint(path.parents))
        hidden = [path for path in outermost if not _is_shown(path, terms.reveals)]
        if hidden and not terms.hides_tracked:
            index = self._index()
            hidden = [path for path in hidden if not self._is_as_in_git(path, index)]
        return tuple(hidden)

    def _index(self) -> bytes:
        """The content of git's index, b"" if there is none."""
        path = self._index_file
        try:
            status = path.stat()
            return _content(path, status.st_ctime_ns, status.st_ino)
        except OSError:
            return b""

    def _is_as_in_git(self, path: Path, index: bytes) -> bool:
        try:
            status = path.stat()
            if not index or not path.is_file() or status.st_size > _LARGEST:
                return False
            tracked = tracked_hashes(index, os.fsencode(path.relative_to(self._top)))
            return _blob_hash(path, status.st_ctime_ns, status.st_ino) in tracked
        except OSError:
            return False


def tracked_hashes(index: bytes, name: bytes) -> set[bytes]:
    """The hashes for a file in an index (version 2 or 3, with SHA-1), possibly none."""
    return set(_tracked_hashes(index, name))


def _tracked_hashes(index: bytes, name: bytes) -> Iterator[bytes]:
    """A name follows 20 bytes of its hash, two bytes of flags, and in some entries two of further flags. The
    mode before them has zero bytes, so no name can pretend to be another entry."""
    place = index.find(name + b"\0")
    while place >= 0:
        for flags in (place - 2, place - 4):
            length = int.from_bytes(index[flags : flags + 2], "big") & _LENGTH
            if length == min(len(name), _LENGTH) and index[flags - 36 : flags - 32] in _OF_FILES:
                yield index[flags - 20 : flags]
        place = index.find(name + b"\0", place + 1)


@lru_cache(1)
def _content(path: Path, changed: int, inode: int) -> bytes:
    return path.read_bytes()


@lru_cache(500)
def _blob_hash(path: Path, changed: int, inode: int) -> bytes:
    """The name that git gives to the content of a file."""
    content = path.read_bytes()
    return hashlib.sha1(b"blob %d\0%b" % (len(content), content), usedforsecurity=False).digest()


def _is_shown(path: Path, revealed: Collection[Path]) -> bool:
    return any(path.is_relative_to(each) for each in revealed)
