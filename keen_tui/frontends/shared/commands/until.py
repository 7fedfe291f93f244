"""The command about runs: begins one, continues one, says how far it is."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

from keen_tui.domain.errors import SessionRefused
from keen_tui.domain.runs import RunLimits
from keen_tui.frontends.shared.commands.command import Command, CommandContext, WordsRefused, kept

_FLAGS: Mapping[str, tuple[str, Callable[[str], Any]]] = {
    "--max-turns": ("turns", int),
    "--max-cost": ("cost", float),
    "--max-hours": ("hours", float),
}


async def until(context: CommandContext, words: str) -> None:
    """Begin a run until a command succeeds. Without a command: go on with the run that was broken off, or
    say how far the run is."""
    from keen_tui.frontends.shared.run_status import run_sentence

    runs = kept(context.setup.runs, "There are no runs here.")
    if context.lacks_model:
        raise SessionRefused("No model is chosen yet: choose one with /model.")
    check, limits = _parsed(words)
    if check:
        runs.begin(check, limits)
    elif runs.is_left_over:
        runs.go_on()
    elif runs.is_driven:
        context.ui.say(run_sentence(runs.progress))
    else:
        raise WordsRefused("Write the command that must succeed, such as: /until make test")


def _parsed(words: str) -> tuple[str, RunLimits]:
    """The check and the limits before it. Raises WordsRefused."""
    given: dict[str, Any] = {}
    rest = words.strip()
    while rest.startswith("--max-"):
        flag, _, rest = rest.partition(" ")
        number, _, rest = rest.strip().partition(" ")
        rest = rest.strip()
        name, kind = _FLAGS.get(flag, ("", int))
        try:
            value = kind(number) if name else 0
        except ValueError:
            value = 0
        if not 0 < value < math.inf:
            raise WordsRefused("Put limits before the command: --max-turns N, --max-cost USD, --max-hours H.")
        given[name] = value
    return rest, RunLimits(**given)


UNTIL = Command(
    id="until",
    keys=(),
    label="Run until a command succeeds",
    slash=("until",),
    takes="[command]",
    help="runs turns until the command succeeds: /until make test; esc stops it",
    does=until,
)
COMMANDS = (UNTIL,)
