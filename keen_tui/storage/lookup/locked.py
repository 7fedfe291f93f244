"""Whether some program holds a lock. Fast, because one list asks thousands of times."""

from __future__ import annotations

import errno
import fcntl
import os
from pathlib import Path

from filelock import FileLock, Timeout

_HELD = (errno.EACCES, errno.EAGAIN, errno.EWOULDBLOCK)
_FLAGS = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


def is_locked(lock_file: str | Path) -> bool:
    """Whether some program, including this one, holds the lock. False if that is unknown."""
    try:
        descriptor = os.open(lock_file, _FLAGS)
    except OSError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError as error:
        return error.errno in _HELD or (error.errno == errno.ENOSYS and _is_soft_locked(lock_file))
    finally:
        os.close(descriptor)
    return False


def _is_soft_locked(lock_file: str | Path) -> bool:
    """The same on a disk without flock."""
    lock = FileLock(lock_file, timeout=0, mode=0o600, thread_local=False)
    try:
        lock.acquire()
    except Timeout:
        return True
    except (OSError, NotImplementedError):
        return False
    lock.release()
    return False
