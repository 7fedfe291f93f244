"""Holds a command back between its fork and its first step, so that it is marked and recorded before it
begins, and never runs without Keen."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Final

from keen_tui.tools.orphans.strays import MARK, mark_for_good

SIGNALS_AS_EVER: Final = "import _signal as g; [g.signal(each, g.SIG_DFL) for each in (g.SIGPIPE, g.SIGXFSZ)]"
"""Python code for a program that is about to become another one: resets signals that Python ignores, because
ignored signals are inherited."""

_GATE: Final = ("/bin/sh", "-c", 'read -r go && exec "$@" </dev/null', "sh")
"""Becomes the given command when a line arrives, and ends if none does."""

_INPUT_GATE: Final = ("/bin/sh", "-c", 'read -r go && exec "$@"', "sh")
"""The same for a command that goes on reading its standard input behind that line."""

_FAITHFUL_GATE: Final = f"""\
import os, sys
if os.read(0, 1):
    {SIGNALS_AS_EVER}
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.execv(sys.argv[1], sys.argv[1:])
"""
"""The same in Python, which takes longer to start, for variables that a shell would drop."""

_FAITHFUL_INPUT_GATE: Final = "\n".join(line for line in _FAITHFUL_GATE.splitlines() if "devnull" not in line)


class Gate:
    """The gate of one command: start `held(argv)` with `closed` as its standard input, then open it."""

    def __init__(self, closed: int, opening: int, note: Callable[[int], None]) -> None:
        self.closed = closed
        self._opening = opening
        self._note = note

    @staticmethod
    def held(argv: tuple[str, ...], environ: Mapping[str, str]) -> tuple[str, ...]:
        """The argv to start for a command with exactly this environment."""
        faithful = (sys.executable, "-I", "-S", "-c", _FAITHFUL_GATE)
        return (*(_GATE if _gets_through(environ) else faithful), *argv)

    def open(self, pid: int, environ: Mapping[str, str]) -> None:
        """Note the process, mark it with the mark in its environment, and let it begin."""
        self._note(pid)
        if mark := environ.get(MARK):
            mark_for_good(pid, mark)
        with suppress(BrokenPipeError):  # it was killed meanwhile
            os.write(self._opening, b"\n")


def held_at_input(argv: tuple[str, ...], environ: Mapping[str, str]) -> tuple[str, ...]:
    """The argv to start for a program that begins when a line arrives at its standard input, and then reads
    what follows. It ends if none arrives."""
    faithful = (sys.executable, "-I", "-S", "-c", _FAITHFUL_INPUT_GATE)
    return (*(_INPUT_GATE if _gets_through(environ) else faithful), *argv)


@contextmanager
def gate(note: Callable[[int], None]) -> Iterator[Gate]:
    """A closed gate. A process that waits at it ends with this context, or with this program. `note` is
    called with its process ID before the command begins."""
    closed, opening = os.pipe()
    try:
        yield Gate(closed, opening, note)
    finally:
        os.close(closed)
        os.close(opening)


def _gets_through(environ: Mapping[str, str]) -> bool:
    """Whether every shell passes these variables on: some drop names that they don't know, such as those of
    bash's exported functions."""
    return all(name.isascii() and name.isidentifier() for name in environ)
