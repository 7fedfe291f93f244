"""A filter of system calls, as the bytes that the kernel runs (classic BPF; seccomp(2), bpf(4)).

Everything is allowed except the calls named here: ways to other processes, keys, the terminal's input, new
namespaces, and sockets. A socket pair is allowed, since its other end belongs to the same program.
"""

from __future__ import annotations

import errno
from collections.abc import Iterable, Iterator, Mapping

from msgspec import Struct

from keen_tui.tools.sandbox.broker import bpf
from keen_tui.tools.sandbox.broker.file_calls import refused_modes

_FOREIGN_CALLS = 0x4000_0000
"""Numbers of system calls from here on belong to x32, which is refused."""

_NAMESPACES = 0x7E02_0000
"""CLONE_NEWNS, CLONE_NEWCGROUP, CLONE_NEWUTS, CLONE_NEWIPC, CLONE_NEWUSER, CLONE_NEWPID, CLONE_NEWNET."""

_RUNS_AS_OWNER = 0o4000
"""S_ISUID. Landlock has no right for modes: a confined root could otherwise create a root shell for
everybody."""

_TERMINAL_INPUT = (0x5412, 0x541C)
"""TIOCSTI and TIOCLINUX put keys into a terminal."""

AF_INET, AF_INET6 = 2, 10

_PRIO_PROCESS, _IOPRIO_WHO_PROCESS = 0, 1


class _Machine(Struct, frozen=True, kw_only=True):
    """A processor architecture: its number in linux/audit.h and the numbers of its system calls."""

    audit: int
    refused: tuple[int, ...]
    unknown: tuple[int, ...]
    clone: int
    unshare: int
    ioctl: int
    socket: int
    modes: tuple[tuple[int, int], ...]
    """Calls that change the mode of a file, each with the position of the mode in its arguments."""
    on_processes: tuple[int, ...]
    """Calls that change limits, scheduling or memory of the process in their first argument."""
    setpriority: int
    ioprio_set: int
    shared: tuple[int, ...]
    """Calls that create or find System V memory, semaphores and queues, and POSIX queues."""
    attributes: tuple[int, ...]
    """Calls that change the mode, owner, times or extended attributes of a file."""


# fmt: off
_MACHINES: Mapping[str, _Machine] = {
    "x86_64": _Machine(
        audit=0xC000_003E,
        refused=(
            101, 310, 311, 438, 440, 312,            # ptrace and other ways into processes
            248, 249, 250,                           # add_key request_key keyctl
            308, 165, 166, 155, 161,                 # setns mount umount2 pivot_root chroot
            428, 429, 430, 431, 432, 433, 442,       # mounting with descriptors
            303, 304, 300,                           # files by handle, fanotify_init
            321, 298, 323, 212,                      # bpf perf_event_open userfaultfd lookup_dcookie
            246, 320, 175, 313, 176,                 # kexec and kernel modules
            167, 168, 169, 163, 179, 443, 103, 180,  # swap, reboot, acct, quotas, syslog
            164, 227, 159, 305, 170, 171, 153,       # clocks, names, vhangup
            172, 173, 154,                           # iopl ioperm modify_ldt
        ),
        unknown=(425, 426, 427, 435, 437),           # io_uring, clone3, openat2
        clone=56, unshare=272, ioctl=16, socket=41,
        modes=((90, 1), (91, 1), (268, 2), (452, 2)),  # chmod fchmod fchmodat fchmodat2
        on_processes=(302, 203, 142, 144, 314, 256, 279),  # prlimit64 sched_set* migrate_pages move_pages
        setpriority=141, ioprio_set=251,
        shared=(29, 64, 68, 240),                    # shmget semget msgget mq_open
        attributes=(
            90, 91, 268, 452, 92, 93, 94, 260,       # chmod and chown with their kin
            132, 235, 261, 280, 469,                 # utime utimes futimesat utimensat file_setattr
            188, 189, 190, 463, 197, 198, 199, 466,  # setxattr and removexattr with their kin
        ),
    ),
    "aarch64": _Machine(
        audit=0xC000_00B7,
        refused=(
            117, 270, 271, 438, 440, 272,
            217, 218, 219,
            268, 40, 39, 41, 51,
            428, 429, 430, 431, 432, 433, 442,
            264, 265, 262,
            280, 241, 282, 18,
            104, 294, 105, 273, 106,
            224, 225, 142, 89, 60, 443, 116, 42,
            170, 112, 171, 266, 161, 162, 58,
        ),
        unknown=(425, 426, 427, 435, 437),
        clone=220, unshare=97, ioctl=29, socket=198,
        modes=((52, 1), (53, 2), (452, 2)),
        on_processes=(261, 122, 118, 119, 274, 238, 239),
        setpriority=140, ioprio_set=30,
        shared=(194, 190, 186, 180),
        attributes=(52, 53, 452, 54, 55, 88, 469, 5, 6, 7, 463, 14, 15, 16, 466),
    ),
}
# fmt: on
"""The numbers of calls. `refused` ones fail with EPERM. `unknown` ones fail with ENOSYS, so that programs
fall back to older calls: the flags of clone3 and openat2 are in memory, where no filter can read them."""


def is_supported(machine: str) -> bool:
    """Whether there is a filter for the architecture, with its name from uname."""
    return machine in _MACHINES


def filter_for(
    machine: str,
    *,
    families: Iterable[int] = (),
    among_others: bool = True,
    keeps_attributes: bool = False,
) -> bytes:
    """The filter for an architecture that `is_supported`.

    Args:
        machine: its name from uname.
        families: the socket families that are allowed.
        among_others: the command shares process numbers and System V objects with the user's other programs,
            so it may change only itself, and finds no memory, semaphore or queue of others.
        keeps_attributes: it can't change modes, owners, times or extended attributes of files.
    """
    at = _MACHINES[machine]
    not_permitted, not_there = bpf.ERROR | errno.EPERM, bpf.ERROR | errno.ENOSYS
    return b"".join(
        (
            bpf.load(bpf.ARCHITECTURE),
            bpf.operation(bpf.IF_EQUAL, at.audit, jump=1, otherwise=0),
            bpf.give(bpf.KILL),
            bpf.load(bpf.NUMBER),
            bpf.operation(bpf.IF_AT_LEAST, _FOREIGN_CALLS, jump=0, otherwise=1),
            bpf.give(bpf.KILL),
            *(bpf.when(number, bpf.give(not_permitted)) for number in at.refused),
            *(bpf.when(number, bpf.give(not_there)) for number in at.unknown),
            *(bpf.when(number, bpf.give(not_permitted)) for number in at.attributes if keeps_attributes),
            *(_only_itself(at) if among_others else ()),
            *_when_bits(((at.clone, 0), (at.unshare, 0)), _NAMESPACES),
            *_when_bits(at.modes, _RUNS_AS_OWNER),
            *refused_modes(machine, not_permitted),
            bpf.when(at.ioctl, bpf.unless_one_of(1, _TERMINAL_INPUT, not_permitted)),
            bpf.when(at.socket, bpf.only_one_of(0, tuple(families), not_permitted)),
            bpf.give(bpf.ALLOW),
        )
    )


def _when_bits(calls: Iterable[tuple[int, int]], bits: int) -> Iterator[bytes]:
    """Refuse each of the calls if the argument at the position beside it has any of the bits."""
    for number, place in calls:
        yield bpf.when(number, bpf.unless_bits(place, bits, bpf.ERROR | errno.EPERM))


def _only_itself(at: _Machine) -> Iterator[bytes]:
    """Allow these calls for the caller only, which is process 0. For calls that take a kind (process, group,
    user) only the process is allowed."""
    not_permitted = bpf.ERROR | errno.EPERM
    for number in at.on_processes:
        yield bpf.when(number, bpf.only((0, 0), refusal=not_permitted))
    yield bpf.when(at.setpriority, bpf.only((0, _PRIO_PROCESS), (1, 0), refusal=not_permitted))
    yield bpf.when(at.ioprio_set, bpf.only((0, _IOPRIO_WHO_PROCESS), (1, 0), refusal=not_permitted))
    for number in at.shared:
        yield bpf.when(number, bpf.give(bpf.ERROR | errno.ENOSYS))
