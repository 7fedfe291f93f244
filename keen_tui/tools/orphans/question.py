"""Tells a person which commands a killed program left running, and asks whether to end them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TextIO

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


def settle_left_running(folder: Path, keys: TextIO, out: TextIO, forget_typed: Callable[[], None]) -> None:
    """Ask whether to end the commands that were left running, if there are any.

    `forget_typed` drops keys that were typed before the question appeared. Only a yes kills.
    """
    left = left_running(folder)
    if not left:
        return
    forget_typed()
    out.write(_question(left))
    out.flush()
    answer = keys.readline()
    if not answer:
        return  # nobody can answer
    is_yes = answer.strip().casefold() in ("y", "yes")
    for each in left:
        each.end() if is_yes else each.forget()
    out.write("Ended.\n" if is_yes else "Left running. Keen won't ask about it again.\n")
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
