"""The journal must neither block the event loop nor wait for the disk more often than necessary."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from typing import Any

from keen_tui.demo.model_server import ModelServer
from keen_tui.demo.threaded import serving
from tests.bench.driving import turns
from tests.bench.long_session import session_file
from tests.bench.programs import PROMPT_SIGN, Place, in_terminal, place, watched
from tests.bench.table import Row
from tests.bench.work_script import Work

TURNS = 20


def rows() -> Iterator[Row]:
    """Turns of real work in a terminal, in a program whose coroutines are timed step by step and whose calls
    of fdatasync are counted."""
    work = Work()
    with serving(ModelServer(work)) as server, place() as new:
        work.lay_out(new.work)
        with in_terminal(watched("steps,syncs", new, server.base_url), new) as program:
            program.wait_for(PROMPT_SIGN)
            program.come_to_rest(1.0)
            new.ask(program)
            for turn in turns(program, server, work, busy=False):
                if turn == TURNS:
                    break
            program.come_to_rest(1.0)
            seen = new.ask(program)
        said = _said(new)
        work.check(session_file(new))
    yield Row(
        what="journal: longest step on the event loop",
        value=_longest(seen["steps"]) * 1000,
        unit="ms CPU",
        budget=5,
    )
    yield Row(what="journal: fdatasync on the event loop", value=seen["syncs"]["loop"], unit="", budget=0)
    yield Row(
        what=f"journal: fdatasync in {TURNS} turns",
        value=seen["syncs"]["threads"],
        unit="",
        reference=said,
        against="messages and tool results",
        budget=1.0,
    )


def _longest(steps: dict[str, Any]) -> float:
    """The longest step of any of the journal's coroutines."""
    return float(max(longest for name, (_, _, longest) in steps.items() if name.startswith("Journal.")))


def _said(where: Place) -> int:
    """Messages of the user, replies of the model and tool results in the session file."""
    types = Counter(json.loads(line)["type"] for line in session_file(where).read_text().splitlines())
    return types["turn_started"] + types["usage"] + types["tool_finished"]
