"""Landlock and a filter of system calls: both permanently bind a thread and every process that it starts."""

from __future__ import annotations

import ctypes
import os
import stat
import struct
from collections.abc import Iterable
from functools import cache
from pathlib import Path

from msgspec import Struct

from keen_tui.tools.sandbox.broker.broker import Broker
from keen_tui.tools.sandbox.broker.kernel import call, checked, control
from keen_tui.tools.sandbox.broker.listener import listen
from keen_tui.tools.sandbox.broker.workspace_paths import Inode, identity

_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
"""System calls, the same on every architecture."""

_CLOSE_RANGE, _CLOSE_ON_EXEC = 436, 1 << 2
_FIRST_OF_OURS, _LAST_OF_ALL = 3, (1 << 32) - 1

_VERSION_ASKED = 1
_PATH_BENEATH = 1

EXECUTE, WRITE_FILE, READ_FILE, READ_DIR = 1 << 0, 1 << 1, 1 << 2, 1 << 3
_TRUNCATE, _DEVICE_CONTROL = 1 << 14, 1 << 15
_MAKE_DEVICES = 1 << 6 | 1 << 11  # MAKE_CHAR and MAKE_BLOCK
READ = EXECUTE | READ_FILE | READ_DIR
WORK = (1 << 16) - 1 & ~_MAKE_DEVICES
"""All rights except making devices."""
_OF_FILES = EXECUTE | WRITE_FILE | READ_FILE | _TRUNCATE | _DEVICE_CONTROL

PathGrant = tuple[Path, int]
"""Rights at a path; for a folder they include everything below it. Rights that the kernel doesn't know are
left out."""

_NETWORK = 0b11  # binding and connecting with TCP
_SCOPES = 0b11  # abstract sockets and signals

_PR_SET_SECCOMP, _PR_SET_NO_NEW_PRIVS, _PR_CAPBSET_DROP = 22, 38, 24
_PR_CAP_AMBIENT, _AMBIENT_CLEAR_ALL = 47, 4
_SECCOMP_FILTER = 2
_LAST_CAPABILITY = 40


@cache
def landlock_version() -> int:
    """The version of the kernel's Landlock, 0 for none."""
    return max(call(_CREATE_RULESET, None, 0, _VERSION_ASKED), 0)


class Brokered(Struct, frozen=True):
    """The broker of a command, and the filter that selects the calls for it."""

    broker: Broker
    filter_program: bytes


def confine(
    grants: Iterable[PathGrant], filter_program: bytes, brokered: Brokered | None, *, connects: bool = False
) -> None:
    """Permanently confine the calling thread to the grants and to what the broker does for it. With
    `connects` it may use TCP freely.

    Processes that the thread starts afterwards must not be told to close descriptors: no descriptor of this
    program is inherited any more. A new process would have to look for them in /proc and wait for the broker
    to allow that, while all of Python stands still.

    Raises:
        OSError: the kernel refuses; then nothing must be run.
    """
    rules = _ruleset(connects=connects)
    try:
        for path, rights in grants:
            granted = _grant(rules, path, rights)
            if brokered and granted and rights == WORK:
                brokered.broker.grant(granted)
        _drop_capabilities()
        control(_PR_SET_NO_NEW_PRIVS, 1)
        checked(call(_RESTRICT_SELF, rules, 0))
    finally:
        os.close(rules)
    program = ctypes.create_string_buffer(filter_program, len(filter_program))
    instructions = struct.pack("@HP", len(filter_program) // 8, ctypes.addressof(program))
    control(_PR_SET_SECCOMP, _SECCOMP_FILTER, instructions)
    checked(call(_CLOSE_RANGE, _FIRST_OF_OURS, _LAST_OF_ALL, _CLOSE_ON_EXEC))
    if brokered:
        brokered.broker.listen(listen(os.uname().machine, brokered.filter_program))


def _everything() -> int:
    """All file rights that this kernel's Landlock knows."""
    return (1 << {1: 13, 2: 14, 3: 15, 4: 15}.get(landlock_version(), 16)) - 1


def _ruleset(*, connects: bool) -> int:
    """A rule set that forbids everything this kernel can forbid, except connections if they are allowed.
    Returns its descriptor."""
    version = landlock_version()
    network = _NETWORK if version >= 4 and not connects else 0
    attributes = struct.pack("QQQ", _everything(), network, _SCOPES if version >= 6 else 0)
    size = 24 if version >= 6 else 16 if version >= 4 else 8
    return checked(call(_CREATE_RULESET, attributes, size, 0))


def _grant(rules: int, path: Path, rights: int) -> Inode | None:
    """Grant rights beneath the path itself. Returns the identity of the entry; None for a link, or nothing,
    which is skipped."""
    try:
        descriptor = os.open(path, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        status = os.fstat(descriptor)
        if stat.S_ISLNK(status.st_mode):
            return None
        rights &= _everything() if stat.S_ISDIR(status.st_mode) else _everything() & _OF_FILES
        attributes = struct.pack("=Qi", rights, descriptor)
        checked(call(_ADD_RULE, rules, _PATH_BENEATH, attributes, 0))
        return identity(status)
    finally:
        os.close(descriptor)


def _drop_capabilities() -> None:
    """Drop capabilities: root could otherwise mount and trace, and other users may have some to pass on."""
    control(_PR_CAP_AMBIENT, _AMBIENT_CLEAR_ALL)
    if os.geteuid() == 0:
        for capability in range(_LAST_CAPABILITY + 1):
            control(_PR_CAPBSET_DROP, capability)
