"""The cost of thousands of saved sessions for a turn without a screen, a start, a resume, the list, the
search and the sum of what they used."""

from __future__ import annotations

import os
import resource
import sqlite3
import statistics
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, suppress
from typing import NamedTuple

from keen_tui.demo.model_server import ModelServer
from keen_tui.demo.script import Reply, Say
from keen_tui.demo.threaded import serving
from tests.bench.actions import ESC
from tests.bench.many_sessions import MANY, write_many_sessions
from tests.bench.programs import NOWHERE, PACKAGE, PROMPT_SIGN, Place, in_terminal, keen, place
from tests.bench.table import Row
from tests.support.terminal import TerminalProgram

ROUNDS = 5
_LIST, _ALL_FOLDERS, _IN_WORDS, _CLEAR = "\x1bOR", "\t", "\x06", "\x15"
_INDEX = "index/sessions-1.sqlite"
_USAGE = keen(NOWHERE, "usage", "--days", "36500")
_SEARCHES = {
    "a word of every session": ("discount", "200 places"),
    "a word that stands nowhere": ("zzqqxx", "No session contains these words"),
    "common words that stand nowhere together": ("discount the rate of", "No session contains these words"),
}
"""The text that is typed in one go, and the text on the screen when the search is complete."""


class Spent(NamedTuple):
    """The time for a key, in seconds."""

    cpu: float
    clock: float


def rows() -> Iterator[Row]:
    """All measurements. The home with one session alternates with that of thousands; both have the same
    session."""
    with place() as one, place() as many:
        write_many_sessions(one, 1)
        write_many_sessions(many)
        yield from _lists_and_searches(many)
        yield from _without_screen(one, many)
        yield from _starts(one, many)
        yield from _usage(one, many)


def _without_screen(one: Place, many: Place) -> Iterator[Row]:
    with serving(ModelServer(lambda _: Reply([Say("Hello.")]))) as server:
        for what, flags in (("-p", ()), ("-p --continue", ("--continue",))):
            few, lots = [], []
            for _ in range(ROUNDS):
                few.append(_cpu_of(one, keen(server.base_url, "-p", "hi", *flags)))
                lots.append(_cpu_of(many, keen(server.base_url, "-p", "hi", *flags)))
            yield _against_one(what, lots, few)


def _starts(one: Place, many: Place) -> Iterator[Row]:
    """CPU of all threads until the composer appears, and until the newest reply appears after --continue."""
    for what, flags, words in (
        ("start to first paint", (), PROMPT_SIGN),
        ("--continue until the newest reply is seen", ("--continue",), "Hello."),
    ):
        few, lots = [], []
        for _ in range(ROUNDS):
            few.append(_cpu_until(one, flags, words))
            lots.append(_cpu_until(many, flags, words))
        yield _against_one(what, lots, few)


def _usage(one: Place, many: Place) -> Iterator[Row]:
    """`keen-tui usage` of all days: the first time each file is read, later the index is."""
    first = _cpu_of(many, _USAGE)
    yield Row(what=f"{MANY:,} sessions: usage, read from the files", value=first, unit="s CPU")
    few, lots = [], []
    for _ in range(ROUNDS):
        few.append(_cpu_of(one, _USAGE))
        lots.append(_cpu_of(many, _USAGE))
    yield _against_one("usage", lots, few, budget=2.0)


def _lists_and_searches(many: Place) -> Iterator[Row]:
    """From a key until its result is on the screen, in CPU seconds of all threads and in elapsed time,
    without the index and with it."""
    with in_terminal(keen(NOWHERE), many) as program:
        program.wait_for(PROMPT_SIGN)
        program.come_to_rest(0.3)
        newest = _until(program, _LIST, "1 turn")
        yield from _key("the newest in the list, before anything is indexed", [newest])
        yield from _key("all folders, before anything is indexed", [_all_folders(program)], None)
        _close(program)
        program.wait_until(lambda: _is_built(many), "the index", seconds=600)
        program.come_to_rest(1.0)
        yield Row(what=f"{MANY:,} sessions: CPU until all is indexed", value=program.cpu(), unit="s CPU")
        lists, folders = [], []
        searches: dict[str, list[Spent]] = {what: [] for what in _SEARCHES}
        for _ in range(ROUNDS):
            lists.append(_until(program, _LIST, "2,500 sessions"))
            folders.append(_all_folders(program))
            program.type(_IN_WORDS)
            for what, (words, seen) in _SEARCHES.items():
                searches[what].append(_search(program, words, seen))
            program.type(ESC)
            program.come_to_rest(0.2)
            _close(program)
        yield from _key("the list", lists)
        yield from _key("all folders", folders)
        for what, times in searches.items():
            yield from _key(f"search for {what}", times)
        yield Row(what=f"{MANY:,} sessions: memory after that", value=program.rss(), unit="MB", budget=160)
    yield Row(
        what=f"{MANY:,} sessions: size of the index",
        value=_megabytes(many, "index/*"),
        unit="MB",
        reference=_megabytes(many, "sessions/*/*.jsonl"),
        against="session files",
    )


def _cpu_of(where: Place, argv: tuple[str, ...]) -> float:
    """CPU seconds of a program without a screen, from its start to its end."""
    environ = {**os.environ, "KEEN_HOME": str(where.home), "PYTHONPATH": str(PACKAGE)}
    before = _children()
    subprocess.run(
        argv, cwd=where.work, env=environ, capture_output=True, stdin=subprocess.DEVNULL, check=True
    )
    return _children() - before


def _children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _cpu_until(where: Place, flags: tuple[str, ...], words: str) -> float:
    with in_terminal(keen(NOWHERE, *flags), where) as program:
        program.wait_for_screen(words)
        return program.cpu()


def _until(program: TerminalProgram, key: str, words: str) -> Spent:
    """The time from the key until the words are on the screen."""
    cpu, begun = program.cpu(), time.perf_counter()
    program.type(key)
    program.wait_for_screen(words)
    return Spent(program.cpu() - cpu, time.perf_counter() - begun)


def _all_folders(program: TerminalProgram) -> Spent:
    return _until(program, _ALL_FOLDERS, f"{MANY:,} sessions")


def _search(program: TerminalProgram, words: str, seen: str) -> Spent:
    """The time from the first letter of the words."""
    spent = _until(program, words, seen)
    program.type(_CLEAR)
    program.wait_for_screen("Type words to search for in all sessions.")
    program.come_to_rest(0.3)
    return spent


def _close(program: TerminalProgram) -> None:
    program.type(ESC)
    program.come_to_rest(0.3)


def _is_built(where: Place) -> bool:
    """Whether the text of every session is indexed."""
    with suppress(sqlite3.Error), closing(sqlite3.connect(where.home / _INDEX, timeout=1)) as database:
        return bool(database.execute("SELECT count(*) >= ? FROM texts", (MANY,)).fetchone()[0])
    return False


def _megabytes(where: Place, pattern: str) -> float:
    return sum(file.stat().st_size for file in where.home.glob(pattern)) / 1e6


def _against_one(what: str, many: list[float], one: list[float], budget: float = 1.2) -> Row:
    return Row(
        what=f"{MANY:,} sessions: {what}",
        value=statistics.median(many),
        unit="s CPU",
        reference=statistics.median(one),
        against="one session",
        budget=budget,
    )


def _key(what: str, spent: Sequence[Spent], budget: float | None = 0.3) -> Iterator[Row]:
    cpu, clock = (statistics.median(each) for each in zip(*spent, strict=True))
    yield Row(what=f"{MANY:,} sessions: {what}", value=cpu, unit="s CPU", budget=budget)
    yield Row(what="the same by the clock", value=clock, unit="s")
