"""A session of very many turns in the real program: memory, stalls and processor over time.

MINUTES is its length. Writes out/soak.md and out/soak.json, one line for each slice of turns, as soon as the
slice is done.
"""

from __future__ import annotations

import json
import statistics
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from keen_tui.demo.model_server import ModelServer
from keen_tui.demo.threaded import serving
from tests.bench.driving import turns
from tests.bench.figures import slope, tenths
from tests.bench.long_session import session_file
from tests.bench.programs import PROMPT_SIGN, Place, in_terminal, place, watched
from tests.bench.stalls import longest_collection, minutes, worst_stall
from tests.bench.table import Row
from tests.bench.work_script import MESSAGES_A_TURN, Work
from tests.support.terminal import TerminalProgram

OUT = Path("out")
SLICE = 50
"""Turns in a slice."""

WINDOW = 40_000
"""Tokens: the conversation is summarised every few dozen turns, as in a real session of that length."""

MEMORY_A_MESSAGE = 60.0 / 10_000
"""Megabytes that a message may take, from the budget for 10,000 messages."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Slice:
    """The measurements of some turns. CPU times are milliseconds per turn, of all threads and of the event
    loop's; stalls and garbage collections are the longest ones, in milliseconds."""

    turns: int
    seconds: float
    memory: float
    processor: float
    loop: float
    stall: float
    collection: float
    file: float


def rows() -> Iterator[Row]:
    """Turn after turn in a terminal, as fast as possible; then the results of the slices."""
    with place() as new:
        (new.home / "settings.toml").write_text(f"context_window = {WINDOW}\n")
        slices = []
        for each in _slices(new, minutes(10) * 60):
            slices.append(each)
            write(slices)
            print(_line(each), file=sys.stderr)
    yield from _verdicts(slices)


def _slices(where: Place, seconds: float) -> Iterator[Slice]:
    work = Work()
    work.lay_out(where.work)
    with (
        serving(ModelServer(work)) as server,
        in_terminal(watched("stalls", where, server.base_url), where) as program,
    ):
        program.wait_for(PROMPT_SIGN)
        program.come_to_rest(1.0)
        where.ask(program)
        begin = time.monotonic()
        cpu, loop = program.cpu(), program.loop_cpu()
        for turn in turns(program, server, work, busy=False):
            server.requests.clear()
            program.forget_output()
            if turn % SLICE:
                continue
            passed = time.monotonic() - begin
            used = program.cpu() - cpu, program.loop_cpu() - loop
            yield _slice(where, program, turn, passed, used)
            cpu, loop = program.cpu(), program.loop_cpu()
            if passed > seconds:
                break
        program.come_to_rest(1.0)
        work.check(session_file(where))


def _slice(
    where: Place, program: TerminalProgram, turn: int, passed: float, used: tuple[float, float]
) -> Slice:
    seen = where.ask(program)
    return Slice(
        turns=turn,
        seconds=passed,
        memory=program.rss(),
        processor=used[0] / SLICE * 1000,
        loop=used[1] / SLICE * 1000,
        stall=worst_stall(seen),
        collection=longest_collection(seen),
        file=session_file(where).stat().st_size / 1e6,
    )


def _verdicts(slices: Sequence[Slice]) -> Iterator[Row]:
    """The results. The growth of memory ignores the first slice, in which much is loaded."""
    last = slices[-1]
    whole = f"{last.turns:,} turns, {last.seconds / 60:.0f} min"
    settled = slices[1:] if len(slices) > 2 else slices
    grown = slope([each.turns for each in settled], [each.memory for each in settled]) * 1000
    yield Row(
        what=f"soak, {whole}: memory for 1,000 turns",
        value=grown,
        unit="MB",
        budget=MEMORY_A_MESSAGE * MESSAGES_A_TURN * 1000,
    )
    first, latest = tenths([each.processor for each in slices])
    yield Row(
        what="soak: a turn in the last tenth",
        value=latest,
        unit="ms CPU",
        reference=first,
        against="in the first tenth",
        budget=1.2,
    )
    first, latest = tenths([each.loop for each in slices])
    yield Row(
        what="soak: the same in the event loop",
        value=latest,
        unit="ms CPU",
        reference=first,
        against="in the first tenth",
        budget=1.2,
    )
    yield Row(what="soak: worst stall", value=max(each.stall for each in slices), unit="ms CPU", budget=50)
    typical = statistics.median(each.stall for each in slices)
    yield Row(what=f"soak: worst stall of {SLICE} turns, median", value=typical, unit="ms CPU")


def write(slices: Sequence[Slice], folder: Path = OUT) -> None:
    """Write soak.md and soak.json."""
    folder.mkdir(exist_ok=True)
    head = (
        "| turns | minutes | memory MB | ms CPU a turn | of them in the event loop | worst stall ms | "
        "longest collection ms | session file MB |\n|" + "---:|" * 8
    )
    (folder / "soak.md").write_text("\n".join([head, *map(_line, slices)]) + "\n")
    (folder / "soak.json").write_text(json.dumps([asdict(each) for each in slices], indent=2) + "\n")


def _line(each: Slice) -> str:
    return (
        f"| {each.turns:,} | {each.seconds / 60:.1f} | {each.memory:.1f} | {each.processor:.0f} | "
        f"{each.loop:.0f} | {each.stall:.0f} | {each.collection:.1f} | {each.file:.1f} |"
    )
