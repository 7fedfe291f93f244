"""Searching a session for words: the cost of each key, and of each step to another match."""

from __future__ import annotations

import re
import statistics
from collections.abc import Iterator

from tests.bench.actions import FIND, UP, back_to_composer, cost_of_key, costs
from tests.bench.figures import p95
from tests.bench.table import Row
from tests.support.terminal import TerminalProgram

WORDS = "tax rounds currency"
"""Words in the made-up texts of a long session: thousands of matches at first, few at the end."""

_TALLY = re.compile(r"[\d,]+ of [\d,]+|no matches")
_STEPS = 30


def rows(program: TerminalProgram, frame: float) -> Iterator[Row]:
    """Keys through the terminal, each until all its matches are counted and shown; CPU of the loop's
    thread."""
    program.screen()  # reading all output takes the terminal a while
    program.type(FIND)
    try:
        program.wait_for_screen("words in this session", seconds=5)
    except TimeoutError:  # a program without a search
        return
    keys = []
    for key in WORDS:
        keys.append(cost_of_key(program, key))
        program.wait_until(lambda: bool(_TALLY.search(program.screen())), "the number of hits", seconds=30)
    steps = costs(program, [UP] * _STEPS)
    back_to_composer(program)
    yield Row(
        what="10,000 messages: search, a key until all hits are counted and shown",
        value=statistics.median(keys),
        unit="ms CPU",
    )
    yield Row(what="10,000 messages: search, the slowest key", value=max(keys), unit="ms CPU")
    yield Row(
        what=f"10,000 messages: search, to the next hit, p95 of {len(steps)}",
        value=p95(steps),
        unit="ms CPU",
        budget=frame,
    )
