"""Replacing whole files: the old content or the new one, never half, and what belongs to the file kept."""

from __future__ import annotations

import asyncio
import os
import secrets
import stat
from collections.abc import Callable
from contextlib import suppress
from typing import TypeVar

from keen_tui.errors import ToolFailure
from keen_tui.tools.files import read_if_there, reason
from keen_tui.tools.folders import opened_folder
from keen_tui.tools.known import digest
from keen_tui.tools.workspace import Place

Result = TypeVar("Result")

_ANY_WRITE = stat.S_IWUSR | stat.S_IWGRP | stat.S_IWOTH


async def replace_file(place: Place, before: bytes | None, after: bytes) -> None:
    """Put `after` in the place of `before` (None: a new file; missing folders are made).

    Once it has begun it finishes, even when the task is cancelled: the caller then gets to report it.

    Raises:
        ToolFailure: the file is no longer as it was when it was looked at, or it can't be written.
    """
    await _finished(lambda: _replace(place, before, after))


async def _finished(work: Callable[[], Result]) -> Result:
    """The result of `work` in a thread, whatever is cancelled meanwhile."""
    running = asyncio.ensure_future(asyncio.to_thread(work))
    while not running.done():
        with suppress(asyncio.CancelledError):
            await asyncio.wait({running})
    return running.result()


def _replace(place: Place, before: bytes | None, after: bytes) -> None:
    now = read_if_there(place)
    if digest(now) != digest(before):
        raise ToolFailure(f"{place.name} was changed on disk meanwhile. Read it again, then make the change.")
    try:
        with opened_folder(place.path.parent, make=now is None) as folder:
            if now is None:
                _write_beside(folder, place.path.name, after, None)
            else:
                _write_over(place, folder, now, after)
    except OSError as error:
        raise ToolFailure(f"{place.name} can't be written: {reason(error)}. It is as it was.") from error


def _write_over(place: Place, folder: int, now: bytes, after: bytes) -> None:
    name = place.path.name
    status = os.stat(name, dir_fd=folder, follow_symlinks=False)
    if not status.st_mode & _ANY_WRITE or not os.access(place.path, os.W_OK):
        raise ToolFailure(f"{place.name} is read-only. It is as it was.")
    if status.st_nlink > 1:
        _write_into(place, folder, now, after)
    else:
        _write_beside(folder, name, after, status)


def _write_beside(folder: int, name: str, content: bytes, like: os.stat_result | None) -> None:
    """Write a temporary file beside the old one, then rename it over: readers see the one or the other."""
    temporary = f".keen-{secrets.token_hex(8)}"
    mode = 0o666 if like is None else 0o600
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
    descriptor = os.open(temporary, flags, mode, dir_fd=folder)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
            if like is not None:
                _take_over(folder, name, file.fileno(), like)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, name, src_dir_fd=folder, dst_dir_fd=folder)
    except BaseException:
        with suppress(OSError):
            os.unlink(temporary, dir_fd=folder)
        raise
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


def _write_into(place: Place, folder: int, now: bytes, after: bytes) -> None:
    """Write into the file itself, so that its other hard links see it too; put it back when that fails."""
    flags = os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC
    descriptor = os.open(place.path.name, flags, dir_fd=folder)
    try:
        _overwrite(descriptor, after)
    except OSError as error:
        try:
            _overwrite(descriptor, now)
        except OSError:
            raise ToolFailure(
                f"{place.name} could be written in part only ({reason(error)}) and not be put back."
            ) from error
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
