"""The cost of the program while nothing happens."""

from __future__ import annotations

from collections.abc import Iterator

from tests.bench.key_echo import read_for
from tests.bench.programs import PROMPT_SIGN, in_terminal, place, watched, workspace
from tests.bench.table import Row

SECONDS = 20


def rows() -> Iterator[Row]:
    """Processor, timers, memory."""
    with workspace() as program:
        before = program.cpu()
        read_for(program, SECONDS)
        used = (program.cpu() - before) / SECONDS * 100
        yield Row(what=f"idle for {SECONDS} s", value=used, unit="% CPU", budget=0.5)
        yield Row(what="memory after start", value=program.rss(), unit="MB", budget=160)
    yield _timers()


def _timers() -> Row:
    """The timers in the event loop, which has every timer of asyncio and of Textual."""
    with place() as new, in_terminal(watched("timers", new), new) as program:
        program.wait_for(PROMPT_SIGN)
        read_for(program, SECONDS)  # some seconds after the start the index of sessions is updated
        return Row(what="timers while idle", value=len(new.ask(program)["timers"]), unit="", budget=0)
