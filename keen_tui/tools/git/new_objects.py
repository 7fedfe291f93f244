"""Takes new objects from a shadow into the repository, as git takes them from a server that it doesn't trust.

Keen reads the loose ones and makes a pack of them. Git then computes the name of each object from its
content, and checks that everything that it refers to is there. So no object gets a false name, and no index
of a pack is believed.
"""

from __future__ import annotations

import errno
import hashlib
import os
import re
import shutil
import stat
import tempfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Final

from keen_tui.domain.errors import WorkTreeFailed
from keen_tui.system.folders import names_in, opened_folder
from keen_tui.system.safe_read import NoFile
from keen_tui.tools.git.own_git import OwnGit

_FOLDER: Final = re.compile("[0-9a-f]{2}")
_LENGTH: Final = 38
"""Digits of the name of an object with SHA-1, behind the first two."""
_REST: Final = re.compile("[0-9a-f]{38}(?:[0-9a-f]{24})?")
_PACK: Final = re.compile(r"pack-[0-9a-f]{40}(?:[0-9a-f]{24})?\.pack")
_OF_LFS: Final = re.compile("[0-9a-f]{64}")
_HEAD: Final = re.compile(rb"(commit|tree|blob|tag) (\d{1,18})\0")
_KINDS: Final = {b"commit": 1, b"tree": 2, b"blob": 3, b"tag": 4}

_MOST_BYTES: Final = 2_000_000_000
_LARGEST: Final = 600_000_000
"""Bytes of the largest object that git writes as a file of its own, with some room."""
_MOST_OBJECTS: Final = 500_000
_TOO_LARGE: Final = "its new objects are too large"
_FEW: Final = 100
"""Up to so many objects stay loose, as when git fetches."""
_CHUNK: Final = 1_000_000
_READ: Final = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


_OF_THE_DISK: Final = (errno.ENOSPC, errno.EDQUOT, errno.EIO, errno.EROFS, errno.EMFILE, errno.ENFILE)


class DamagedObjects(Exception):
    """New objects that can't be taken; the text says why."""


class NewObjects:
    """The objects in a shadow that the repository doesn't have yet.

    Args:
        folder: the shadow's.
        common: the repository's.
        private: a folder that no command can reach, for packs.
    """

    def __init__(self, folder: Path, common: Path, private: Path, git: OwnGit) -> None:
        self._folder = folder
        self._common = common
        self._private = private
        self._git = git
        self.taken: frozenset[str] = frozenset()
        """The loose ones that came back at last."""

    def bring_back(self) -> None:
        """Take all of them into the repository, and out of the shadow. Raises DamagedObjects, and OSError if
        the disk is full or broken."""
        self.taken = frozenset()
        try:
            self._take_loose()
            for pack in self._names("objects/pack", _PACK):
                self._take_pack(pack)
            self._take_lfs()
        except OSError as error:
            if error.errno in _OF_THE_DISK:
                raise
            raise DamagedObjects(error.strerror or str(error)) from error
        except (WorkTreeFailed, ValueError, zlib.error) as error:
            raise DamagedObjects(str(error)) from error

    def _take_loose(self) -> None:
        names = [
            (folder, rest)
            for folder in self._names("objects", _FOLDER)
            for rest in self._names(f"objects/{folder}", _REST)
        ]
        if not names:
            return
        if len(names) > _MOST_OBJECTS:
            raise ValueError(f"it has more than {_MOST_OBJECTS:,} new objects")
        with tempfile.TemporaryFile(dir=self._private) as pack:
            pack.write(b"PACK" + (2).to_bytes(4, "big") + len(names).to_bytes(4, "big"))
            left = _MOST_BYTES
            for folder, rest in names:
                with self._opened(f"objects/{folder}", rest) as file:
                    left -= _add(_zlib_content(file, min(left, _LARGEST)), pack)
            self._end(pack, names[0][1])
            self._take(pack, few=len(names) <= _FEW)
        self.taken = frozenset(map("".join, names))
        for folder, rest in names:
            self._remove(f"objects/{folder}", rest)
        with opened_folder(self._folder / "objects") as objects:
            for folder in {folder for folder, _ in names}:
                with suppress(OSError):  # a running command has just written there
                    os.rmdir(folder, dir_fd=objects)

    def _end(self, pack: IO[bytes], name: str) -> None:
        """Append the checksum of a pack; `name` is that of an object, without its first two digits."""
        digest = hashlib.sha1(usedforsecurity=False) if len(name) == _LENGTH else hashlib.sha256()
        pack.seek(0)
        while chunk := pack.read(_CHUNK):
            digest.update(chunk)
        pack.write(digest.digest())

    def _take(self, pack: IO[bytes], *, few: bool) -> None:
        pack.flush()
        pack.seek(0)
        words = ("unpack-objects", "-q", "--strict") if few else ("index-pack", "--stdin", "--strict")
        self._git.output(self._common, f"--git-dir={self._common}", *words, given=pack)

    def _take_pack(self, name: str) -> None:
        with tempfile.TemporaryFile(dir=self._private) as copy, self._opened("objects/pack", name) as file:
            _copy(file, copy, _MOST_BYTES)
            self._take(copy, few=False)
        for ending in ("pack", "idx", "rev", "bitmap"):
            self._remove("objects/pack", f"{name.removesuffix('pack')}{ending}")

    def _take_lfs(self) -> None:
        """The files of Git LFS, whose names are the hashes of their contents."""
        top, left = "lfs/objects", _MOST_BYTES
        for one in self._names(top, _FOLDER):
            for other in self._names(f"{top}/{one}", _FOLDER):
                for name in self._names(f"{top}/{one}/{other}", _OF_LFS):
                    place = self._common / top / one / other / name
                    with (
                        self._opened(f"{top}/{one}/{other}", name) as file,
                        tempfile.NamedTemporaryFile(dir=self._private) as copy,
                    ):
                        left -= os.fstat(file.fileno()).st_size
                        if not place.exists() and _copy(file, copy, left).hexdigest() == name:
                            copy.flush()
                            place.parent.mkdir(parents=True, exist_ok=True)
                            shutil.copyfile(copy.name, place.with_name(f"{name}.keen"))
                            place.with_name(f"{name}.keen").replace(place)
                    self._remove(f"{top}/{one}/{other}", name)

    def _names(self, folder: str, pattern: re.Pattern[str]) -> list[str]:
        with suppress(FileNotFoundError), opened_folder(self._folder / folder) as inner:
            return list(filter(pattern.fullmatch, names_in(inner)))
        return []

    @contextmanager
    def _opened(self, folder: str, name: str) -> Iterator[IO[bytes]]:
        """A regular file of the shadow. Raises OSError if it is anything else."""
        with (
            opened_folder(self._folder / folder) as inner,
            os.fdopen(os.open(name, _READ, dir_fd=inner), "rb") as file,
        ):
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                raise NoFile(errno.EINVAL, f"{name} isn't a regular file")
            yield file

    def _remove(self, folder: str, name: str) -> None:
        with suppress(FileNotFoundError), opened_folder(self._folder / folder) as inner:
            os.unlink(name, dir_fd=inner)


def _zlib_content(file: IO[bytes], most: int) -> bytes:
    """Returns the content of a loose object. Raises ValueError if that is larger than `most`, and
    zlib.error."""
    reader = zlib.decompressobj()
    content = bytearray()
    while not reader.eof and (chunk := file.read(_CHUNK)):
        content += reader.decompress(chunk, most + 1 - len(content))
        if len(content) > most:
            raise ValueError(_TOO_LARGE)
    return bytes(content)


def _add(content: bytes, pack: IO[bytes]) -> int:
    """Add a loose object to a pack; returns its size in bytes. Raises ValueError if it isn't one."""
    head = _HEAD.match(content)
    if not head or int(head[2]) != len(content) - head.end():
        raise ValueError("a new object is damaged")
    size = int(head[2])
    first = _KINDS[head[1]] << 4 | size & 15
    size >>= 4
    while size:
        pack.write(bytes((first | 0x80,)))
        first, size = size & 0x7F, size >> 7
    pack.write(bytes((first,)))
    pack.write(zlib.compress(content[head.end() :], 1))
    return len(content)


def _copy(file: IO[bytes], copy: IO[bytes], left: int) -> hashlib._Hash:
    """Copy a file; returns the SHA-256 of its content. Raises ValueError if that has over `left` bytes."""
    digest = hashlib.sha256()
    while chunk := file.read(_CHUNK):
        left -= len(chunk)
        if left < 0:
            raise ValueError(_TOO_LARGE)
        digest.update(chunk)
        copy.write(chunk)
    return digest
