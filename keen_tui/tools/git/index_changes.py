"""Compares two of git's index files by what they say of the content: modes, hashes and conflicts, and not
when a file was last looked at (gitformat-index(5))."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from msgspec import Struct

from keen_tui.tools.git.gitlinks import GITLINK, REPOSITORY_AMONG_PACKAGES, is_among_packages

_HEADER: Final = 12
_TO_MODE: Final = 24
_TO_HASH: Final = 40
_LONG_NAME: Final = 0xFFF
_HAS_MORE_FLAGS: Final = 0x40
_IS_INTENDED: Final = 0x20
_STAGE: Final = 0x30
_LONGEST_NAME: Final = 4_096
_SLASH: Final = ord("/")
_MODES: Final = ("100644", "100755", "120000", GITLINK)
_NO_NAME: Final = re.compile(rb"(?i)(?:^|/)(?:\.{0,2}|\.git|git~\d+)(?:/|$)")
_MOST: Final = 1_000_000
_LARGEST_NAMES: Final = 100_000_000
"""Bytes of all names together: in version 4 a few bytes can stand for a long one."""
_BLOCKS: Final = (32_768, 2_048)
"""Bytes that are compared at once, and if they differ."""


class StagedEntry(Struct, frozen=True):
    """The entry of a path in an index: its mode in octal digits, the hash of its content, and its stage: 0,
    or 1 to 3 in a conflict."""

    mode: str
    oid: str
    stage: int


Staged = Mapping[bytes, tuple[StagedEntry, ...]]
"""The entries of each path."""


class UnknownIndex(ValueError):
    """The index can't be read; the text says why."""


def changed_paths(before: bytes, after: bytes, hash_size: int) -> Staged:
    """The paths for which two index files differ, with their entries in the second, which may be none. An
    empty content is an empty index.

    Raises:
        UnknownIndex: one of them is damaged or of a kind that isn't read.
    """
    try:
        one, other = _IndexReader(before, hash_size), _IndexReader(after, hash_size)
        while one.left and other.left:
            if one.skips_what_is_same(other):
                continue
            one.take()
            other.take()
        one.take_rest()
        other.take_rest()
    except (IndexError, ValueError) as error:
        raise error if isinstance(error, UnknownIndex) else UnknownIndex("the index is damaged") from error
    paths = [path for path in {**one.found, **other.found} if one.found.get(path) != other.found.get(path)]
    return {path: tuple(other.found.get(path, ())) for path in paths}


def is_touched(path: bytes, mine: Sequence[StagedEntry], changed: Staged) -> bool:
    """Whether one of the `changed` paths is this one, staged differently, or above or below it."""
    if path in changed:
        return changed[path] != mine
    above = (path[:place] for place, byte in enumerate(path) if byte == _SLASH)
    return bool(mine) and (
        any(changed.get(each) for each in above)
        or any(entries and other.startswith(path + b"/") for other, entries in changed.items())
    )


def index_info(path: bytes, entries: Sequence[StagedEntry]) -> bytes:
    """The lines for `git update-index --index-info` that replace the entries of a path. Git itself refuses
    paths that no work tree can have. Raises UnknownIndex."""
    if not all(entry.mode in _MODES for entry in entries) or _NO_NAME.search(path):
        raise UnknownIndex("the index has invalid paths")
    if any(entry.mode == GITLINK for entry in entries) and is_among_packages(path):
        raise UnknownIndex(REPOSITORY_AMONG_PACKAGES)
    zeros = "0" * 40 if not entries else "0" * len(entries[0].oid)
    lines = (f"{entry.mode} {entry.oid} {entry.stage}\t".encode() + path + b"\0" for entry in entries)
    return f"0 {zeros}\t".encode() + path + b"\0" + b"".join(lines)


class _IndexReader:
    """Reads the entries of one index in order."""

    def __init__(self, content: bytes, hash_size: int) -> None:
        self._content = content
        self._flags = _TO_HASH + hash_size
        self._at = _HEADER
        self.left = 0
        self._names_left = _LARGEST_NAMES
        self.found: dict[bytes, list[StagedEntry]] = {}
        self._is_packed = False
        self._name = b""
        if not content:
            return
        version = int.from_bytes(content[4:8], "big")
        if content[:4] != b"DIRC" or version not in (2, 3, 4):
            raise UnknownIndex("Keen doesn't know this version of the index")
        self._is_packed = version == 4
        self.left = int.from_bytes(content[8:12], "big")
        if self.left > _MOST:
            raise UnknownIndex(f"the index has more than {_MOST:,} entries")

    def skips_what_is_same(self, other: _IndexReader) -> bool:
        """Pass over the entries that both have next in the same bytes; False if there are none."""
        if self._is_packed or other._is_packed:
            return False
        mine, theirs = (each._content[each._at : each._at + _BLOCKS[0]] for each in (self, other))
        same = next((size for size in _BLOCKS if mine[:size] == theirs[:size]), 0)
        start = at = self._at
        last = min(at + same, len(self._content))
        content, size, count = self._content, self._flags, min(self.left, other.left)
        while count:  # written out, since an index may have a million entries
            flags = at + size
            length = (content[flags] << 8 | content[flags + 1]) & _LONG_NAME
            if length == _LONG_NAME or flags + length + 12 > last:
                break
            at += (size + length + (4 if content[flags] & _HAS_MORE_FLAGS else 2)) // 8 * 8 + 8
            count -= 1
        taken = min(self.left, other.left) - count
        self.left -= taken
        other.left -= taken
        self._at = at
        other._at += at - start
        return taken > 0

    def take_rest(self) -> None:
        while self.left:
            self.take()
        if self._content:
            _require_known(self._content[self._at : -(self._flags - _TO_HASH)])

    def take(self) -> None:
        """Read the next entry."""
        content, at = self._content, self._at
        start, end = self._name_at(at), 0
        if self._is_packed:
            path, behind = self._unpacked(start)
        else:
            end = self._end_of_name(at, start)
            path, behind = content[start:end], end + 8 - (end - at) % 8
        self._names_left -= len(path)
        if behind > len(content) or not path or len(path) > _LONGEST_NAME or self._names_left < 0:
            raise UnknownIndex("the index is damaged")
        entry = StagedEntry(
            f"{int.from_bytes(content[at + _TO_MODE : at + _TO_MODE + 4], 'big'):06o}",
            content[at + _TO_HASH : at + self._flags].hex(),
            (content[at + self._flags] & _STAGE) >> 4,
        )
        if not self._is_only_intended(at + self._flags):
            self.found.setdefault(path, []).append(entry)
        self._at, self._name = behind, path
        self.left -= 1

    def _is_only_intended(self, flags: int) -> bool:
        """Whether nothing is staged: the path was only named with `git add -N`."""
        return bool(self._content[flags] & _HAS_MORE_FLAGS and self._content[flags + 2] & _IS_INTENDED)

    def _name_at(self, at: int) -> int:
        flags = at + self._flags
        if flags + 2 > len(self._content):
            raise UnknownIndex("the index is damaged")
        return flags + (4 if self._content[flags] & _HAS_MORE_FLAGS else 2)

    def _end_of_name(self, at: int, start: int) -> int:
        flags = at + self._flags
        length = (self._content[flags] << 8 | self._content[flags + 1]) & _LONG_NAME
        return start + length if length < _LONG_NAME else self._content.index(b"\0", start)

    def _unpacked(self, at: int) -> tuple[bytes, int]:
        """A name of version 4: how much of the one before isn't in it, and the rest."""
        removed = -1
        while True:
            removed += 1
            byte = self._content[at]
            removed = removed << 7 | byte & 0x7F
            at += 1
            if removed > len(self._name):
                raise UnknownIndex("the index is damaged")
            if not byte & 0x80:
                break
        end = self._content.index(b"\0", at)
        return self._name[: len(self._name) - removed] + self._content[at:end], end + 1


def _require_known(extensions: bytes) -> None:
    """Raises UnknownIndex if one of the extensions changes what the entries mean: their names are in small
    letters (a split index, a sparse one)."""
    for name in _extensions(extensions):
        if name[:1].islower():
            raise UnknownIndex("Keen can't read a split or a sparse index")


def _extensions(content: bytes) -> Iterator[bytes]:
    at = 0
    while at + 8 <= len(content):
        yield content[at : at + 4]
        at += 8 + int.from_bytes(content[at + 4 : at + 8], "big")
