"""The filter of system calls, run by a small machine as the kernel would, for both architectures."""

from __future__ import annotations

import errno
import struct

import pytest

from keen_tui.tools.sandbox.broker.file_calls import notifying_filter, number_of
from keen_tui.tools.sandbox.seccomp import AF_INET, AF_INET6, filter_for, is_supported

O_CREAT = 0o100
NOTIFY = 0x7FC0_0000
ALLOW, KILL, ERROR = 0x7FFF_0000, 0x8000_0000, 0x0005_0000
NOT_PERMITTED, NOT_THERE = ERROR | errno.EPERM, ERROR | errno.ENOSYS
AUDIT = {"x86_64": 0xC000_003E, "aarch64": 0xC000_00B7}
_NAMES = (
    "read",
    "ptrace",
    "clone",
    "clone3",
    "unshare",
    "ioctl",
    "socket",
    "socketpair",
    "fchmod",
    "fchmodat",
)
CALLS = {
    "x86_64": dict(zip(_NAMES, (0, 101, 56, 435, 272, 16, 41, 53, 91, 268), strict=True)),
    "aarch64": dict(zip(_NAMES, (63, 117, 220, 435, 97, 29, 198, 199, 52, 53), strict=True)),
}
AF_UNIX, AF_NETLINK = 1, 16


def verdict(program: bytes, audit: int, number: int, *arguments: int) -> int:
    """What the filter says to a call, by the rules of bpf(4)."""
    given = [*arguments, *(0,) * (6 - len(arguments))]
    data = struct.pack("<IIQ6Q", number, audit, 0, *given)
    code = list(struct.iter_unpack("<HBBI", program))
    at = accumulator = 0
    while True:
        operation, if_so, if_not, value = code[at]
        at += 1
        match operation:
            case 0x20:
                [accumulator] = struct.unpack_from("<I", data, value)
            case 0x15:
                at += if_so if accumulator == value else if_not
            case 0x35:
                at += if_so if accumulator >= value else if_not
            case 0x45:
                at += if_so if accumulator & value else if_not
            case 0x06:
                return int(value)
            case _:
                raise AssertionError(f"no operation of the filter: {operation:#x}")


@pytest.mark.parametrize("machine", AUDIT)
@pytest.mark.parametrize(
    ("call", "arguments", "expected"),
    [
        ("read", (), ALLOW),
        ("socketpair", (AF_UNIX,), ALLOW),
        ("ptrace", (), NOT_PERMITTED),
        ("clone3", (), NOT_THERE),
        ("clone", (0x3D0F00,), ALLOW),  # a thread
        ("clone", (0x1000_0011,), NOT_PERMITTED),  # with CLONE_NEWUSER
        ("clone", (0x0002_0011,), NOT_PERMITTED),  # with CLONE_NEWNS
        ("unshare", (0x400,), ALLOW),  # CLONE_FILES
        ("unshare", (0x1000_0000,), NOT_PERMITTED),
        ("ioctl", (0, 0x5401), ALLOW),
        ("ioctl", (0, 0x5412), NOT_PERMITTED),
        ("ioctl", (0, 0xFFFF_FFFF_0000_5412), NOT_PERMITTED),
        ("ioctl", (0, 0x541C), NOT_PERMITTED),
        ("socket", (AF_INET,), ALLOW),
        ("socket", (AF_INET6,), ALLOW),
        ("socket", (AF_UNIX,), NOT_PERMITTED),
        ("socket", (AF_NETLINK,), NOT_PERMITTED),
        ("fchmod", (3, 0o2755), ALLOW),
        ("fchmod", (3, 0o4755), NOT_PERMITTED),  # with S_ISUID
        ("fchmodat", (3, 0, 0o755), ALLOW),
        ("fchmodat", (3, 0, 0xFFFF_FFFF_0000_0000 | 0o4755), NOT_PERMITTED),
        ("socket", (0x1_0000_0000 | AF_UNIX,), NOT_PERMITTED),
    ],
)
def test_each_call_gets_its_verdict(
    machine: str, call: str, arguments: tuple[int, ...], expected: int
) -> None:
    program = filter_for(machine, families=(AF_INET, AF_INET6))
    assert verdict(program, AUDIT[machine], CALLS[machine][call], *arguments) == expected


_PROCESS_NAMES = ("prlimit64", "sched_setaffinity", "setpriority", "ioprio_set", "shmget")
PROCESS_CALLS = {
    "x86_64": dict(zip(_PROCESS_NAMES, (302, 203, 141, 251, 29), strict=True)),
    "aarch64": dict(zip(_PROCESS_NAMES, (261, 122, 140, 30, 194), strict=True)),
}


@pytest.mark.parametrize("machine", AUDIT)
@pytest.mark.parametrize(
    ("call", "arguments", "expected"),
    [
        ("prlimit64", (0, 7), ALLOW),
        ("prlimit64", (4321, 7), NOT_PERMITTED),
        ("sched_setaffinity", (0, 8), ALLOW),
        ("sched_setaffinity", (4321, 8), NOT_PERMITTED),
        ("setpriority", (0, 0, 5), ALLOW),
        ("setpriority", (0, 4321, 5), NOT_PERMITTED),
        ("setpriority", (2, 0, 5), NOT_PERMITTED),  # all processes of the user
        ("ioprio_set", (1, 0, 5), ALLOW),
        ("ioprio_set", (1, 4321, 5), NOT_PERMITTED),
        ("ioprio_set", (3, 0, 5), NOT_PERMITTED),
        ("shmget", (1, 8, 0o600), NOT_THERE),
    ],
)
def test_among_other_programs_a_command_reaches_only_itself(
    machine: str, call: str, arguments: tuple[int, ...], expected: int
) -> None:
    number = PROCESS_CALLS[machine][call]
    assert verdict(filter_for(machine), AUDIT[machine], number, *arguments) == expected
    alone = filter_for(machine, among_others=False)
    assert verdict(alone, AUDIT[machine], number, *arguments) == ALLOW


@pytest.mark.parametrize("machine", AUDIT)
@pytest.mark.parametrize(
    ("call", "arguments", "expected"),
    [
        ("openat", (0, 0, O_CREAT | 1, 0o755), ALLOW),
        ("openat", (0, 0, O_CREAT | 1, 0o4755), NOT_PERMITTED),
        ("openat", (0, 0, O_CREAT | 1, 0xFFFF_FFFF_0000_0000 | 0o2755), NOT_PERMITTED),
        ("openat", (0, 0, 0o20_000_001, 0o4755), NOT_PERMITTED),  # without a name
        ("openat", (0, 0, 0, 0o4755), ALLOW),  # there is no mode
        ("mkdirat", (0, 0, 0o1777), ALLOW),
        ("mkdirat", (0, 0, 0o2777), NOT_PERMITTED),
        ("mknodat", (0, 0, 0o100644), ALLOW),
        ("mknodat", (0, 0, 0o104644), NOT_PERMITTED),
    ],
)
def test_nothing_is_made_that_runs_as_somebody_else(
    machine: str, call: str, arguments: tuple[int, ...], expected: int
) -> None:
    given = verdict(filter_for(machine), AUDIT[machine], number_of(machine, call), *arguments)
    assert given == expected


@pytest.mark.parametrize(
    ("call", "arguments"),
    [
        ("open", (0, O_CREAT, 0o4755)),
        ("creat", (0, 0o4755)),
        ("mkdir", (0, 0o2755)),
        ("mknod", (0, 0o104755)),
    ],
)
def test_nor_by_an_older_call(call: str, arguments: tuple[int, ...]) -> None:
    number = number_of("x86_64", call)
    assert verdict(filter_for("x86_64"), AUDIT["x86_64"], number, *arguments) == NOT_PERMITTED


@pytest.mark.parametrize("machine", AUDIT)
@pytest.mark.parametrize(
    ("flags", "writes"),
    [(0, False), (1, True), (2, True), (O_CREAT, True), (0o1000, True), (0o2000000, False)],
)
def test_a_broker_is_asked_about_what_is_written_or_made(machine: str, flags: int, writes: bool) -> None:
    number, audit = number_of(machine, "openat"), AUDIT[machine]
    some, every = (notifying_filter(machine, reads=reads) for reads in (False, True))
    assert verdict(some, audit, number, 0, 0, flags) == (NOTIFY if writes else ALLOW)
    assert verdict(every, audit, number, 0, 0, flags) == NOTIFY
    for call in (
        "mkdirat",
        "mknodat",
        "unlinkat",
        "renameat",
        "renameat2",
        "linkat",
        "symlinkat",
        "truncate",
    ):
        assert verdict(some, audit, number_of(machine, call)) == NOTIFY
    for call in ("read", "ioctl", "clone"):
        assert verdict(every, audit, CALLS[machine][call]) == ALLOW


@pytest.mark.parametrize("machine", AUDIT)
def test_without_a_network_of_its_own_no_socket_is_made(machine: str) -> None:
    program = filter_for(machine)
    for family in range(64):
        assert verdict(program, AUDIT[machine], CALLS[machine]["socket"], family) == NOT_PERMITTED


@pytest.mark.parametrize("machine", AUDIT)
def test_calls_of_another_architecture_end_the_process(machine: str) -> None:
    program = filter_for(machine)
    for audit in {0x4000_0003, *AUDIT.values()} - {AUDIT[machine]}:
        assert verdict(program, audit, 0) == KILL
    assert verdict(program, AUDIT[machine], 0x4000_0000 | 39) == KILL


@pytest.mark.parametrize("machine", AUDIT)
def test_the_filter_is_one_that_the_kernel_takes(machine: str) -> None:
    program = filter_for(machine)
    assert len(program) % 8 == 0
    assert len(program) // 8 <= 4_096, "BPF_MAXINSNS"
    for number in range(600):
        assert verdict(program, AUDIT[machine], number) in (ALLOW, NOT_PERMITTED, NOT_THERE)


def test_other_architectures_have_none() -> None:
    assert is_supported("x86_64") and is_supported("aarch64")
    assert not is_supported("riscv64")
