"""Finds processes that a command left behind, inside or outside its group, by a mark that they inherited.

This needs /proc, so it works on Linux; elsewhere only the process group is known. The module imports next to
nothing, because the watcher is a separate program that has to start quickly.
"""

from __future__ import annotations

import os
import resource
import signal
from collections.abc import Callable, Iterable

MARK = "KEEN_TUI_COMMAND"
"""Environment variable with a random text for each command; its descendants inherit it."""

_LEAST_LIMIT = 1 << 62
"""Microseconds of real-time scheduling, a limit that nothing reaches; its lower bits hold the mark."""

_QUIET_LOOKS = 2
"""The search ends after so many looks without a new process: during its exec a process is invisible."""
_QUIET_LOOKS_AFTER = 10
"""The same once any was found: processes that replace themselves again and again can be missed several times
in a row, since a look takes as long as one of their steps on a busy machine."""


def can_find_strays() -> bool:
    """Whether this system shows the environment of processes as files."""
    return os.path.exists("/proc/self/environ")  # noqa: PTH110 - see above


def mark_for_good(pid: int, mark: str) -> None:
    """Mark everything that the process starts from now on, whatever its environment. The mark is a
    hexadecimal number.

    The mark is stored in a resource limit, which all descendants inherit. Only on Linux; elsewhere this does
    nothing.
    """
    try:
        limit = _limit_of(mark)
        resource.prlimit(pid, resource.RLIMIT_RTTIME, (limit, limit))
    except (AttributeError, OSError, ValueError):
        pass  # only the mark in the environment is left


def _limit_of(mark: str) -> int:
    return _LEAST_LIMIT | (int(mark, 16) & (_LEAST_LIMIT - 1))


def start_of(pid: int) -> str:
    """The start time of a living process, as a text that distinguishes it from later ones with its number; ""
    for none."""
    if not can_find_strays():
        with os.popen(f"ps -o lstart= -p {int(pid)} 2>/dev/null") as told:
            return told.read().strip().replace(" ", "_")
    status = _status(pid)
    return status[19] if status and status[0] not in "ZX" else ""


def end_strays(group: int, mark: str, start: str = "") -> int:
    """Kill every living process of the group or with the mark, their children, and what they fork meanwhile.
    Returns their number. With a `start` the group counts only while its leader, which started then,
    exists."""
    ended: set[int] = set()
    quiet = 0
    while quiet < (_QUIET_LOOKS_AFTER if ended else _QUIET_LOOKS):
        found = living(group, mark, start, kill) - ended
        for pid in found:
            kill(pid)
        ended |= found
        quiet = 0 if found else quiet + 1
    return len(ended)


def end_group(group: int) -> None:
    """Kill a process group."""
    try:
        os.killpg(group, signal.SIGKILL)
    except OSError:
        pass  # it is empty


def kill(pid: int) -> None:
    """Kill a process."""
    try:
        os.kill(pid, signal.SIGKILL)
    except OSError:
        pass  # it has ended


def signal_others(leader: int, number: signal.Signals) -> None:
    """Send a signal to the processes of a group, but not to its leader."""
    for pid in _processes():
        status = _status(pid)
        if pid != leader and status and _is_in(leader, status):
            try:
                os.kill(pid, number)
            except OSError:
                pass  # it has ended


def living(
    group: int, mark: str, start: str = "", at_once: Callable[[int], None] = lambda pid: None
) -> set[int]:
    """The living processes of a command: its group, the processes with its mark, and the children of all
    these. `at_once` gets one as soon as it is found: it may give its place to a child at any moment.

    With a `start` the group counts only while its leader exists: later, other processes may have its
    number."""
    variable = f"{MARK}={mark}".encode()
    limit = str(_limit_of(mark)).encode()
    if start and not _has_started(group, start):
        group = 0
    found: set[int] = set()
    children: dict[int, list[int]] = {}
    for pid in _processes():
        status = _status(pid)
        if not status or status[0] in "ZX":
            continue
        children.setdefault(int(status[1]), []).append(pid)
        if (group and _is_in(group, status)) or variable in _environ(pid) or limit in _limits(pid):
            at_once(pid)
            found.add(pid)
    return _with_children(found, children)


def _has_started(pid: int, start: str) -> bool:
    status = _status(pid)
    return status is not None and status[19] == start


def _with_children(found: Iterable[int], children: dict[int, list[int]]) -> set[int]:
    all_found, left = set(found), list(found)
    while left:
        more = [pid for pid in children.get(left.pop(), ()) if pid not in all_found]
        all_found.update(more)
        left += more
    return all_found


def _processes() -> Iterable[int]:
    try:
        return [int(name) for name in os.listdir("/proc") if name.isdecimal()]  # noqa: PTH208 - see above
    except OSError:
        return ()


def _status(pid: int) -> list[str] | None:
    """The fields of a process after its name: state, parent, group, session, ...; the 20th is its start
    time."""
    text = _content(f"/proc/{pid}/stat").decode("utf-8", "replace")
    return text.rpartition(")")[2].split() or None


def _is_in(group: int, status: list[str]) -> bool:
    """Whether the process is alive and in the group. A zombie is in a group, but isn't alive."""
    return int(status[2]) == group and status[0] not in "ZX"


def _environ(pid: int) -> list[bytes]:
    return _content(f"/proc/{pid}/environ").split(b"\0")


def _limits(pid: int) -> list[bytes]:
    return _content(f"/proc/{pid}/limits").split()


def _content(file: str) -> bytes:
    try:
        descriptor = os.open(file, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return b""
    try:
        pieces = []
        while piece := os.read(descriptor, 65_536):
            pieces.append(piece)
        return b"".join(pieces)
    except OSError:
        return b""
    finally:
        os.close(descriptor)
