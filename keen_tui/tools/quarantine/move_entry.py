"""Moves a file or a folder with its content, on one disk or to another, never through a link."""

from __future__ import annotations

import errno
import os
import shutil
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from keen_tui.system.folders import change_mode, opened_folder

_DEEPEST: Final = 200
"""The most levels of folders that are copied from one disk to another."""
_PIECE: Final = 1 << 20
_READ: Final = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_FOLDER: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


def move(path: Path, to: Path) -> None:
    """Move the entry at `path`; a link is moved itself. The parent folders of both paths have no links, and
    that of `to` is created if it is missing.

    Raises:
        OSError: it can't be moved, and stays where it was; FileExistsError: `to` exists.
    """
    with opened_folder(path.parent) as here, opened_folder(to.parent, make=True) as there:
        _require_nothing(to.name, there)
        try:
            os.rename(path.name, to.name, src_dir_fd=here, dst_dir_fd=there)
        except PermissionError:  # the owner removed the write permission
            with _writable(here), _writable_entry(path.name, here):
                os.rename(path.name, to.name, src_dir_fd=here, dst_dir_fd=there)
        except OSError as error:
            if error.errno != errno.EXDEV:
                raise
            _move_between_disks(path.name, here, to.name, there)


def _require_nothing(name: str, folder: int) -> None:
    with suppress(FileNotFoundError):
        os.stat(name, dir_fd=folder, follow_symlinks=False)
        raise FileExistsError(errno.EEXIST, "something else is there now")


@contextmanager
def _writable(folder: int) -> Iterator[None]:
    mode = stat.S_IMODE(os.fstat(folder).st_mode)
    change_mode(folder, mode | stat.S_IRWXU)
    try:
        yield
    finally:
        change_mode(folder, mode)


@contextmanager
def _writable_entry(name: str, folder: int) -> Iterator[None]:
    """Make a folder writable for the time of the move, which requires that."""
    if not stat.S_ISDIR(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode):
        yield
        return
    flags = getattr(os, "O_PATH", os.O_RDONLY) | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
    entry = os.open(name, flags, dir_fd=folder)
    try:
        with _writable(entry):
            yield
    finally:
        os.close(entry)


def _move_between_disks(name: str, here: int, to_name: str, there: int) -> None:
    try:
        _copy(name, here, to_name, there, _DEEPEST)
    except BaseException:
        with suppress(OSError):
            _remove(to_name, there)
        raise
    try:
        _remove(name, here)
    except PermissionError:
        with _writable(here), _writable_entry(name, here):
            _remove(name, here)


def _copy(name: str, here: int, to_name: str, there: int, levels: int) -> None:
    mode = os.stat(name, dir_fd=here, follow_symlinks=False).st_mode
    if stat.S_ISLNK(mode):
        os.symlink(os.readlink(name, dir_fd=here), to_name, dir_fd=there)
    elif stat.S_ISREG(mode):
        _copy_file(name, here, to_name, there)
    elif not stat.S_ISDIR(mode):
        raise OSError(errno.EINVAL, "it is neither a file nor a folder")
    elif not levels:
        raise OSError(errno.ENAMETOOLONG, "its folders are too deep to be copied")
    else:
        _copy_folder(name, here, to_name, there, levels)


def _copy_file(name: str, here: int, to_name: str, there: int) -> None:
    source = os.open(name, _READ, dir_fd=here)
    try:
        status = os.fstat(source)
        if not stat.S_ISREG(status.st_mode):
            raise OSError(errno.EINVAL, "it isn't a file any more")
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        with os.fdopen(os.open(to_name, flags, 0o600, dir_fd=there), "wb") as copy:
            while piece := os.read(source, _PIECE):
                copy.write(piece)
            os.fchmod(copy.fileno(), stat.S_IMODE(status.st_mode))
            copy.flush()
            os.fsync(copy.fileno())
    finally:
        os.close(source)


def _copy_folder(name: str, here: int, to_name: str, there: int, levels: int) -> None:
    source = os.open(name, _FOLDER, dir_fd=here)
    try:
        os.mkdir(to_name, 0o700, dir_fd=there)
        copy = os.open(to_name, _FOLDER, dir_fd=there)
        try:
            for entry in os.listdir(source):  # noqa: PTH208 - of a descriptor
                _copy(entry, source, entry, copy, levels - 1)
            os.fchmod(copy, stat.S_IMODE(os.fstat(source).st_mode))
        finally:
            os.close(copy)
    finally:
        os.close(source)


def _remove(name: str, folder: int) -> None:
    if stat.S_ISDIR(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode):
        shutil.rmtree(name, dir_fd=folder)
    else:
        os.unlink(name, dir_fd=folder)
