"""Plays a person at the keys: sends messages, writes, scrolls and folds while the program works."""

from __future__ import annotations

import time
from collections.abc import Iterator
from itertools import cycle

from keen_tui.demo.model_server import ModelServer
from tests.bench.actions import PAGE_UP, TO_END, WHEEL_DOWN, WHEEL_UP
from tests.bench.key_echo import read_for
from tests.bench.work_script import Work
from tests.support.terminal import TerminalProgram
from tests.support.waiting import LIMIT

FOLD_ALL, PANELS = "\x0f", "\x02"
HABITS = ("a", "b", "\x7f\x7f", WHEEL_UP * 3, WHEEL_DOWN, PAGE_UP, TO_END, FOLD_ALL, FOLD_ALL, PANELS, PANELS)


def turns(program: TerminalProgram, server: ModelServer, work: Work, *, busy: bool) -> Iterator[int]:
    """Play one turn after another, without end; yields the number of each finished one. `busy`: presses keys
    all the time."""
    habits = cycle(HABITS if busy else ("",))
    while True:
        wanted = work.turns + 1
        program.type(f"please do number {wanted}\r")
        end = time.monotonic() + LIMIT
        while work.turns < wanted or server.open_streams:
            if time.monotonic() > end:
                raise AssertionError(f"turn {wanted} isn't done after {LIMIT} s:\n{program.screen()}")
            program.type(next(habits))
            read_for(program, 0.1 if busy else 0.02)
        yield wanted
