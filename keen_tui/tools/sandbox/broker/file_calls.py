"""The system calls that open, make, move and remove files: their numbers, and filters for them."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from typing import Final

from keen_tui.tools.sandbox.broker import bpf

AT_FDCWD: Final = -100
AT_REMOVEDIR: Final = 0x200

CallArguments = tuple[int, ...]

# fmt: off
_NUMBERS: Final[Mapping[str, Mapping[str, int]]] = {
    "x86_64": {
        "open": 2, "creat": 85, "openat": 257, "mkdir": 83, "mkdirat": 258, "mknod": 133, "mknodat": 259,
        "rmdir": 84, "unlink": 87, "unlinkat": 263, "rename": 82, "renameat": 264, "renameat2": 316,
        "link": 86, "linkat": 265, "symlink": 88, "symlinkat": 266, "truncate": 76,
    },
    "aarch64": {
        "openat": 56, "mkdirat": 34, "mknodat": 33, "unlinkat": 35, "renameat": 38, "renameat2": 276,
        "linkat": 37, "symlinkat": 36, "truncate": 45,
    },
}
# fmt: on

_FLAGS: Final = {"open": 1, "openat": 2}
"""Calls that open a file, with the position of the flags in the arguments. The mode follows the flags."""

_MODES: Final = {"creat": 1, "mkdir": 1, "mkdirat": 2, "mknod": 1, "mknodat": 2}
"""Other calls that make something, with the position of the mode."""

_WRITES: Final = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC
_CREATED: Final = os.O_WRONLY | os.O_CREAT | os.O_TRUNC
"""The flags of creat."""

_HAS_MODE: Final = os.O_CREAT | 0o20_000_000
"""O_CREAT, and the bit that only O_TMPFILE has."""

_AS_SOMEBODY_ELSE: Final = 0o6000
"""S_ISUID and S_ISGID. A program that needs a file with them sets them later, with chmod."""

_NEWEST: Final[Mapping[str, tuple[str, Callable[[CallArguments], CallArguments]]]] = {
    "open": ("openat", lambda given: (AT_FDCWD, *given)),
    "creat": ("openat", lambda given: (AT_FDCWD, given[0], _CREATED, given[1])),
    "mkdir": ("mkdirat", lambda given: (AT_FDCWD, *given)),
    "mknod": ("mknodat", lambda given: (AT_FDCWD, *given)),
    "rmdir": ("unlinkat", lambda given: (AT_FDCWD, given[0], AT_REMOVEDIR)),
    "unlink": ("unlinkat", lambda given: (AT_FDCWD, given[0], 0)),
    "rename": ("renameat2", lambda given: (AT_FDCWD, given[0], AT_FDCWD, given[1], 0)),
    "renameat": ("renameat2", lambda given: (*given[:4], 0)),
    "link": ("linkat", lambda given: (AT_FDCWD, given[0], AT_FDCWD, given[1], 0)),
    "symlink": ("symlinkat", lambda given: (given[0], AT_FDCWD, given[1])),
}
"""Older calls, converted to their newest form and its arguments."""


def number_of(machine: str, name: str) -> int:
    """The number of a call on the architecture."""
    return _NUMBERS[machine][name]


def names(machine: str) -> Mapping[int, str]:
    """The name of each call by its number."""
    return {number: name for name, number in _NUMBERS[machine].items()}


def newest(name: str, arguments: CallArguments) -> tuple[str, CallArguments]:
    """A call in its newest form, which has flags, and folders where its paths start."""
    newer = _NEWEST.get(name)
    return (newer[0], newer[1](arguments)) if newer else (name, arguments)


def refused_modes(machine: str, refusal: int) -> Iterator[bytes]:
    """Parts of a filter that let no file be created with a set-user or set-group bit."""
    numbers = _NUMBERS[machine]
    for name, flags in _FLAGS.items():
        if name in numbers:
            mode = bpf.unless_bits(flags + 1, _AS_SOMEBODY_ELSE, refusal)
            yield bpf.when(numbers[name], bpf.if_bits(flags, _HAS_MODE, mode) + bpf.give(bpf.ALLOW))
    for name, place in _MODES.items():
        if name in numbers:
            yield bpf.when(numbers[name], bpf.unless_bits(place, _AS_SOMEBODY_ELSE, refusal))


def notifying_filter(machine: str, *, reads: bool) -> bytes:
    """A filter that asks a broker about each of these calls. It asks about opening a file only if the file
    may be written or created, or with `reads` always.

    It goes on top of a filter that checks the architecture.
    """
    numbers = dict(_NUMBERS[machine])
    parts = [bpf.load(bpf.NUMBER)]
    for name, flags in () if reads else _FLAGS.items():
        if name in numbers:
            asked = bpf.if_bits(flags, _WRITES, bpf.give(bpf.NOTIFY))
            parts.append(bpf.when(numbers.pop(name), asked + bpf.give(bpf.ALLOW)))
    parts += [bpf.when(number, bpf.give(bpf.NOTIFY)) for number in numbers.values()]
    return b"".join((*parts, bpf.give(bpf.ALLOW)))
