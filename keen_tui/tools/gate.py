"""Holds a command back between its fork and its first step: it can be marked, and never begins without us."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Final

from keen_tui.tools.orphans.strays import MARK, mark_for_good

_GATE: Final = ("/bin/sh", "-c", 'read -r go && exec "$@" </dev/null', "sh")
"""Becomes what it is given when a line comes in, and ends when none does."""


class Gate:
    """The gate of one command: start `held(argv)` with `closed` as its standard input, then open it."""

    def __init__(self, closed: int, opening: int) -> None:
        self.closed = closed
        self._opening = opening

    @staticmethod
    def held(argv: tuple[str, ...]) -> tuple[str, ...]:
        return (*_GATE, *argv)

    def open(self, pid: int, environ: Mapping[str, str]) -> None:
        """Mark the process with the mark that its environment holds, and let it begin."""
        if mark := environ.get(MARK):
            mark_for_good(pid, mark)
        with suppress(BrokenPipeError):  # it was killed meanwhile
            os.write(self._opening, b"\n")


@contextmanager
def gate() -> Iterator[Gate]:
    """A gate that is closed. What waits at it ends with this context, or with this program."""
    closed, opening = os.pipe()
    try:
        yield Gate(closed, opening)
    finally:
        os.close(closed)
        os.close(opening)


def keeps_all(environ: Mapping[str, str]) -> bool:
    """Whether all these variables get through a gate: some shells drop names that are not their own, such as
    those of bash's exported functions."""
    return all(name.isascii() and name.isidentifier() for name in environ)
