"""The places of session files. They are readable by the user only, and never opened through a link."""

from __future__ import annotations

import errno
import os
import re
import secrets
import stat
from pathlib import Path

from keen_tui.domain.errors import StorageFailed

PRIVATE_FILE = 0o600

_SESSION_ID = re.compile(r"[A-Za-z0-9_-]{1,64}")


def new_session_id(now: str) -> str:
    """An id that sorts by time and is unique within its second; `now` is UTC as 20260131-235959."""
    return f"{now}-{secrets.token_hex(3)}"


def is_session_id(text: str) -> bool:
    """Whether the text can be the id of a session, and so a part of a file name."""
    return bool(_SESSION_ID.fullmatch(text))


def beginning_file(path: Path) -> Path:
    """The file of a new session until its header and first events are on the disk."""
    return path.with_suffix(".beginning")


def private_opener(path: str, flags: int) -> int:
    """For `open(..., opener=...)`: new files are 0600, links aren't followed, and only plain files are
    opened. Never blocks. Raises OSError."""
    descriptor = os.open(path, flags | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, PRIVATE_FILE)
    if stat.S_ISREG(os.fstat(descriptor).st_mode):
        return descriptor
    os.close(descriptor)
    raise OSError(errno.EINVAL, "It isn't a regular file", path)


def sync_folder(folder: Path) -> None:
    """Flush the names in the folder to the disk. Raises OSError."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def is_regular(path: Path) -> bool:
    """Whether the path is a plain file: no link, no folder, nothing that could block a reader."""
    try:
        return stat.S_ISREG(path.lstat().st_mode)
    except OSError:
        return False


def require_regular(path: Path) -> None:
    """Raises StorageFailed if the path is something other than a plain file."""
    if not is_regular(path):
        what = "isn't a regular file" if os.path.lexists(path) else "is not there"
        raise StorageFailed(f"{path} {what}, so it is not opened as a session.")
