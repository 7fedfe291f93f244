"""A small program beside ours that kills the commands that run when ours ends, however that happens.

Its standard input is a pipe that only our program holds: the system closes it with the program, also when
that is killed. Lines: `+ MARK` before a command starts, `+ MARK GROUP START` when it has, `- MARK` when
nothing of it is left. It runs in a session of its own, so that no terminal's signal reaches it.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterable

if __name__ == "__main__":  # isolated, it finds the standard library alone, which stays in front
    sys.path.append(os.fsdecode(os.path.realpath(f"{__file__}/../../../..")))

from keen_tui.tools.orphans.strays import can_find_strays, end_group, end_strays, start_of

_LOOKS, _PAUSE = 5, 0.05
"""How often it looks for what may have been starting at that moment, and seconds in between."""


def watch(lines: Iterable[bytes]) -> None:
    """Follow the lines to their end, then end what runs."""
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
