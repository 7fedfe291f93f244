"""A session of 10,000 messages: continuing it, moving in it, adding to it, and its memory. A frame should
cost the same as at 100 messages, and after 2,000 calls of a turn the same as at its beginning."""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count
from typing import NamedTuple

from keen_tui.demo.model_server import ModelServer
from keen_tui.demo.script import Reply, Say
from keen_tui.demo.threaded import serving
from tests.bench import searching
from tests.bench.actions import (
    ENTER,
    PAGE_DOWN,
    PAGE_UP,
    TAB,
    TO_BEGINNING,
    TO_END,
    UP,
    WHEEL_DOWN,
    WHEEL_UP,
    back_to_composer,
    costs,
    costs_in_turn,
)
from tests.bench.figures import p95
from tests.bench.long_session import last_words, session_file, write_long_session
from tests.bench.programs import (
    HERE,
    IN_WORKSPACE,
    NOWHERE,
    PACKAGE,
    PROMPT_SIGN,
    Place,
    in_terminal,
    keen,
    place,
)
from tests.bench.streaming import text
from tests.bench.table import Row
from tests.support.terminal import TerminalProgram

MANY, FEW = 10_000, 100
ROUNDS = 5
FRAME = 16.0
"""Milliseconds of CPU that an action may take."""

_STREAMED, _TURNS = 200, 3
_CALLS = 2_000


def _replies() -> Iterator[Reply]:
    """Replies of a hundred deltas a second, each with a number in its first word and in its last."""
    for number in count(1):
        said = f"begin{number}\n\n{text('mixed Markdown', _STREAMED)}\n\nend{number}\n"
        yield Reply([Say(said)], pace=1 / 100)


def rows() -> Iterator[Row]:
    """All measurements."""
    with place() as empty, place() as many, place() as few:
        session = write_long_session(many, MANY)
        replies = _replies()
        short_session = write_long_session(few, FEW)
        yield from _resuming(empty, many, session)
        yield from _appending(few, many)
        with (
            serving(ModelServer(lambda _: next(replies))) as server,
            at_rest(few, short_session, server.base_url, FEW) as short,
            at_rest(many, session, server.base_url, MANY) as long,
        ):
            yield from _actions(short, long)
            yield from searching.rows(long, FRAME)
            yield from _streaming(short, long)


@contextmanager
def at_rest(where: Place, session: str, base_url: str, messages: int) -> Iterator[TerminalProgram]:
    """The program with that session, once the whole past is loaded."""
    with in_terminal(keen(base_url, "--resume", session), where) as program:
        wait_for_past(program, messages)
        yield program


def wait_for_past(program: TerminalProgram, messages: int) -> None:
    """Wait until the first message can be reached, and until nothing moves back at the end."""
    program.wait_for_screen(last_words(messages), seconds=120)
    while "question 1:" not in program.screen():
        program.come_to_rest(0.5)
        program.type(TO_BEGINNING)
        program.come_to_rest(0.2)
    program.type(TO_END)
    program.come_to_rest(1.0)


@dataclass(frozen=True, slots=True)
class Resumed:
    """CPU seconds from process start to the composer, to the newest reply (the workspace, where there is
    none) and to the whole past, and the megabytes then."""

    composer: list[float] = field(default_factory=list)
    newest: list[float] = field(default_factory=list)
    whole: list[float] = field(default_factory=list)
    memory: list[float] = field(default_factory=list)

    def add(self, where: Place, flags: Sequence[str], newest: str) -> None:
        """Start once more."""
        with in_terminal(keen(NOWHERE, *flags), where) as program:
            program.wait_for(PROMPT_SIGN)
            self.composer.append(program.cpu())
            program.wait_for_screen(newest)
            self.newest.append(program.cpu())
            program.come_to_rest(1.0)
            self.whole.append(program.cpu())
            self.memory.append(program.rss())


def _resuming(empty: Place, many: Place, session: str) -> Iterator[Row]:
    """CPU of all threads, and memory, through the terminal; empty and long starts alternate."""
    start, resumed = Resumed(), Resumed()
    for _ in range(ROUNDS):
        start.add(empty, (), IN_WORKSPACE)
        resumed.add(many, ("--resume", session), last_words(MANY))
    for what, ours, reference, against, budget in (
        ("resume to first paint", resumed.composer, start.composer, "empty start", 1.3),
        (
            "resume until the newest reply is seen",
            resumed.newest,
            start.newest,
            "empty start until its workspace is seen",
            1.3,
        ),
        ("resume until the whole past is there", resumed.whole, start.whole, "empty start", None),
    ):
        yield Row(
            what=f"10,000 messages: {what}",
            value=statistics.median(ours),
            unit="s CPU",
            reference=statistics.median(reference),
            against=against,
            budget=budget,
        )
    grown = statistics.median(resumed.memory) - statistics.median(start.memory)
    yield Row(what="10,000 messages: memory above an empty start", value=grown, unit="MB", budget=60)


_SCROLLS = (WHEEL_UP,) * 40 + (WHEEL_DOWN,) * 40
_BLOCKS_WALKED = 60
_PAGES = (PAGE_UP,) * 15 + (PAGE_DOWN,) * 15


def _actions(short: TerminalProgram, long: TerminalProgram) -> Iterator[Row]:
    """Wheel and keys through the terminal; CPU of the event loop's thread until it is at rest."""
    scrolls, reference = costs_in_turn(long, short, _SCROLLS)
    yield _budgeted("scroll three rows", scrolls)
    yield _compared("scroll", scrolls, reference)
    pages, reference = costs_in_turn(long, short, _PAGES)
    yield _budgeted("page", pages + costs(long, (PAGE_UP,) * 50))
    yield _compared("page", pages, reference)
    yield _known("jump to either end", costs(long, (TO_BEGINNING, TO_END) * 10))
    yield _budgeted("fold", _folds(long))


def _folds(program: TerminalProgram) -> list[float]:
    """Walk up with the block cursor, and unfold and fold every block that can fold."""
    program.type(TO_END)
    program.type(TAB)
    program.settle(0.3)
    found: list[float] = []
    for _ in range(_BLOCKS_WALKED):
        program.type(UP)
        program.settle(0.1)
        found += [each for each in costs(program, (ENTER, ENTER)) if each > 1.0]
    back_to_composer(program)
    return found


def _streaming(short: TerminalProgram, long: TerminalProgram) -> Iterator[Row]:
    """Turns of 100 deltas a second, alternating between the two programs."""
    numbers = range(1, 2 * _TURNS, 2)
    turns = [(_streamed(long, number), _streamed(short, number + 1)) for number in numbers]
    yield _compared("a streamed delta", [each.delta for each, _ in turns], [each.delta for _, each in turns])
    yield Row(
        what="10,000 messages: from Enter to the first word of a reply",
        value=statistics.median(each.begin for each, _ in turns),
        unit="ms CPU",
        reference=statistics.median(each.begin for _, each in turns),
        against="at 100 messages",
    )


class Streamed(NamedTuple):
    """Milliseconds of CPU of the event loop's thread: from Enter to the first word, and each delta then."""

    begin: float
    delta: float


def _streamed(program: TerminalProgram, number: int) -> Streamed:
    begin, seen = program.loop_cpu(), len(program.output)
    program.type("go on\r")
    program.wait_for(f"begin{number}", since=seen)
    first = program.loop_cpu()
    program.wait_for(f"end{number}", since=seen)
    last = program.loop_cpu()
    program.come_to_rest(0.5)
    return Streamed((first - begin) * 1000, (last - first) * 1000 / _STREAMED)


def _appending(few: Place, many: Place) -> Iterator[Row]:
    """Run in separate processes, which alternate; see frames.py."""
    short, long, called = list[float](), list[float](), list[float]()
    for _ in range(2):
        short += _appended(few, FEW)
        long += _appended(many, MANY)
        called += _appended(few, FEW, _CALLS)
    yield _budgeted("append a block", long)
    yield _compared("append a block", long, short)
    what = f"a turn of {_CALLS:,} calls: append a block"
    yield _against(what, called, short, "in a turn that has just begun")


def _appended(where: Place, messages: int, calls: int = 0) -> list[float]:
    """Milliseconds of CPU for each block that is appended to the session of that place, after so many calls
    of the newest turn."""
    script = (sys.executable, "-P", str(HERE / "frames.py"), str(PACKAGE))
    command = (*script, str(session_file(where)), last_words(messages), str(calls))
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    found: list[float] = json.loads(done.stdout)
    return found


def _budgeted(what: str, values: Sequence[float]) -> Row:
    name = f"10,000 messages: {what}, p95 of {len(values)}"
    return Row(what=name, value=p95(values), unit="ms CPU", budget=FRAME)


def _known(what: str, values: Sequence[float]) -> Row:
    return Row(what=f"10,000 messages: {what}, p95 of {len(values)}", value=p95(values), unit="ms CPU")


def _compared(what: str, long: Sequence[float], short: Sequence[float]) -> Row:
    return _against(f"10,000 messages: {what}", long, short, "at 100 messages")


def _against(what: str, values: Sequence[float], reference: Sequence[float], against: str) -> Row:
    return Row(
        what=what,
        value=statistics.median(values),
        unit="ms CPU",
        reference=statistics.median(reference),
        against=against,
        budget=1.2,
    )
