"""The entries of a panel: rows that belong together, made when they are looked at."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import NamedTuple, overload

from msgspec import Struct, field
from rich.text import Text

from keen_tui.frontends.tui.rows.lru_cache import Recent

_ENTRIES_KEPT = 128


class PanelEntry(Struct, frozen=True, kw_only=True):
    """Rows of a panel that belong together, and the place in the transcript they stand for.

    `waits` gives its rows the amber bar. `turn` is 0 for rows that belong to none. `task` is the id of a
    command in the background, "" for other rows.
    """

    rows: tuple[Text, ...]
    turn: int = 0
    call_id: str | None = None
    waits: bool = field(default=False)
    task: str = ""

    @property
    def leads(self) -> bool:
        """Whether there is a place that it stands for."""
        return bool(self.turn or self.call_id or self.task)


class Entries(Sequence[PanelEntry]):
    """Entries that are made when they are looked at: a long session has thousands, a panel shows ten.

    Args:
        parts: how many there are of each kind, in order, and what makes one from its number.
    """

    def __init__(self, *parts: tuple[int, Callable[[int], PanelEntry]]) -> None:
        self._parts = parts
        self._length = sum(count for count, _ in parts)

    def __len__(self) -> int:
        return self._length

    @overload
    def __getitem__(self, index: int) -> PanelEntry: ...
    @overload
    def __getitem__(self, index: slice) -> list[PanelEntry]: ...
    def __getitem__(self, index: int | slice) -> PanelEntry | list[PanelEntry]:
        if isinstance(index, slice):
            return [self[place] for place in range(*index.indices(self._length))]
        for count, made in self._parts:
            if index < count:
                return made(index)
            index -= count
        raise IndexError(index)


class _Made(NamedTuple):
    """The entry that was made of a thing, and how it was drawn."""

    thing: object
    manner: object
    entry: PanelEntry


class EntryCache:
    """Entries of things that look the same for as long as they are the same object, and rows that say the
    same."""

    def __init__(self) -> None:
        self._made: Recent[int, _Made] = Recent(_ENTRIES_KEPT)
        self._rows: dict[str, tuple[Hashable, Text]] = {}

    def once(self, thing: object, manner: object, make: Callable[[], PanelEntry]) -> PanelEntry:
        """The entry of a `thing`, kept as long as the `manner`, such as the width, is equal."""
        made = self._made.get(id(thing))
        if made is None or made.thing is not thing or made.manner != manner:
            made = _Made(thing, manner, make())
            self._made.keep(id(thing), made)
        return made.entry

    def row(self, name: str, says: Hashable, make: Callable[[], Text]) -> Text:
        """The row of that name: the very same one as long as what it `says` is equal."""
        kept = self._rows.get(name)
        if kept is None or kept[0] != says:
            kept = self._rows[name] = says, make()
        return kept[1]

    def forget(self) -> None:
        """They look different now."""
        self._made.clear()
        self._rows.clear()


class PlacedEntries(NamedTuple):
    """The rows that are in view.

    `owners` has the index of each row's entry, `waiting` the rows that have the amber bar.
    """

    rows: list[Text]
    owners: list[int]
    waiting: set[int]


def place_entries(
    entries: Sequence[PanelEntry], room: int, cursor: int | None, raised: Callable[[Text], Text]
) -> PlacedEntries:
    """The rows of the entries that fit into `room` rows.

    Args:
        cursor: the entry that is in view in any case. None: the panel hasn't the focus.
        raised: gives a row of that entry as it is drawn.
    """
    rows: list[Text] = []
    owners: list[int] = []
    waiting: set[int] = set()
    first, above = _top(entries, room, cursor)
    for index in range(first, len(entries)):
        if len(rows) >= room + above:
            break
        entry = entries[index]
        waiting |= set(range(len(rows), len(rows) + len(entry.rows))) if entry.waits else set()
        for row in entry.rows:
            rows.append(raised(row) if index == cursor and row else row)
            owners.append(index)
    rows = rows[above : above + room]
    waiting = {place - above for place in waiting} & set(range(len(rows)))
    waiting = {place for place in waiting if rows[place]} | _inside(waiting)
    return PlacedEntries(rows, owners[above : above + room], waiting)


def _top(entries: Sequence[PanelEntry], room: int, cursor: int | None) -> tuple[int, int]:
    """The entry on top, and how many of its rows stand above the view: the cursor's is in view."""
    rows = 0
    for index in () if cursor is None or not entries else range(cursor, -1, -1):
        rows += len(entries[index].rows)
        if rows >= room:
            return index, rows - room
    return 0, 0


def _inside(places: set[int]) -> set[int]:
    """Every place from the first to the last, so that a bar has no holes; without a last blank row."""
    return set(range(min(places), max(places))) if places else set()
