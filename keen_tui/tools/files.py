"""Reading and replacing whole files: only regular ones, only as what they are, never half."""

from __future__ import annotations

import asyncio
import hashlib
import os
import secrets
import stat
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

from keen_tui.errors import ToolFailure
from keen_tui.tools.workspace import Place

LARGEST_FILE = 20_000_000
"""Bytes of the largest file that is read as a whole."""

_KINDS = (
    (stat.S_ISDIR, "a folder"),
    (stat.S_ISFIFO, "a named pipe"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
)
_BOM = b"\xef\xbb\xbf"

Result = TypeVar("Result")


def read_bytes(place: Place) -> bytes:
    """The content of a regular file. Looks at its kind first, so that nothing can block.

    Raises:
        ToolFailure: not there, not readable, not a regular file, or larger than LARGEST_FILE.
    """
    try:
        with os.fdopen(os.open(place.path, os.O_RDONLY | os.O_NONBLOCK), "rb") as file:
            require_regular(place, os.fstat(file.fileno()))
            return file.read(LARGEST_FILE + 1)[:LARGEST_FILE]
    except FileNotFoundError:
        raise ToolFailure(f"{place.name} does not exist.") from None
    except OSError as error:
        raise ToolFailure(f"{place.name} can't be read: {error.strerror}.") from error


def require_regular(place: Place, status: os.stat_result) -> None:
    """Refuse what is no regular file, or too large.

    Raises:
        ToolFailure: it is one of those; the kind or the size is named.
    """
    for matches, kind in _KINDS:
        if matches(status.st_mode):
            hint = " List it with glob_files." if matches is stat.S_ISDIR else ""
            raise ToolFailure(f"{place.name} is {kind}, not a file.{hint}")
    if status.st_size > LARGEST_FILE:
        raise ToolFailure(
            f"{place.name} has {status.st_size:,} bytes, more than the {LARGEST_FILE:,} that are read. "
            "Search it with grep_files, or look at a part with bash (head, tail, sed -n)."
        )


def read_if_there(place: Place) -> bytes | None:
    """The content of a regular file, or None when there is nothing at that path.

    Raises:
        ToolFailure: as `read_bytes`, except for a missing file.
    """
    try:
        place.path.lstat()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise ToolFailure(f"{place.name} can't be used: {error.strerror}.") from error
    return read_bytes(place)


def decode(place: Place, content: bytes) -> tuple[str, bool]:
    """The text of a UTF-8 file, with its line endings as they are, and whether it began with a BOM.

    Raises:
        ToolFailure: it is binary, or text in another encoding; it is left alone rather than re-encoded.
    """
    has_bom = content.startswith(_BOM)
    try:
        text = content.removeprefix(_BOM).decode("utf-8")
    except UnicodeDecodeError as error:
        raise ToolFailure(
            f"{place.name} is no UTF-8 text (byte {error.start} can't be decoded), so it is left alone."
        ) from error
    if "\0" in text:
        raise ToolFailure(f"{place.name} is a binary file, so it is left alone.")
    return text, has_bom


def encode(text: str, *, bom: bool) -> bytes:
    """The bytes of a text file.

    Raises:
        ToolFailure: the text holds half a character that UTF-8 can't carry.
    """
    try:
        return (_BOM if bom else b"") + text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise ToolFailure(
            "The text holds a lone surrogate, which no file can hold. Write it again."
        ) from error


async def replace_file(place: Place, before: bytes | None, after: bytes) -> None:
    """Put `after` in the place of `before` (None: a new file), whole or not at all.

    Once it has begun it finishes, even when the task is cancelled: the caller then gets to report it.

    Raises:
        ToolFailure: the file is no longer as it was when it was looked at, or it can't be written.
    """
    await _finished(lambda: _replace(place, before, after))


async def _finished(work: Callable[[], Result]) -> Result:
    running = asyncio.ensure_future(asyncio.to_thread(work))
    try:
        return await asyncio.shield(running)
    except asyncio.CancelledError:
        return await running


def _replace(place: Place, before: bytes | None, after: bytes) -> None:
    now = read_if_there(place)
    if _digest(now) != _digest(before):
        raise ToolFailure(f"{place.name} was changed on disk meanwhile. Read it again, then make the change.")
    try:
        if now is None:
            place.path.parent.mkdir(parents=True, exist_ok=True)
            _write_beside(place.path, after, None)
        else:
            status = place.path.stat()
            if not os.access(place.path, os.W_OK):
                raise ToolFailure(f"{place.name} is read-only.")
            if status.st_nlink > 1:
                _write_into(place.path, now, after)
            else:
                _write_beside(place.path, after, status)
    except OSError as error:
        raise ToolFailure(f"{place.name} can't be written: {error.strerror}. It is as it was.") from error


def _digest(content: bytes | None) -> bytes | None:
    return None if content is None else hashlib.sha256(content).digest()


def _write_beside(path: Path, content: bytes, like: os.stat_result | None) -> None:
    """Write a temporary file beside `path`, then rename it over: readers see the old file or the new one."""
    temporary = path.with_name(f".{path.name[:100]}.{secrets.token_hex(4)}.keen")
    try:
        with os.fdopen(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666), "wb") as file:
            file.write(content)
            if like is not None:
                _take_over(path, file.fileno(), like)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except BaseException:
        with suppress(OSError):
            temporary.unlink()
        raise
    _sync_folder(path.parent)


def _take_over(path: Path, descriptor: int, like: os.stat_result) -> None:
    """Owner, extended attributes and mode bits of the file that is replaced."""
    with suppress(OSError):
        os.fchown(descriptor, like.st_uid, like.st_gid)
    if hasattr(os, "listxattr"):
        with suppress(OSError):
            for name in os.listxattr(path):
                os.setxattr(descriptor, name, os.getxattr(path, name))
    os.fchmod(descriptor, stat.S_IMODE(like.st_mode))


def _write_into(path: Path, before: bytes, after: bytes) -> None:
    """Write into the file itself, so that its other hard links see it too; put it back when that fails."""
    with path.open("r+b") as file:
        try:
            _overwrite(file.fileno(), after)
        except OSError:
            with suppress(OSError):
                _overwrite(file.fileno(), before)
            raise


def _overwrite(descriptor: int, content: bytes) -> None:
    written = 0
    while written < len(content):
        written += os.pwrite(descriptor, content[written:], written)
    os.ftruncate(descriptor, len(content))
    os.fsync(descriptor)


def _sync_folder(folder: Path) -> None:
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
