"""The work of a broker in place of the kernel: it opens, makes, moves and removes files for a command.

Each function reads the arguments once, makes sure that the command still waits, acts in a place that the
broker has reached itself, and returns the result of the call. NotOurs leaves the call to the kernel, which
enforces the command's grants. An OSError becomes the error of the call.
"""

from __future__ import annotations

import errno
import fcntl
import os
import stat
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from typing import Final, Protocol

from msgspec import Struct

from keen_tui.tools.sandbox.broker.file_calls import AT_REMOVEDIR
from keen_tui.tools.sandbox.broker.kernel import call, checked
from keen_tui.tools.sandbox.broker.workspace_paths import Elsewhere, FolderEntry, Ground, NotOurs, identity

_RENAME_NOREPLACE, _RENAME_EXCHANGE = 1, 2

_OPENING: Final = (
    os.O_ACCMODE | os.O_CREAT | os.O_EXCL | os.O_TRUNC | os.O_APPEND | os.O_SYNC | os.O_DSYNC | os.O_DIRECT
    | os.O_NOATIME | os.O_LARGEFILE | os.O_DIRECTORY
)  # fmt: skip
"""Flags that are passed on. O_NONBLOCK is always set, and cleared afterwards."""

_ALWAYS: Final = os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC


_MODES_OF_FOLDERS: Final = 0o1777
_PRIVATE: Final = 0o600
"""The mode for a file that existed, if it is removed just before it is opened."""
_LONGEST: Final = (1 << 63) - 1


class Opened(Struct, frozen=True):
    """A descriptor to hand over."""

    descriptor: int
    close_on_exec: bool


class SystemCall(Protocol):
    """A call of a command, in its newest form."""

    ground: Ground
    renameat2: int
    """The number of the system call on this machine."""

    def number(self, place: int) -> int:
        """An argument that is a number of 32 bits."""
        ...

    def size(self, place: int) -> int:
        """An argument that is a number of 64 bits."""
        ...

    def text(self, place: int) -> str:
        """The text that an argument points to. Raises NotOurs if there is none."""
        ...

    def path(self, folder: int | None, place: int) -> str:
        """The text of an argument as an absolute path, from the folder that another argument names, or the
        current one. Raises NotOurs if there is no text."""
        ...

    def unmasked(self, mode: int) -> int:
        """The mode to give here, so that a file gets the mode that it would get from the command."""
        ...

    def make_sure(self) -> None:
        """Raises NotOurs if the command doesn't wait any more: then nothing must be done."""
        ...


def _open(asked: SystemCall) -> Opened:
    flags, path = asked.number(2), asked.path(0, 1)
    if flags & os.O_TMPFILE == os.O_TMPFILE:
        with asked.ground.place(f"{path}/unnamed"):
            raise OSError(errno.EOPNOTSUPP, os.strerror(errno.EOPNOTSUPP))
    if flags & os.O_PATH or _names_folder(path):
        raise NotOurs
    is_new = flags & os.O_CREAT and flags & os.O_EXCL
    with asked.ground.place(path, follow=not (flags & os.O_NOFOLLOW or is_new)) as place:
        if place.found and not _can_be_opened(place.found, flags):
            raise NotOurs
        is_made = flags & os.O_CREAT and not place.found
        mode = asked.unmasked(asked.number(3)) if is_made else _PRIVATE
        asked.make_sure()
        descriptor = os.open(place.name, flags & _OPENING | _ALWAYS, mode, dir_fd=place.folder)
    if not flags & os.O_NONBLOCK:
        fcntl.fcntl(descriptor, fcntl.F_SETFL, flags & _OPENING)
    return Opened(descriptor, bool(flags & os.O_CLOEXEC))


def _can_be_opened(found: os.stat_result, flags: int) -> bool:
    """Whether the entry may be opened: files, and folders for reading. Opening anything else could block."""
    is_written = flags & (os.O_ACCMODE | os.O_CREAT | os.O_TRUNC)
    return stat.S_ISREG(found.st_mode) or (stat.S_ISDIR(found.st_mode) and not is_written)


def _make_folder(asked: SystemCall) -> int:
    path = _without_slashes(asked.path(0, 1))
    with asked.ground.place(path) as place:
        mode = asked.unmasked(asked.number(2) & _MODES_OF_FOLDERS)
        asked.make_sure()
        os.mkdir(place.name, mode, dir_fd=place.folder)
    return 0


def _make_file(asked: SystemCall) -> int:
    """Make an ordinary file. A pipe would have to be opened by the kernel."""
    path, mode = asked.path(0, 1), asked.number(2)
    if stat.S_IFMT(mode) not in (0, stat.S_IFREG) or _names_folder(path):
        raise NotOurs
    with asked.ground.place(path) as place:
        mode = stat.S_IFREG | asked.unmasked(stat.S_IMODE(mode))
        asked.make_sure()
        os.mknod(place.name, mode, dir_fd=place.folder)
    return 0


def _remove(asked: SystemCall) -> int:
    path, flags = asked.path(0, 1), asked.number(2)
    is_folder = flags == AT_REMOVEDIR
    if flags not in (0, AT_REMOVEDIR):
        raise NotOurs
    with asked.ground.place(_without_slashes(path) if is_folder else path) as place:
        if _names_folder(path) and not is_folder:
            raise NotOurs
        found = place.found
        asked.make_sure()
        remove = os.rmdir if is_folder else os.unlink
        remove(place.name, dir_fd=place.folder)
        asked.ground.forget(found)
    return 0


def _rename(asked: SystemCall) -> int:
    flags = asked.number(4)
    if flags not in (0, _RENAME_NOREPLACE, _RENAME_EXCHANGE):
        raise NotOurs
    given = asked.path(0, 1), asked.path(2, 3)
    with _Pair(asked, given) as (source, target):
        found, gone = source.found, target.found
        if any(map(_names_folder, given)) and not (found and stat.S_ISDIR(found.st_mode)):
            raise NotOurs
        asked.make_sure()
        names = os.fsencode(source.name), os.fsencode(target.name)
        checked(call(asked.renameat2, source.folder, names[0], target.folder, names[1], flags))
        if not flags & _RENAME_EXCHANGE and found and gone and identity(found) != identity(gone):
            asked.ground.forget(gone)
    return 0


def _link(asked: SystemCall) -> int:
    given = asked.path(0, 1), asked.path(2, 3)
    if asked.number(4) or any(map(_names_folder, given)):
        raise NotOurs
    with _Pair(asked, given) as (source, target):
        if not source.found:
            raise NotOurs
        asked.make_sure()
        os.link(
            source.name,
            target.name,
            src_dir_fd=source.folder,
            dst_dir_fd=target.folder,
            follow_symlinks=False,
        )
    return 0


def _make_link(asked: SystemCall) -> int:
    target, path = asked.text(0), asked.path(1, 2)
    if _names_folder(path):
        raise NotOurs
    with asked.ground.place(path) as place:
        asked.make_sure()
        os.symlink(target, place.name, dir_fd=place.folder)
    return 0


def _truncate(asked: SystemCall) -> int:
    path, size = asked.path(None, 0), asked.size(1)
    if _names_folder(path) or size > _LONGEST:
        raise NotOurs
    with asked.ground.place(path, follow=True) as place:
        if not place.found or not stat.S_ISREG(place.found.st_mode):
            raise NotOurs
        asked.make_sure()
        descriptor = os.open(place.name, os.O_WRONLY | _ALWAYS, dir_fd=place.folder)
    try:
        os.ftruncate(descriptor, size)
    finally:
        os.close(descriptor)
    return 0


DEEDS: Final[Mapping[str, Callable[[SystemCall], int | Opened]]] = {
    "openat": _open,
    "mkdirat": _make_folder,
    "mknodat": _make_file,
    "unlinkat": _remove,
    "renameat2": _rename,
    "linkat": _link,
    "symlinkat": _make_link,
    "truncate": _truncate,
}
"""The function for each call."""


class _Pair:
    """Two places, at least one of which needs the broker."""

    def __init__(self, asked: SystemCall, paths: tuple[str, str]) -> None:
        self._ground = asked.ground
        self._paths = tuple(map(_without_slashes, paths))
        self._places = ExitStack()

    def __enter__(self) -> tuple[FolderEntry, FolderEntry]:
        """Raises OSError (EXDEV) if one of the paths leads out of the workspace: programs then copy."""
        places = []
        outside = False
        with ExitStack() as entered:
            for path in self._paths:
                try:
                    places.append(entered.enter_context(self._ground.place(path, through_granted=True)))
                except Elsewhere:
                    outside = True
            if all(place.granted for place in places):
                raise NotOurs
            if outside:
                raise OSError(errno.EXDEV, os.strerror(errno.EXDEV))
            self._places = entered.pop_all()
        return places[0], places[1]

    def __exit__(self, *_: object) -> None:
        self._places.close()


def _names_folder(path: str) -> bool:
    """Whether the end of the path allows only a folder."""
    return path.endswith(("/", "/.", "/.."))


def _without_slashes(path: str) -> str:
    """The path without slashes at its end. Raises NotOurs if its last part isn't a name."""
    path = path.rstrip("/")
    if path.endswith(("/.", "/..")):
        raise NotOurs
    return path
