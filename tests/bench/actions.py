"""The cost of an action: CPU time of the event loop's thread from the key until everything is painted and at
rest."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from tests.support.terminal import TerminalProgram

WHEEL_UP, WHEEL_DOWN = "\x1b[<64;40;12M", "\x1b[<65;40;12M"
PAGE_UP, PAGE_DOWN = "\x1b[5~", "\x1b[6~"
TO_BEGINNING, TO_END = "\x1b[1;5H", "\x1b[1;5F"
TAB, UP, ENTER, ESC, FIND = "\t", "\x1b[A", "\r", "\x1b", "\x06"

_QUIET = 0.04
_BEGUN, _NOTHING = 0.000_3, 0.000_1
"""CPU seconds above which an action has begun, and below which the program is at rest."""


def cost(program: TerminalProgram, deed: Callable[[], None], *, patience: float = 1.0) -> float:
    """Milliseconds of CPU that the deed costs; 0 if nothing happens within `patience` seconds."""
    begin, until = program.loop_cpu(), time.monotonic() + patience
    deed()
    now = begin
    while True:
        program.settle(_QUIET)
        before, now = now, program.loop_cpu()
        if now - before < _NOTHING and (now - begin > _BEGUN or time.monotonic() > until):
            return (now - begin) * 1000


def cost_of_key(program: TerminalProgram, key: str) -> float:
    """Milliseconds of CPU that the key costs."""
    return cost(program, lambda: program.type(key))


def costs(program: TerminalProgram, keys: Sequence[str]) -> list[float]:
    """Milliseconds of CPU for each of the keys."""
    return [cost_of_key(program, key) for key in keys]


def costs_in_turn(
    one: TerminalProgram, other: TerminalProgram, keys: Sequence[str]
) -> tuple[list[float], list[float]]:
    """The same in two programs, alternating for each key, because the speed of the machine varies."""
    pairs = [(cost_of_key(one, key), cost_of_key(other, key)) for key in keys]
    return [first for first, _ in pairs], [second for _, second in pairs]


def back_to_composer(program: TerminalProgram) -> None:
    """Return the focus to the composer, and go to the end of the transcript."""
    for key in (ESC, TO_END):  # read together, they would be another key
        program.type(key)
        program.come_to_rest(0.3)
