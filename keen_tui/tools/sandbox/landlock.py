"""Commands held by Landlock and a filter of system calls, for systems without bubblewrap.

Both bind one thread for good, and every process that it starts. So a command is started by a thread of its
own, which is bound first: that costs no program in between. Landlock knows no exceptions inside of what it
grants, and nothing that is not there yet. So each entry of the workspace is granted by itself, the protected
ones are not, and in the workspace's own folder nothing new can be made.
"""

from __future__ import annotations

import ctypes
import os
import stat
import struct
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache, cached_property, partial
from pathlib import Path

from keen_tui.tools.sandbox.base import ORDINARY, Argv, Launch, Terms, confined_environment, require_no_links
from keen_tui.tools.sandbox.policy import Policy
from keen_tui.tools.sandbox.scratch import Folders, scratch_in
from keen_tui.tools.sandbox.seccomp import AF_INET, AF_INET6, filter_for
from keen_tui.tools.sandbox.secret_files import SecretFiles

_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
"""System calls, the same on every architecture."""

_VERSION_ASKED = 1
_PATH_BENEATH = 1

_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR = 1 << 0, 1 << 1, 1 << 2, 1 << 3
_TRUNCATE, _DEVICE_CONTROL = 1 << 14, 1 << 15
_MAKE_DEVICES = 1 << 6 | 1 << 11  # MAKE_CHAR and MAKE_BLOCK
_READ = _EXECUTE | _READ_FILE | _READ_DIR
_MAKES = (1 << 16) - 1 & ~_MAKE_DEVICES
_OF_FILES = _EXECUTE | _WRITE_FILE | _READ_FILE | _TRUNCATE | _DEVICE_CONTROL

Grant = tuple[Path, int]
"""What may be done at a path: if it is a folder, with everything in it. Rights that the kernel does not know
are left out."""

_NETWORK = 0b11  # binding and connecting with TCP
_SCOPES = 0b11  # abstract sockets and signals

_PR_SET_SECCOMP, _PR_SET_NO_NEW_PRIVS, _PR_CAPBSET_DROP = 22, 38, 24
_SECCOMP_FILTER = 2
_LAST_CAPABILITY = 40

_DEVICES = tuple(Path("/dev", name) for name in ("null", "zero", "full", "random", "urandom"))

_TOOL_HOMES: Mapping[str, str] = {
    "CARGO_HOME": ".cargo",
    "RUSTUP_HOME": ".rustup",
    "PYENV_ROOT": ".pyenv",
    "NVM_DIR": ".nvm",
    "GOPATH": "go",
}
"""Where programs look in the real home although HOME is another one."""


class Landlock:
    """Runs commands that the kernel itself holds to the policy."""

    name = "landlock"
    has_own_network = False

    def __init__(self, policy: Policy) -> None:
        self._policy = policy
        machine = os.uname().machine
        self._filter = filter_for(machine)
        self._connecting_filter = filter_for(machine, families=(AF_INET, AF_INET6))
        self._scratch = scratch_in(policy.scratch)
        self._secrets = SecretFiles(policy)

    @contextmanager
    def wrap(self, argv: Argv, environ: Mapping[str, str], terms: Terms = ORDINARY) -> Iterator[Launch]:
        """How the command is started; leave the context once it has ended.

        Raises:
            OSError: no folder for its home, or a protected name is a link.
        """
        require_no_links(self._policy)
        secrets = self._secrets.hidden(terms)
        with self._scratch.folders(lasting=terms.writes) as folders:
            yield Launch(
                argv=argv,
                environ=self._environ(environ, folders),
                confine=partial(
                    confine,
                    self._grants(folders, terms, secrets),
                    self._connecting_filter if terms.connects else self._filter,
                    connects=terms.connects,
                ),
                hidden=secrets,
            )

    def _grants(self, folders: Folders, terms: Terms, secrets: Sequence[Path]) -> list[Grant]:
        own = ((folders.home, _MAKES), (folders.temporary, _MAKES))
        hidden = {*_hidden_in(self._policy), *secrets}
        writable = _written_in(self._policy, hidden) if terms.writes else ()
        names = [(Path(os.path.realpath("/etc/resolv.conf")), _READ)] if terms.connects else []
        return [*own, *names, *self._outside, *_readable(self._policy.workspace, hidden), *writable]

    @cached_property
    def _outside(self) -> tuple[Grant, ...]:
        """What may be done outside the workspace. Looked up once: it takes longer than a command may."""
        return tuple(_outside_workspace(self._policy))

    def _environ(self, environ: Mapping[str, str], folders: Folders) -> dict[str, str]:
        """No path can lead elsewhere than for all programs, so /tmp itself is not among the folders."""
        home = self._policy.home
        tools = {name: str(home / folder) for name, folder in _TOOL_HOMES.items() if (home / folder).exists()}
        own = {"HOME": str(folders.home), "TMPDIR": str(folders.temporary)}
        return tools | confined_environment(environ) | own


@cache
def landlock_version() -> int:
    """The version of the kernel's Landlock, 0 for none."""
    return max(_call(_CREATE_RULESET, None, 0, _VERSION_ASKED), 0)


def confine(grants: Iterable[Grant], filter_program: bytes, *, connects: bool = False) -> None:
    """Allow the calling thread what is granted, and nothing else, for good. With `connects` it may use TCP
    as it likes.

    Raises:
        OSError: the kernel refuses: nothing must be run then.
    """
    rules = _ruleset(connects=connects)
    try:
        for path, rights in grants:
            _grant(rules, path, rights)
        _drop_capabilities()
        _control(_PR_SET_NO_NEW_PRIVS, 1)
        _checked(_call(_RESTRICT_SELF, rules, 0))
    finally:
        os.close(rules)
    program = ctypes.create_string_buffer(filter_program, len(filter_program))
    instructions = struct.pack("@HP", len(filter_program) // 8, ctypes.addressof(program))
    _control(_PR_SET_SECCOMP, _SECCOMP_FILTER, instructions)


def _outside_workspace(policy: Policy) -> Iterator[Grant]:
    for device in _DEVICES:
        yield device, _READ_FILE | _WRITE_FILE
    yield Path("/proc"), _READ_FILE | _READ_DIR
    for path in policy.readable:
        yield from _readable(Path(os.path.realpath(path)), set(policy.hidden))


def _written_in(policy: Policy, hidden: set[Path]) -> Iterator[Grant]:
    """Each entry of the workspace that is neither protected nor hidden may be written."""
    closed = {*policy.protected, *policy.protected_if_there, *hidden}
    for entry in policy.workspace.iterdir():
        yield from _writable(entry, closed)


def _hidden_in(policy: Policy) -> set[Path]:
    return {path for path in policy.hidden if path.is_relative_to(policy.workspace)}


def _writable(path: Path, closed: set[Path]) -> Iterator[Grant]:
    """Grants to write all of a path but what is closed in it; in the folders around that nothing new can be
    made."""
    if path in closed:
        return
    inside = {each for each in closed if path in each.parents}
    if not inside:
        yield path, _MAKES
    elif not path.is_symlink():
        for entry in path.iterdir():
            yield from _writable(entry, inside)


def _readable(path: Path, hidden: set[Path]) -> Iterator[Grant]:
    """Grants to read all of a path but what is hidden in it; of that only the names can be seen."""
    inside = {each for each in hidden if path in each.parents and os.access(each, os.R_OK)}
    if path in hidden:
        return
    if not inside:
        yield path, _READ
        return
    yield path, _READ_DIR
    for entry in path.iterdir():
        yield from _readable(entry, inside)


def _everything() -> int:
    """All rights on files that this kernel's Landlock knows."""
    return (1 << {1: 13, 2: 14, 3: 15, 4: 15}.get(landlock_version(), 16)) - 1


def _ruleset(*, connects: bool) -> int:
    """A set of rules that forbids everything this kernel can forbid, but no connections where there may be
    some; gives its descriptor."""
    version = landlock_version()
    network = _NETWORK if version >= 4 and not connects else 0
    attributes = struct.pack("QQQ", _everything(), network, _SCOPES if version >= 6 else 0)
    size = 24 if version >= 6 else 16 if version >= 4 else 8
    return _checked(_call(_CREATE_RULESET, attributes, size, 0))


def _grant(rules: int, path: Path, rights: int) -> None:
    """Allow it beneath the path itself: a link is passed over, and so is what is not there."""
    try:
        descriptor = os.open(path, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        return
    try:
        mode = os.fstat(descriptor).st_mode
        if stat.S_ISLNK(mode):
            return
        rights &= _everything() if stat.S_ISDIR(mode) else _everything() & _OF_FILES
        attributes = struct.pack("=Qi", rights, descriptor)
        _checked(_call(_ADD_RULE, rules, _PATH_BENEATH, attributes, 0))
    finally:
        os.close(descriptor)


def _drop_capabilities() -> None:
    """For root, who could otherwise mount and trace: what it starts has no capabilities."""
    if os.geteuid() == 0:
        for capability in range(_LAST_CAPABILITY + 1):
            _control(_PR_CAPBSET_DROP, capability)


def _control(*arguments: object) -> None:
    _checked(_libc().prctl(*map(_wide, (*arguments, *(0,) * (5 - len(arguments))))))


def _call(*arguments: object) -> int:
    return int(_libc().syscall(*map(_wide, arguments)))


def _wide(argument: object) -> object:
    """Numbers as wide as the kernel reads them."""
    return ctypes.c_long(argument) if isinstance(argument, int) else argument


def _checked(ended: int) -> int:
    if ended < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return ended


@cache
def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)
