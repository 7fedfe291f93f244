"""One network for the commands of a session, so that a test reaches the server that was started before it.

It is a network namespace with nothing in it but a loopback device. No process holds it: Keen has descriptors
of it, and the commands in it. So it is gone with Keen, however Keen ends. It belongs to a user namespace
around those of the commands, so that no command can change it.
"""

from __future__ import annotations

import os
import subprocess
import threading
import weakref
from typing import Final

from msgspec import Struct

from keen_tui.system.executables import find_program

_PATIENCE: Final = 10.0
"""Seconds that opening may take."""

_STAYS: Final = "echo $$; read -r end"
"""The command that runs in the new namespaces until their descriptors are open."""

_WHERE: Final = "readlink /proc/self/ns/net"


class NetworkEntry(Struct, frozen=True):
    """The way in: the argv to put before bubblewrap's, and the descriptors that it inherits and closes."""

    argv: tuple[str, ...]
    descriptors: tuple[int, ...]


class SessionNetwork:
    """The network of one session, opened when it is first needed. `bubblewrap` is the path of bwrap."""

    def __init__(self, bubblewrap: str) -> None:
        self._bubblewrap = bubblewrap
        self._lock = threading.Lock()
        self._entry: NetworkEntry | None = None
        self._problem = ""

    def entry(self) -> NetworkEntry | None:
        """The way in; None if there is none on this system, for the reason in `problem`. May be called in any
        thread. Takes some 20 ms the first time, and runs programs."""
        with self._lock:
            if self._entry is None and not self._problem:
                try:
                    self._entry = self._opened()
                except (OSError, ValueError, subprocess.SubprocessError) as error:
                    self._problem = f"{getattr(error, 'strerror', None) or error}"
            return self._entry

    @property
    def problem(self) -> str:
        """Why there is none, "" as long as nothing is wrong."""
        return self._problem

    def _opened(self) -> NetworkEntry:
        """Open the network and try the way in. Raises OSError, ValueError or SubprocessError."""
        nsenter, shell = find_program("nsenter"), find_program("bash")
        if not nsenter or not shell:
            raise ValueError(f"{'nsenter' if not nsenter else 'bash'} is not installed")
        descriptors = self._namespaces()
        weakref.finalize(self, _close, descriptors)
        entry = _entry(nsenter, shell, *descriptors)
        self._require_leads_in(entry, descriptors[0])
        return entry

    def _namespaces(self) -> tuple[int, ...]:
        """Descriptors of a new network namespace and of its user namespace; without the second if that is
        Keen's own. Raises OSError or ValueError."""
        argv = (self._bubblewrap, "--unshare-user-try", "--unshare-net", "--dev-bind", "/", "/")
        with subprocess.Popen(
            (*argv, "/bin/sh", "-c", _STAYS),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        ) as process:
            assert process.stdin and process.stdout and process.stderr
            too_late = threading.Timer(_PATIENCE, process.kill)
            too_late.start()
            try:
                pid = process.stdout.readline().strip()
                if not pid.isdigit():
                    raise ValueError(_last_line(process.stderr.read()) or "bubblewrap opened no network")
                return _opened_of(int(pid))
            finally:
                process.stdin.close()
                too_late.cancel()

    def _require_leads_in(self, entry: NetworkEntry, network: int) -> None:
        """Raises ValueError or SubprocessError unless a command that goes that way is in this network."""
        bare = ("--unshare-all", "--share-net", "--dev-bind", "/", "/", "--proc", "/proc")
        tried = subprocess.run(
            (*entry.argv, self._bubblewrap, *bare, "/bin/sh", "-c", _WHERE),
            pass_fds=entry.descriptors,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_PATIENCE,
            check=False,
        )
        if tried.stdout.decode("utf-8", "replace").strip() != f"net:[{os.fstat(network).st_ino}]":
            raise ValueError(_last_line(tried.stderr) or "it can't be entered")


def _opened_of(pid: int) -> tuple[int, ...]:
    """Descriptors of the namespaces of this process. Raises OSError, or ValueError: it has Keen's network."""
    network = os.open(f"/proc/{pid}/ns/net", os.O_RDONLY | os.O_CLOEXEC)
    try:
        if _is_ours(network, "net"):
            raise ValueError("bubblewrap made no network")
        user = os.open(f"/proc/{pid}/ns/user", os.O_RDONLY | os.O_CLOEXEC)
    except (OSError, ValueError):
        os.close(network)
        raise
    if _is_ours(user, "user"):
        os.close(user)
        return (network,)
    return network, user


def _is_ours(descriptor: int, kind: str) -> bool:
    return os.path.samestat(os.fstat(descriptor), os.stat(f"/proc/self/ns/{kind}"))  # noqa: PTH116 - a pair of stats


def _entry(nsenter: str, shell: str, network: int, user: int | None = None) -> NetworkEntry:
    """The way in. The shell closes the descriptors, so that the command has none of ours."""
    joined, descriptors = [f"--net=/proc/self/fd/{network}"], [network]
    if user is not None:
        joined += [f"--user=/proc/self/fd/{user}", "--preserve-credentials"]
        descriptors.append(user)
    closing = " ".join(f"{each}<&-" for each in descriptors)
    argv = (nsenter, *joined, "--", shell, "-c", f'exec "$@" {closing}', "bash")
    return NetworkEntry(argv, tuple(descriptors))


def _last_line(said: bytes) -> str:
    return said.decode("utf-8", "replace").strip().rpartition("\n")[2]


def _close(descriptors: tuple[int, ...]) -> None:
    for descriptor in descriptors:
        os.close(descriptor)
