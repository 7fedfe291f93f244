"""How long it takes until a key that is pressed is seen."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

from tests.support.terminal import TerminalProgram

_KEYS = "ÄÖÜß"
"""Characters that nothing else draws."""

_BACKSPACE = "\x7f"


def echo(program: TerminalProgram, key: str) -> float:
    """Seconds from the key to its echo."""
    seen, begin = len(program.output), time.perf_counter()
    program.type(key)
    return program.wait_for(key, since=seen) - begin


def echoes(program: TerminalProgram, goes_on: Callable[[int], bool], pause: float = 0.05) -> Iterator[float]:
    """Keys with a pause between them, each taken back again, for as long as it `goes_on` (given how many
    there were); gives the seconds until each was seen."""
    number = 0
    while goes_on(number):
        yield echo(program, _KEYS[number % len(_KEYS)])
        read_for(program, pause / 2)
        program.type(_BACKSPACE)
        read_for(program, pause / 2)
        number += 1


def read_for(program: TerminalProgram, seconds: float) -> None:
    """Read what is drawn, for that long."""
    end = time.perf_counter() + seconds
    while (left := end - time.perf_counter()) > 0:
        program.read(left)
