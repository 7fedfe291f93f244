"""A storm of resizes in a session of 10,000 messages."""

from __future__ import annotations

import statistics
from collections.abc import Iterator

from tests.bench.actions import cost
from tests.bench.figures import p95
from tests.bench.key_echo import read_for
from tests.bench.length import FEW, MANY, at_rest
from tests.bench.long_session import write_long_session
from tests.bench.programs import NOWHERE, place
from tests.bench.table import Row
from tests.support.terminal import TerminalProgram

SIZES = tuple((80 + 7 * number % 60, 24 + 5 * number % 20) for number in range(100))
LAST = (97, 31)
SINGLE = 40


def rows() -> Iterator[Row]:
    """Single resizes, each until the program is at rest; then a hundred within two seconds."""
    with (
        place() as few,
        place() as many,
        at_rest(few, write_long_session(few, FEW), NOWHERE, FEW) as short,
        at_rest(many, write_long_session(many, MANY), NOWHERE, MANY) as long,
    ):
        pairs = [(_resized(long, size), _resized(short, size)) for size in SIZES[:SINGLE]]
        single, reference = [one for one, _ in pairs], [other for _, other in pairs]
        yield Row(
            what="a resize at 10,000 messages",
            value=statistics.median(single),
            unit="ms CPU",
            reference=statistics.median(reference),
            against="at 100 messages",
        )
        yield Row(what=f"the same, p95 of {len(single)}", value=p95(single), unit="ms CPU")
        yield Row(
            what="100 resizes within 2 s, each", value=cost(long, lambda: _storm(long)) / 100, unit="ms CPU"
        )
        yield Row(what="rows painted wrong afterwards", value=_wrong_rows(long), unit="", budget=0)


def _resized(program: TerminalProgram, size: tuple[int, int]) -> float:
    """CPU of the event loop's thread."""
    return cost(program, lambda: program.resize(*size))


def _storm(program: TerminalProgram) -> None:
    for size in (*SIZES, LAST):
        program.resize(*size)
        read_for(program, 0.02)


def _wrong_rows(program: TerminalProgram) -> int:
    """The number of rows that differ from those painted after a single resize to the same size."""
    program.come_to_rest(0.5)
    after_storm = program.screen().splitlines()
    for size in ((100, 30), LAST):
        program.resize(*size)
        program.come_to_rest(0.5)
    return sum(one != other for one, other in zip(after_storm, program.screen().splitlines(), strict=True))
