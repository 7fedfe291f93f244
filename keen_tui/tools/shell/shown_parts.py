"""The parts of a command in a question, and what each part does."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from pathlib import PurePosixPath
from typing import Final

from keen_tui.domain.display import PartDisplay
from keen_tui.tools.access.access import Access, CommandPart
from keen_tui.tools.shell.mentions import mentioned_commands
from keen_tui.tools.shell.removals import lost_by

_MOST: Final = 50
"""The most parts that are listed. If there are more, the risky ones come first, then those that do more than
read."""
_READS: Final = "it only reads"


def shown_parts(access: Access) -> tuple[PartDisplay, ...]:
    """The parts of a compound command, and the risky parts of any command."""
    risks = [_part(risk.text, risk.note, warns=True) for risk in access.risks]
    if not access.parts:
        shown = [*risks, *_losing(access.mentions)]
        if access.insists and not shown:
            shown = [_part(access.subject, access.insists, warns=True)]
    else:
        told = {risk.text for risk in risks}
        parts = [part for part in map(_shown, access.parts) if part.is_risky or _named(part) not in told]
        shown = [*risks, *parts]
        if access.insists and not any(part.is_risky for part in shown):
            shown.append(_part(access.subject, access.insists, warns=True))
    if len(shown) == 1 and not shown[0].is_risky:
        return ()
    if len(shown) <= _MOST:
        return tuple(shown)
    first = sorted(shown, key=lambda part: (not part.is_risky, part.note == _READS))
    rest = first[_MOST:]
    return (*first[:_MOST], _part(f"and {len(rest)} more parts", _of_the_rest(rest)))


def _of_the_rest(parts: Sequence[PartDisplay]) -> str:
    """Returns words for the parts that aren't listed."""
    more = sum(part.note != _READS for part in parts)
    return f"{more} of them may change files" if more else "they only read"


def _shown(part: CommandPart) -> PartDisplay:
    lost = lost_by(mentioned_commands(shlex.join(part.words)))
    note = lost or part.concern or _READS
    return _part(" ".join(part.words), note, loses=bool(lost), warns=part.is_withheld)


def _named(part: PartDisplay) -> str:
    """The part as a risk names it, without the folder of its program."""
    program, *rest = part.text.split(" ")
    return " ".join((PurePosixPath(program).name, *rest))


def _losing(mentions: Sequence[Sequence[str]]) -> Iterator[PartDisplay]:
    """Losses in a command that isn't understood. `xargs rm` isn't repeated as `rm`."""
    before = ""
    for words in mentions:
        text, lost = " ".join(words), lost_by([words])
        if lost and not (before and before.endswith(text)):
            before = text
            yield _part(text, lost, loses=True)


def _part(text: str, note: str, *, loses: bool = False, warns: bool = False) -> PartDisplay:
    """A part with text and note in one row each, so that nothing in them looks like a row of the program."""
    text, note = (" ".join(each.split("\n")) for each in (text, note))
    return PartDisplay(text=text, note=note, loses=loses, warns=warns)
