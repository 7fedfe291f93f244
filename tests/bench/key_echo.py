"""The time from a key to its echo."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from tests.bench.figures import p95
from tests.bench.table import Row
from tests.support.terminal import TerminalProgram
from tests.support.waiting import wait_until

_KEYS = "ÄÖÜß"
"""Characters that appear nowhere else."""

_BACKSPACE = "\x7f"

_LETTERS = [chr(code) for code in (*range(0x100, 0x130), *range(0x3B1, 0x3CA), *range(0x400, 0x460))]
"""Different letters of one column, which appear nowhere else."""


@dataclass(frozen=True, slots=True)
class Echo:
    """Milliseconds from a key to its echo, and the part of it for which the event loop's thread, or the
    thread here that reads the terminal, was ready but got no processor, because of other programs."""

    whole: float
    queued: float

    @property
    def own(self) -> float:
        """The time without that part."""
        return max(self.whole - self.queued, 0.0)


def echo(program: TerminalProgram, key: str) -> Echo:
    """Press a key and wait for its echo."""
    seen, queued, begin = len(program.output), program.queued(), time.perf_counter()
    program.type(key)
    end = program.wait_for(key, since=seen)
    return Echo((end - begin) * 1000, (program.queued() - queued) * 1000)


def echoes(program: TerminalProgram, goes_on: Callable[[int], bool], pause: float = 0.05) -> Iterator[Echo]:
    """Press keys with a pause of so many seconds, and delete each again, as long as `goes_on` (called with
    their number) says so."""
    number = 0
    while goes_on(number):
        yield echo(program, _KEYS[number % len(_KEYS)])
        read_for(program, pause / 2)
        program.type(_BACKSPACE)
        read_for(program, pause / 2)
        number += 1


def blind_echoes(program: TerminalProgram, goes_on: Callable[[], bool], pause: float) -> list[Echo]:
    """Press one of `_LETTERS` after another, with a pause of so many seconds, whether the echo of the one
    before has come or not, as long as `goes_on` says so."""
    pressed: dict[str, tuple[float, float]] = {}
    found: dict[str, Echo] = {}
    next_at = time.perf_counter()

    def take(seconds: float) -> None:
        seen = max(len(program.output) - 1, 0)
        if not program.read(max(seconds, 0)):
            return
        now, queued, new = time.perf_counter(), program.queued(), bytes(program.output[seen:])
        for key in pressed.keys() - found.keys():
            if key.encode() in new:
                at, before = pressed[key]
                found[key] = Echo((now - at) * 1000, (queued - before) * 1000)

    for key in _LETTERS:
        if not goes_on():
            break
        program.type(key)
        pressed[key] = time.perf_counter(), program.queued()
        next_at = max(next_at + pause, time.perf_counter())
        while (left := next_at - time.perf_counter()) > 0:
            take(left)
    wait_until(lambda: len(found) == len(pressed), moment=lambda: take(0.05))
    return [*found.values()]


def echo_rows(what: str, seen: Sequence[Echo], budget: float | None) -> Iterator[Row]:
    """The p95 against a budget in milliseconds, and the elapsed time."""
    if not seen:
        raise AssertionError(f"no key was pressed: {what}")
    name = f"{what}: key echo p95 of {len(seen)}"
    yield Row(what=name, value=p95([each.own for each in seen]), unit="ms", budget=budget)
    whole = p95([each.whole for each in seen])
    yield Row(what=f"{what}: the same, with waiting for a processor", value=whole, unit="ms")


def read_for(program: TerminalProgram, seconds: float) -> None:
    """Read the output for that time."""
    end = time.perf_counter() + seconds
    while (left := end - time.perf_counter()) > 0:
        program.read(left)
