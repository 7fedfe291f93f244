"""Replacing whole files: the old content or the new one, never half, and what belongs to the file kept."""

from __future__ import annotations

import errno
import os
import secrets
import stat
from contextlib import suppress
from pathlib import Path

from keen_tui.system.folders import opened_folder

TEMPORARY = ".keen-"
"""What the names of temporary files begin with; a kill leaves one behind."""

_ANY_WRITE = stat.S_IWUSR | stat.S_IWGRP | stat.S_IWOTH


class ReadOnly(PermissionError):
    """The file may not be written. It is as it was."""


class HalfWritten(OSError):
    """The file was written in part only and could not be put back."""


def put_file(
    path: Path, after: bytes, now: bytes | None, *, mode: int | None = None, flush: bool = True
) -> None:
    """Put `after` in the place of `now`, what the file holds at this moment (None: no file; missing
    folders are made). `path` has its symlinks resolved; a new file gets `mode`, or what the umask leaves.
    Without `flush` a new file may be lost in a power cut.

    Raises:
        OSError: it can't be written; it is as it was, unless it is HalfWritten.
    """
    with opened_folder(path.parent, make=now is None) as folder:
        if now is None:
            _write_beside(folder, path.name, after, mode=mode, flush=flush)
        else:
            _write_over(path, folder, now, after)


def remove_file(path: Path) -> None:
    """Remove a file, or the link that took its place. Raises OSError."""
    with opened_folder(path.parent) as folder:
        os.unlink(path.name, dir_fd=folder)
        _sync(folder)


def _write_over(path: Path, folder: int, now: bytes, after: bytes) -> None:
    status = os.stat(path.name, dir_fd=folder, follow_symlinks=False)
    if not status.st_mode & _ANY_WRITE or not os.access(path, os.W_OK):
        raise ReadOnly(errno.EACCES, "read-only")
    if status.st_nlink > 1:
        _write_into(path.name, folder, now, after)
    else:
        _write_beside(folder, path.name, after, like=status)


def _write_beside(
    folder: int,
    name: str,
    content: bytes,
    *,
    like: os.stat_result | None = None,
    mode: int | None = None,
    flush: bool = True,
) -> None:
    """Write a temporary file beside the old one, then rename it over: readers see the one or the other."""
    temporary = f"{TEMPORARY}{secrets.token_hex(8)}"
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
    anyone = like is None and mode is None
    descriptor = os.open(temporary, flags, 0o666 if anyone else 0o600, dir_fd=folder)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
            if like is not None:
                _take_over(folder, name, file.fileno(), like)
            elif mode is not None:
                os.fchmod(file.fileno(), mode)
            file.flush()
            if flush:
                os.fsync(file.fileno())
        os.replace(temporary, name, src_dir_fd=folder, dst_dir_fd=folder)
    except BaseException:
        with suppress(OSError):
            os.unlink(temporary, dir_fd=folder)
        raise
    if flush:
        _sync(folder)


def _take_over(folder: int, name: str, descriptor: int, like: os.stat_result) -> None:
    """Owner, extended attributes and mode bits of the file that is replaced, as far as one may."""
    with suppress(OSError):
        os.fchown(descriptor, like.st_uid, like.st_gid)
    if hasattr(os, "listxattr"):
        old = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=folder)
        try:
            for attribute in os.listxattr(old):
                with suppress(OSError):
                    os.setxattr(descriptor, attribute, os.getxattr(old, attribute))
        except OSError:
            pass  # a file system without extended attributes
        finally:
            os.close(old)
    os.fchmod(descriptor, stat.S_IMODE(like.st_mode))


def _write_into(name: str, folder: int, now: bytes, after: bytes) -> None:
    """Write into the file itself, so that its other hard links see it too; put it back when that fails."""
    flags = os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC
    descriptor = os.open(name, flags, dir_fd=folder)
    try:
        _overwrite(descriptor, after)
    except OSError as error:
        try:
            _overwrite(descriptor, now)
        except OSError:
            raise HalfWritten(error.errno, error.strerror) from error
        raise
    finally:
        os.close(descriptor)


def _overwrite(descriptor: int, content: bytes) -> None:
    view, written = memoryview(content), 0
    while written < len(content):
        written += os.pwrite(descriptor, view[written:], written)
    os.ftruncate(descriptor, len(content))
    os.fsync(descriptor)


def _sync(folder: int) -> None:
    """Make the rename last; a folder that can't be synced is no reason to call the write failed."""
    with suppress(OSError):
        readable = os.open(".", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC, dir_fd=folder)
        try:
            os.fsync(readable)
        finally:
            os.close(readable)
