"""Reading a file only if it is one: neither a pipe that blocks nor a link that leads elsewhere."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

from keen_tui.system.folders import opened_folder

_READ = os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC


class NoFile(OSError):
    """Something is there, but no regular file."""


def content_of(path: Path, *, most: int) -> bytes | None:
    """The content of a regular file, None when nothing is there. `path` has its symlinks resolved.

    Raises:
        OSError: it can't be read; NoFile: it is a folder, a link, ...; EFBIG: it has over `most` bytes.
    """
    try:
        with opened_folder(path.parent) as folder:
            _require_regular(os.stat(path.name, dir_fd=folder, follow_symlinks=False))
            with os.fdopen(os.open(path.name, _READ, dir_fd=folder), "rb") as file:
                _require_regular(os.fstat(file.fileno()))
                content = file.read(most + 1) or b""
    except FileNotFoundError:
        return None
    if len(content) > most:
        raise OSError(errno.EFBIG, f"it is larger than {most:,} bytes")
    return content


def _require_regular(status: os.stat_result) -> None:
    if not stat.S_ISREG(status.st_mode):
        raise NoFile(errno.EINVAL, "it isn't a regular file")
