"""Session files in memory, for tests of replays."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from keen_tui.domain.events import Event
from keen_tui.storage.reading import SessionFile
from keen_tui.storage.records import Header, Record


def recording(events: Iterable[Event], *, pause: float = 0.0, damage: tuple[bytes, ...] = ()) -> SessionFile:
    """A session file with these events, each `pause` seconds after the one before."""
    records = tuple(Record(number, number * pause, event) for number, event in enumerate(events, start=1))
    return SessionFile(
        path=Path("s1.jsonl"),
        header=Header(id="s1", workspace="/home/me/shop", began=0.0, model="scripted"),
        records=records,
        damage=damage,
        whole_bytes=None if damage else 1,
        next_number=len(records) + 1,
    )
