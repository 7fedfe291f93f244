"""The longest stall of rare actions in a session of 10,000 messages."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from keen_tui.demo.model_server import ModelServer
from keen_tui.demo.script import Answer, Call, Reply, Say
from keen_tui.demo.threaded import serving
from tests.bench.actions import ENTER, FIND, back_to_composer
from tests.bench.length import MANY, wait_for_past
from tests.bench.long_session import write_long_session
from tests.bench.programs import Place, in_terminal, place, watched
from tests.bench.stalls import MOST, worst_stall
from tests.bench.table import Row
from tests.support.terminal import TerminalProgram

_FILE: Final = "big.txt"
_READS: Final = [Reply([Call("read_file", {"path": _FILE})] * 10)] * 6
"""Four megabytes of results: a context window of a million tokens is full."""
_SUMMARY: Final = "The session in a few words. "
_DONE: Final = "That was all."
_PAUSE: Final = 1.0
"""Seconds without a change after which something is done."""


class _Action(NamedTuple):
    """What is measured: keys, and what the screen shows when the action is done."""

    what: str
    keys: Sequence[str]
    shows: str


_ACTIONS: Final = (
    _Action("a search, from its first letter on", (FIND, *"total"), "esc stay"),
    _Action("a turn that reads 4 MB", ("read it", ENTER), _DONE),
    _Action("opening the help", ("/help", ENTER), "Everywhere, also while you type"),
    _Action("opening the context", ("/context", ENTER), "full-trace"),
    _Action("opening the settings", ("/settings", ENTER), "settings"),
    _Action("a copy of the session (/fork)", ("/fork", ENTER), "in a copy"),
    _Action("a summary (/compact)", ("/compact", ENTER), "2,501 turns"),
    _Action("a new session (/new)", ("/new", ENTER), "What should I do?"),
)


def rows() -> Iterator[Row]:
    """Each action once. CPU time as in `stalls`; what a thread does beside doesn't count."""
    answers: list[Answer] = [*_READS, Reply([Say(_DONE)]), Reply([Say(_SUMMARY * 20)])]
    with serving(ModelServer(answers)) as server, place() as new:
        (new.home / "settings.toml").write_text("context_window = 100_000_000\n")
        (new.work / _FILE).write_text("".join(f"line {line} of a long file\n" for line in range(3_000)))
        session = write_long_session(new, MANY)
        argv = watched("stalls", new, server.base_url, "--resume", session)
        with in_terminal(argv, new) as program:
            wait_for_past(program, MANY)
            yield _row("resuming it", new, program)
            for action in _ACTIONS:
                for key in action.keys:
                    program.type(key)
                    program.come_to_rest(0.2)
                program.wait_for_screen(action.shows)
                program.come_to_rest(_PAUSE)
                yield _row(action.what, new, program)
                back_to_composer(program)
                new.ask(program)


def _row(what: str, new: Place, program: TerminalProgram) -> Row:
    stall = worst_stall(new.ask(program))
    return Row(what=f"longest stall at 10,000 messages: {what}", value=stall, unit="ms CPU", budget=MOST)
