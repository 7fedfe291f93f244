"""What a program and every process below it use, for programs that are made of several processes."""

from __future__ import annotations

import os
import re
import signal
import time
from collections import defaultdict
from contextlib import suppress
from pathlib import Path

_SCHEDULED = 2
"""The type, in the id of a process clock, that counts scheduled time."""

_PSS = re.compile(r"^Pss:\s+(\d+) kB", re.MULTILINE)
_PARENT, _REAPED = 1, slice(13, 15)
"""Places in /proc/PID/stat, counted from the state: the parent, and the ticks of children that have ended."""


def members(root: int) -> list[int]:
    """The ids of the process and of all its descendants."""
    children: defaultdict[int, list[int]] = defaultdict(list)
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            children[int(_stat(int(folder.name))[_PARENT])].append(int(folder.name))
    found = [root]
    for each in found:  # grows meanwhile
        found += children[each]
    return found


def cpu(root: int) -> float:
    """CPU seconds of the processes that live, and of those of their children that have ended."""
    return sum(_cpu(each) for each in members(root))


def memory(root: int) -> float:
    """Megabytes of resident memory; a page that several processes share is divided among them."""
    return sum(_memory(each) for each in members(root)) / 1000


def end(root: int) -> None:
    """Kill them all, the process itself last, so that none is left without a parent."""
    for each in reversed(members(root)):
        with suppress(ProcessLookupError):
            os.kill(each, signal.SIGKILL)


def _cpu(process: int) -> float:
    with suppress(OSError):
        ended = sum(map(int, _stat(process)[_REAPED])) / os.sysconf("SC_CLK_TCK")
        return time.clock_gettime(~process << 3 | _SCHEDULED) + ended
    return 0.0


def _memory(process: int) -> int:
    with suppress(OSError):
        found = _PSS.search(Path(f"/proc/{process}/smaps_rollup").read_text())
        return int(found[1]) * 1024 // 1000 if found else 0
    return 0


def _stat(process: int) -> list[str]:
    """The fields behind the name, which may hold blanks."""
    return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
