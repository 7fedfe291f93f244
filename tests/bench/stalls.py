"""The longest time for which the event loop is kept from its timers, in a scripted session."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from statistics import median
from typing import Any

from keen_tui.demo.model_server import ModelServer
from keen_tui.demo.threaded import serving
from tests.bench.driving import turns
from tests.bench.long_session import session_file
from tests.bench.programs import PROMPT_SIGN, in_terminal, place, watched
from tests.bench.table import Row
from tests.bench.work_script import Work

MOST = 50.0
"""Milliseconds."""

PACE = 1 / 300
WINDOW = 200_000
"""Tokens that the scripted model takes."""
_PART = 30.0
"""Seconds whose longest stall is reported by itself."""


def minutes(default: float) -> float:
    """The length of a session in minutes: MINUTES from the environment."""
    return float(os.environ.get("MINUTES", default))


def rows() -> Iterator[Row]:
    """The real program in a terminal, with a timer of 5 ms in its event loop. The CPU time of the loop's
    thread between two beats is the time that it worked without checking its timers, plus up to 5 ms. A busy
    person writes, scrolls and folds meanwhile. The full length is MINUTES=10; what grows with a session isn't
    seen in one minute."""
    work, length = Work(pace=PACE), minutes(3)
    with serving(ModelServer(work)) as server, place() as new:
        work.lay_out(new.work)
        (new.home / "settings.toml").write_text(f"context_window = {WINDOW}\n")
        with in_terminal(watched("stalls", new, server.base_url), new) as program:
            program.wait_for(PROMPT_SIGN)
            program.come_to_rest(1.0)
            start = new.ask(program)
            begin = time.monotonic()
            parts: list[dict[str, Any]] = []
            for _ in turns(program, server, work, busy=True):
                passed = time.monotonic() - begin
                if passed > length * 60:
                    break
                if passed > (len(parts) + 1) * _PART:
                    parts.append(new.ask(program))
            program.come_to_rest(1.0)
            parts.append(new.ask(program))
        work.check(session_file(new))
    what = f"{length:g} min, {work.turns} turns"
    worst = [worst_stall(part) for part in parts]
    half = max(len(worst) // 2, 1)
    yield Row(what=f"worst stall of the event loop: {what}", value=max(worst), unit="ms CPU", budget=MOST)
    yield Row(
        what="longest stall of each half minute: median in the second half of the run",
        value=median(worst[-half:]),
        unit="ms CPU",
        reference=median(worst[:half]),
        against="in the first half",
    )
    often = sum(each > 0.016 for part in parts for each in part["stalls"])
    yield Row(what=f"stalls of more than 16 ms: {what}", value=often, unit="")
    longest = max(map(longest_collection, parts))
    yield Row(what="longest garbage collection", value=longest, unit="ms CPU")
    yield Row(
        what="worst stall from the first paint until all is loaded", value=worst_stall(start), unit="ms CPU"
    )


def worst_stall(seen: dict[str, Any]) -> float:
    """Milliseconds."""
    return float(seen["stalls"][0]) * 1000


def longest_collection(seen: dict[str, Any]) -> float:
    """Milliseconds."""
    return max((seconds * 1000 for _, seconds in seen["collections"]), default=0.0)
