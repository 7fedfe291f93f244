"""Much output from bash: its cost in memory, and whether the program answers keys meanwhile."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterator, Mapping

from keen_tui.demo.model_server import ModelServer
from keen_tui.demo.script import Call, Reply, Say
from keen_tui.demo.threaded import serving
from tests.bench.key_echo import echo_rows, echoes
from tests.bench.programs import workspace
from tests.bench.table import Row

MOST_MEMORY = 50.0
"""Megabytes."""

MOST_ECHO = 33.0
"""Milliseconds, the same as while text streams."""

LONGEST_ECHO = 100.0

SECONDS = 10
"""How long the slower commands run."""

_LINE = "a line of output, as a build writes it, of eighty characters or so in all, no more"
_PIECES = """\
import sys, time
for number in range(100):
    sys.stdout.write({piece})
    sys.stdout.flush()
    time.sleep({seconds} / 100)
"""


def _in_pieces(piece: str) -> str:
    """A command that writes the piece (a Python expression) a hundred times in SECONDS."""
    code = _PIECES.format(piece=piece, seconds=SECONDS)
    return f"{shlex.quote(sys.executable)} -c {shlex.quote(code)}"


COMMANDS: Mapping[str, str] = {
    "1 GB as fast as it goes": f"yes '{_LINE}' | head -c 1000000000",
    "100,000 lines": _in_pieces(r"''.join(f'{number} {each}: compiled\n' for each in range(1000))"),
    "one line of 100 MB": _in_pieces("'x' * 1_000_000"),
}


def rows() -> Iterator[Row]:
    """All rows of each command."""
    for name, command in COMMANDS.items():
        yield from _rows(name, command)


def _rows(name: str, command: str) -> Iterator[Row]:
    """Peak memory of the program alone; key echoes in elapsed time through the terminal while the command
    runs."""
    call = Call("bash", {"command": command, "timeout": 600})
    server = ModelServer([Reply([call]), Reply([Say("All of it.")])])
    with serving(server), workspace(server.base_url) as program:
        program.forget_peak()
        before, cpu = program.rss(), program.loop_cpu()
        program.type("go\r")
        program.wait_until(lambda: bool(server.requests), "the first request", seconds=60)
        seen = list(echoes(program, lambda _: len(server.requests) < 2, pause=0.05))
        program.wait_for_screen("turn 1 done")
        grown, cpu = program.peak_rss() - before, program.loop_cpu() - cpu
    what = f"bash, {name}"
    yield Row(what=f"{what}: memory", value=grown, unit="MB", budget=MOST_MEMORY)
    yield from echo_rows(what, seen, MOST_ECHO)
    longest = max(each.own for each in seen)
    yield Row(what=f"{what}: longest key echo", value=longest, unit="ms", budget=LONGEST_ECHO)
    yield Row(what=f"{what}: processor of the event loop", value=cpu, unit="s CPU")
