"""The part of a session file that goes into a copy of the session."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path

from keen_tui.domain.errors import StorageFailed
from keen_tui.domain.events import Compacted, Event, MemoryEdited, RunBegun, TurnStarted
from keen_tui.storage.reading import lines_of
from keen_tui.text.units import first_line


def first_words_of(event: Event | None) -> str:
    """The first line of a message, "" for other events."""
    return first_line(event.text) if isinstance(event, TurnStarted) and event.text else ""


def lines_up_to(path: Path, turn: int) -> Iterator[tuple[bytes, Event | None]]:
    """The lines after the header with their events, up to the first line of a later turn, and then the user's
    later edits of these turns' memory (turn.md rule 14); with `turn` 0 all lines. A run that began after the
    turn isn't a part of it."""
    newest = 0
    lines = lines_of(path)
    of_run: list[tuple[bytes, Event | None]] = []
    """Lines since a run began, until it is known which turn it begins with."""
    for line, event in lines:
        if isinstance(event, TurnStarted):
            if turn and event.turn > turn:
                break
            newest = max(newest, event.turn)
            yield from of_run
            of_run.clear()
        if turn and (of_run or isinstance(event, RunBegun)):
            of_run.append((line, event))
        else:
            yield line, event
    yield from _later_edits(chain(of_run, lines), turn)
    if turn > newest:
        raise StorageFailed(f"The session has no turn {turn}: the last one is {newest}.")


def _later_edits(
    lines: Iterable[tuple[bytes, Event | None]], turn: int
) -> Iterator[tuple[bytes, Event | None]]:
    """Edits of the memory of turns up to that one. After a summary they would be edits of the summary."""
    for line, event in lines:
        if isinstance(event, Compacted):
            return
        if isinstance(event, MemoryEdited) and event.turn <= turn:
            yield line, event
