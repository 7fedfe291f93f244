"""Tells a person which commands a killed program left running, and asks whether to end them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TextIO

from keen_tui.system.yes_or_no import answered_yes
from keen_tui.text.sanitize import clean
from keen_tui.tools.orphans.records import LeftRunning, left_running

_MOST_SHOWN = 10


def sentences(left: Sequence[LeftRunning]) -> tuple[str, ...]:
    """A sentence for each, with the way to end it."""
    return tuple(
        f"A command of a killed Keen session is still running: {_shown(each)}. "
        f"To end it: kill -9 {' '.join(map(str, each.pids))}"
        for each in left
    )


def settle_left_running(folder: Path, keys: TextIO, out: TextIO) -> None:
    """Ask whether to end the commands that were left running, if there are any. Only a yes kills."""
    left = left_running(folder)
    answer = answered_yes(_question(left), keys, out) if left else None
    if answer is None:
        return  # none is left, or nobody can answer
    for each in left:
        each.end() if answer else each.forget()
    out.write("Ended.\n" if answer else "Left running. Keen won't ask about it again.\n")
    out.flush()


def _question(left: Sequence[LeftRunning]) -> str:
    one = len(left) == 1
    rows = [f"  {_shown(each)}" for each in left[:_MOST_SHOWN]]
    rows += [f"  and {len(left) - _MOST_SHOWN} more"] if len(left) > _MOST_SHOWN else []
    what = "A command of a killed Keen session is" if one else "Commands of a killed Keen session are"
    return "\n".join((f"{what} still running:", "", *rows, "", f"End {'it' if one else 'them'}? [y/N] "))


def _shown(left: LeftRunning) -> str:
    words = clean(left.command.strip().partition("\n")[0])
    numbers = f"process{'es' if len(left.pids) > 1 else ''} {', '.join(map(str, left.pids))}"
    return f"{words}   ({numbers})"
