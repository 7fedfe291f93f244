"""An assembler for filters of system calls (classic BPF; seccomp(2), bpf(4)).

Each function returns the instructions of one part of a filter, as bytes for the kernel. Filters compare only
the low half of an argument, because the kernel reads only that half of the arguments checked here: a filter
that compared all of it could be bypassed.
"""

from __future__ import annotations

import struct

LOAD = 0x20  # BPF_LD | BPF_W | BPF_ABS
IF_EQUAL = 0x15  # BPF_JMP | BPF_JEQ | BPF_K
IF_AT_LEAST = 0x35  # BPF_JMP | BPF_JGE | BPF_K
IF_ANY_BIT = 0x45  # BPF_JMP | BPF_JSET | BPF_K
_RETURN = 0x06  # BPF_RET | BPF_K

ALLOW = 0x7FFF_0000
NOTIFY = 0x7FC0_0000  # SECCOMP_RET_USER_NOTIF
KILL = 0x8000_0000  # the whole process
ERROR = 0x0005_0000

NUMBER, ARCHITECTURE = 0, 4
"""Their offsets in struct seccomp_data."""

_FIRST_ARGUMENT, _ARGUMENT_SIZE = 16, 8

_INSTRUCTION = struct.Struct("<HBBI")


def operation(code: int, value: int, *, jump: int = 0, otherwise: int = 0) -> bytes:
    """One instruction; `jump` and `otherwise` count the instructions that a condition skips."""
    return _INSTRUCTION.pack(code, jump, otherwise, value)


def load(offset: int) -> bytes:
    return operation(LOAD, offset)


def load_argument(place: int) -> bytes:
    return load(_FIRST_ARGUMENT + _ARGUMENT_SIZE * place)


def give(verdict: int) -> bytes:
    return operation(_RETURN, verdict)


def when(number: int, then: bytes) -> bytes:
    """`then`, which must end in a verdict, if the loaded number of the system call is this one."""
    return operation(IF_EQUAL, number, otherwise=length(then)) + then


def if_bits(argument: int, bits: int, then: bytes) -> bytes:
    """`then`, which must end in a verdict, for an argument with any of the bits."""
    return load_argument(argument) + operation(IF_ANY_BIT, bits, otherwise=length(then)) + then


def unless_bits(argument: int, bits: int, refusal: int) -> bytes:
    """Refuse an argument with any of the bits."""
    return if_bits(argument, bits, give(refusal)) + give(ALLOW)


def unless_one_of(argument: int, values: tuple[int, ...], refusal: int) -> bytes:
    """Refuse an argument that is one of the values."""
    tests = (operation(IF_EQUAL, value, otherwise=1) + give(refusal) for value in values)
    return load_argument(argument) + b"".join(tests) + give(ALLOW)


def only(*wanted: tuple[int, int], refusal: int) -> bytes:
    """Allow the call if each of the arguments, given by position, has the value beside it."""
    tests = (
        load_argument(place) + operation(IF_EQUAL, value, jump=1) + give(refusal) for place, value in wanted
    )
    return b"".join(tests) + give(ALLOW)


def only_one_of(argument: int, values: tuple[int, ...], refusal: int) -> bytes:
    """Refuse an argument that is none of the values."""
    tests = (operation(IF_EQUAL, value, otherwise=1) + give(ALLOW) for value in values)
    return load_argument(argument) + b"".join(tests) + give(refusal)


def length(program: bytes) -> int:
    """Number of instructions."""
    return len(program) // _INSTRUCTION.size
