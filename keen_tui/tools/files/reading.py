"""Reads whole files: only regular ones, and never with a wrong encoding."""

from __future__ import annotations

import errno
import os
import stat

from keen_tui.domain.errors import ToolFailure
from keen_tui.system.folders import opened_folder
from keen_tui.tools.files.workspace import ResolvedPath

LARGEST_FILE = 20_000_000
"""Bytes of the largest file that is read as a whole."""

BOM = b"\xef\xbb\xbf"

_KINDS = (
    (stat.S_ISREG, "file"),
    (stat.S_ISDIR, "folder"),
    (stat.S_ISFIFO, "named pipe"),
    (stat.S_ISSOCK, "socket"),
    (stat.S_ISCHR, "device"),
    (stat.S_ISBLK, "device"),
    (stat.S_ISLNK, "circular symlink, or one that has just changed"),
)
_READ = os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC


def read_if_there(place: ResolvedPath) -> bytes | None:
    """The content of a regular file, or None if there is none. Checks the file type first, so nothing blocks.

    Raises:
        ToolFailure: not readable, not a regular file, or larger than LARGEST_FILE.
    """
    name = place.path.name or "."
    try:
        with opened_folder(place.path.parent) as folder:
            require_regular(place, os.stat(name, dir_fd=folder, follow_symlinks=False))
            with os.fdopen(os.open(name, _READ, dir_fd=folder), "rb") as file:
                require_regular(place, os.fstat(file.fileno()))
                content = file.read(LARGEST_FILE + 1) or b""
    except FileNotFoundError:
        return None
    except OSError as error:
        raise ToolFailure(f"{place.name} can't be read: {reason(error)}.") from error
    if len(content) > LARGEST_FILE:
        raise ToolFailure(f"{place.name} gives more than {LARGEST_FILE:,} bytes.")
    return content


def kind_of(place: ResolvedPath) -> str | None:
    """The type of the entry: "file", "folder", "named pipe", ...; None if nothing is there.

    Raises:
        ToolFailure: the entry can't be examined.
    """
    try:
        return _kind(place.path.lstat())
    except FileNotFoundError:
        return None
    except OSError as error:
        raise ToolFailure(f"{place.name} can't be accessed: {reason(error)}.") from error


def _kind(status: os.stat_result) -> str:
    return next((kind for matches, kind in _KINDS if matches(status.st_mode)), "special file")


def require_regular(place: ResolvedPath, status: os.stat_result) -> None:
    """Refuse anything but a regular file of at most LARGEST_FILE bytes.

    Raises:
        ToolFailure: it is something else; the message names the type or the size.
    """
    kind = _kind(status)
    if kind != "file":
        hint = " List it with glob_files." if kind == "folder" else ""
        raise ToolFailure(f"{place.name} is a {kind}, not a file.{hint}")
    if status.st_size > LARGEST_FILE:
        raise ToolFailure(
            f"{place.name} has {status.st_size:,} bytes, more than the {LARGEST_FILE:,} that Keen reads. "
            "Search it with grep_files, or read a part with bash (head, tail, sed -n)."
        )


def decode(place: ResolvedPath, content: bytes) -> tuple[str, bool]:
    """The text of a UTF-8 file with unchanged line endings, and whether it began with a BOM.

    Raises:
        ToolFailure: the file is binary, or text in another encoding. Such a file isn't re-encoded.
    """
    has_bom = content.startswith(BOM)
    try:
        text = content.removeprefix(BOM).decode("utf-8")
    except UnicodeDecodeError as error:
        raise ToolFailure(
            f"{place.name} isn't UTF-8 text (byte {error.start} can't be decoded), so it is left alone. "
            "Change it with a command that knows its encoding."
        ) from error
    if "\0" in text:
        raise ToolFailure(f"{place.name} is a binary file, so it is left alone.")
    return text, has_bom


def encode(text: str, *, bom: bool) -> bytes:
    """The bytes of a text file; `text` has no lone surrogates."""
    return (BOM if bom else b"") + text.encode("utf-8")


def reason(error: OSError) -> str:
    """Why the system refused, in words."""
    if error.errno in (errno.ENOTDIR, errno.ELOOP):
        return "part of its path isn't a folder, or is a circular symlink"
    return error.strerror or type(error).__name__
