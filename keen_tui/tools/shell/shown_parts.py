"""A command that is asked about, part by part: what is to be known of each before one says yes."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from typing import Final

from keen_tui.display import PartDisplay
from keen_tui.tools.base import Access, CommandPart
from keen_tui.tools.shell.mentions import mentioned_commands
from keen_tui.tools.shell.removals import lost_by

_MOST: Final = 50
"""Parts that are told; those that lose something come before all others."""


def shown_parts(access: Access) -> tuple[PartDisplay, ...]:
    """The parts of a compound command, and of any command those that delete or can't be undone."""
    if not access.parts:
        return tuple(_losing(access.mentions))[:_MOST]
    shown = list(map(_shown, access.parts))
    if len(shown) == 1 and not shown[0].loses:
        return ()
    told = sorted(range(len(shown)), key=lambda place: not shown[place].loses)[:_MOST]
    return tuple(shown[place] for place in sorted(told))


def _shown(part: CommandPart) -> PartDisplay:
    lost = lost_by(mentioned_commands(shlex.join(part.words)))
    return _part(" ".join(part.words), lost or part.concern or "it only reads", loses=bool(lost))


def _losing(mentions: Sequence[Sequence[str]]) -> Iterator[PartDisplay]:
    """What is found in a command that is not understood; `xargs rm` is not told of a second time as `rm`."""
    before = ""
    for words in mentions:
        text, lost = " ".join(words), lost_by([words])
        if lost and not (before and before.endswith(text)):
            before = text
            yield _part(text, lost, loses=True)


def _part(text: str, note: str, *, loses: bool) -> PartDisplay:
    """In one row each: nothing in them can be taken for a row of the program."""
    return PartDisplay(text=" ".join(text.split("\n")), note=" ".join(note.split("\n")), loses=loses)
