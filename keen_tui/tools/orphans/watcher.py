"""A small program beside Keen that kills running commands when Keen ends, for whatever reason.

Its standard input is a pipe that only Keen has open: the system closes it when Keen ends, even if it is
killed. Lines: `+ MARK` before a command starts, `+ MARK GROUP START` after it has started, `- MARK` when all
of its processes have ended. The watcher runs in its own session, so that no signal of a terminal reaches it.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterable

if __name__ == "__main__":  # isolated, it finds only the standard library, which stays first
    sys.path.append(os.fsdecode(os.path.realpath(f"{__file__}/../../../..")))

from keen_tui.tools.orphans.strays import can_find_strays, end_group, end_strays, start_of

_LOOKS, _PAUSE = 5, 0.05
"""How often it looks for processes that were just starting, and the seconds in between."""


def watch(lines: Iterable[bytes]) -> None:
    """Read the lines to their end, then kill what runs."""
    running: dict[str, tuple[int, str]] = {}
    for line in lines:
        sign, mark, *leader = line.decode().split()
        if sign == "-":
            running.pop(mark, None)
        else:
            running[mark] = (int(leader[0]), leader[1] if leader[1:] else "") if leader else (0, "")
    for _ in range(_LOOKS if running else 0):
        for mark, (group, start) in running.items():
            _end(group, mark, start)
        time.sleep(_PAUSE)


def _end(group: int, mark: str, start: str) -> None:
    if can_find_strays():
        end_strays(group, mark, start)
    elif group and start_of(group) == start:
        end_group(group)


if __name__ == "__main__":
    os.chdir("/")
    watch(sys.stdin.buffer)
