"""Commands in the background that print, and searches of one step that run side by side."""

from __future__ import annotations

import asyncio
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from keen_tui.demo.model_server import ModelServer
from keen_tui.demo.script import Call, Reply, Say
from keen_tui.demo.threaded import serving
from keen_tui.domain.events import ToolFinished
from tests.bench.key_echo import echo_rows, echoes
from tests.bench.programs import workspace
from tests.bench.table import Row
from tests.bench.tool_output import LONGEST_ECHO, MOST_ECHO, MOST_MEMORY
from tests.support.agent import at_work

SECONDS = 10.0
"""How long keys are typed beside the commands."""

_PRINTING = "while :; do seq 200; sleep 0.02; done"
_COMMANDS = 4
_SEARCHES = 30
_FILES = 3_000


def rows() -> Iterator[Row]:
    """All rows."""
    yield from _printing()
    yield asyncio.run(_searches())


def _printing() -> Iterator[Row]:
    """Peak memory of the program alone; key echoes in elapsed time through the terminal."""
    call = Call("bash", {"command": _PRINTING, "background": True})
    server = ModelServer([Reply([call] * _COMMANDS), Reply([Say("They run.")])])
    with serving(server), workspace(server.base_url) as program:
        program.forget_peak()
        before = program.rss()
        program.type("go\r")
        program.wait_for_screen("turn 1 done", "4 in background", seconds=60)
        end = time.monotonic() + SECONDS
        seen = list(echoes(program, lambda _: time.monotonic() < end, pause=0.05))
        grown = program.peak_rss() - before
    what = f"{_COMMANDS} commands in the background that print"
    yield Row(what=f"{what}: memory", value=grown, unit="MB", budget=MOST_MEMORY)
    yield from echo_rows(what, seen, MOST_ECHO)
    longest = max(each.own for each in seen)
    yield Row(what=f"{what}: longest key echo", value=longest, unit="ms", budget=LONGEST_ECHO)


async def _searches() -> Row:
    """The time of a turn whose one step has thirty searches, against the longest of them and a fifth of
    their sum."""
    calls = [Call("grep_files", {"pattern": f"word{number} .*tax"}) for number in range(_SEARCHES)]
    with tempfile.TemporaryDirectory() as folder:
        for number in range(_FILES):
            Path(folder, f"file{number}.txt").write_text("a line about the tax of an order\n" * 200)
        async with at_work([Reply(calls), Reply([Say("Done.")])], Path(folder)) as bench:
            turn = await bench.ask("search")
            took = [each.seconds for each in bench.log.of(ToolFinished)]
    return Row(
        what=f"{_SEARCHES} searches of one step",
        value=turn.seconds,
        unit="s",
        budget=1.0,
        reference=max(took) + sum(took) / 5,
        against="the longest and a fifth of the sum",
    )
