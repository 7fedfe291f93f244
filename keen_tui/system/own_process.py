"""The process of the program itself, as the system keeps it."""

from __future__ import annotations

import sys
from functools import cache

_PR_SET_DUMPABLE = 4


@cache
def environ_at_start() -> bytes | None:
    """The environment that the program was started with, as Linux keeps it; None where it can't be read."""
    try:
        with open("/proc/self/environ", "rb") as file:  # noqa: PTH123 - pathlib takes long to import
            return file.read()
    except OSError:
        return None


def close_memory() -> None:
    """Other programs of the user can't read the memory of this one from now on, with the keys in it, nor its
    environment, and it leaves no core file. Linux only; what it starts isn't closed.

    For ordinary users most of /proc/self belongs to root then: what we read there is read before.
    """
    if sys.platform != "linux":
        return
    import ctypes  # noqa: PLC0415 - takes some milliseconds

    environ_at_start()
    ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0)
