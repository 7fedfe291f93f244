"""Processes that a command left behind, in its group or outside, found by a mark in their environment.

Only where /proc shows processes as files, which is Linux.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

MARK = "KEEN_TUI_COMMAND"
"""Environment variable that holds a random text for each command; its descendants inherit it."""

_PROCESSES = Path("/proc")
_QUIET_LOOKS = 2
"""Looks without a new find that end the search: for the moment of its exec a process is invisible."""


def can_find_strays() -> bool:
    """Whether this system shows the environment of processes as files."""
    return (_PROCESSES / "self/environ").exists()


def end_strays(group: int, mark: str) -> int:
    """Kill every living process of the group or with the mark, and what it forks meanwhile; says how many."""
    ended: set[int] = set()
    quiet = 0
    while quiet < _QUIET_LOOKS:
        found = set(_living(group, f"{MARK}={mark}".encode())) - ended
        for pid in found:
            with suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        ended |= found
        quiet = 0 if found else quiet + 1
    return len(ended)


def signal_others(leader: int, number: signal.Signals) -> None:
    """Send a signal to the processes of a group, but not to its leader."""
    for entry in _PROCESSES.iterdir():
        if entry.name.isdecimal() and entry.name != str(leader):
            with suppress(OSError):
                if _is_in(leader, entry):
                    os.kill(int(entry.name), number)


def _living(group: int, variable: bytes) -> Iterator[int]:
    for entry in _PROCESSES.iterdir():
        if entry.name.isdecimal():
            with suppress(OSError):
                if _is_in(group, entry) or variable in (entry / "environ").read_bytes().split(b"\0"):
                    yield int(entry.name)


def _is_in(group: int, process: Path) -> bool:
    """Whether the process lives and is of the group. A zombie is of a group, but does not live."""
    state, _, its_group, *_ = (process / "stat").read_text("utf-8", "replace").rpartition(")")[2].split()
    return int(its_group) == group and state not in "ZX"
