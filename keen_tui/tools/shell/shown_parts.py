"""A command that is asked about, part by part: what is to be known of each before one says yes."""

from __future__ import annotations

import shlex
from collections.abc import Iterator

from keen_tui.display import PartDisplay
from keen_tui.tools.base import Access, CommandPart
from keen_tui.tools.shell.mentions import mentioned_commands
from keen_tui.tools.shell.removals import lost_by


def shown_parts(access: Access) -> tuple[PartDisplay, ...]:
    """The parts of a compound command, and of any command those that delete or can't be undone."""
    if not access.parts:
        return tuple(_losing(access))
    shown = tuple(map(_shown, access.parts))
    return shown if len(shown) > 1 or any(part.loses for part in shown) else ()


def _shown(part: CommandPart) -> PartDisplay:
    lost = lost_by(mentioned_commands(shlex.join(part.words)))
    return PartDisplay(
        text=" ".join(part.words), note=lost or part.concern or "it only reads", loses=bool(lost)
    )


def _losing(access: Access) -> Iterator[PartDisplay]:
    """What is found in a command that is not understood; `xargs rm` is not told of a second time as `rm`."""
    told: list[str] = []
    for words in access.mentions:
        text, lost = " ".join(words), lost_by([words])
        if lost and not any(each.endswith(text) for each in told):
            told.append(text)
            yield PartDisplay(text=text, note=lost, loses=True)
