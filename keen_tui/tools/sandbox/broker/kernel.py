"""System calls of Linux for which Python has no functions."""

from __future__ import annotations

import ctypes
import os
import struct
from functools import cache
from typing import Final

_CAPABILITIES_VERSION: Final = 0x2008_0522
_CLONE_FS: Final = 0x200


def call(*arguments: object) -> int:
    """Make a system call by its number. Returns its result, -1 for an error (see `checked`)."""
    return int(_libc().syscall(*map(_wide, arguments)))


def control(*arguments: object) -> None:
    """prctl(2). Raises OSError."""
    checked(_libc().prctl(*map(_wide, (*arguments, *(0,) * (5 - len(arguments))))))


def checked(ended: int) -> int:
    """The result of a call. Raises OSError if it is an error."""
    if ended < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return ended


def drop_capabilities_of_thread() -> None:
    """Drop all capabilities of the calling thread. Raises OSError."""
    header, nothing = struct.pack("=Ii", _CAPABILITIES_VERSION, 0), bytes(24)
    checked(_libc().capset(header, nothing))


def has_own_umask() -> bool:
    """Give the calling thread its own umask and current folder. False if that is forbidden, as in many
    containers."""
    return bool(_libc().unshare(_CLONE_FS) == 0)


def _wide(argument: object) -> object:
    """Numbers in the width that the kernel reads."""
    return ctypes.c_long(argument) if isinstance(argument, int) else argument


@cache
def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)
