"""Lists of sessions and searches in them, with an index if there are many."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
from filelock import FileLock, Timeout

from keen_tui.domain.reports import SavedSession, SearchHit
from keen_tui.storage.lookup.listing import SessionEntry
from keen_tui.storage.lookup.locked import is_locked
from keen_tui.storage.lookup.searching import SessionSearch
from keen_tui.storage.lookup.session_index import IndexedText, SessionIndex, State
from keen_tui.storage.lookup.session_text import read_text
from keen_tui.storage.lookup.summaries import glance

if TYPE_CHECKING:
    from keen_tui.storage.lookup.spending import UsageSlot

MOST_HITS = 200
HITS_A_SESSION = 5

FEW = 100
"""Sessions that are listed and searched without an index, unless they are large."""

_LITTLE_BYTES = 20_000_000
"""Bytes of so few sessions up to which they are searched without an index."""

_MOST_BYTES = 50_000_000
"""Bytes of a session that is too large for the index: its file is searched instead."""

_SLICE_SECONDS = 0.05
"""Seconds that a search works before it reports what it has found so far."""

_FIRST_PART, _MOST_IN_PART, _PART_BYTES = 10, 200, 30_000_000
"""Sessions that a search reads from the index at once, at first and later, and their most bytes."""

_WRITTEN_BYTES = 2_000_000
"""Bytes of text that are written to the index at once."""

_REST = 3.0
"""The thread that builds the index rests this many times as long as it worked."""


class _Glance(msgspec.Struct, frozen=True, array_like=True):
    """The part of a `SavedSession` in the index: everything that the file's name and state don't say."""

    title: str
    workspace: str
    began: float
    turns: int
    forked_from: str


_GLANCE = msgspec.json.Decoder(_Glance)

_Known = Mapping[str, tuple[State, bytes]]
_Fresh = dict[str, tuple[State, bytes]]


class SessionLookup:
    """Lists session files and searches them. All methods block, and never raise.

    Args:
        folder: the folder of the index.
        few: FEW.
    """

    def __init__(self, folder: Path, *, few: int = FEW) -> None:
        self._few = few
        self._lock_file = folder.with_suffix(".lock")
        self._index = SessionIndex(folder)

    def rows(self, entries: Sequence[SessionEntry], most: int | None = None) -> tuple[SavedSession, ...]:
        """Rows for the first `most` sessions, or all of them. Leaves out files without a record."""
        is_worth_it = len(entries) > self._few and most is None
        known = self._index.glances() if is_worth_it else {}
        fresh: _Fresh = {}
        rows = (_row(entry, known, fresh) for entry in entries)
        shown = tuple(islice((row for row in rows if not row.is_empty), most))
        if is_worth_it and fresh:
            self._index.keep_glances(fresh, _are_there(entries))
        return shown

    def usages(self, entries: Sequence[SessionEntry]) -> Iterator[tuple[UsageSlot, ...]]:
        """The usage of each of these sessions, as far as its file can be read."""
        from keen_tui.storage.lookup.spending import (  # noqa: PLC0415 - no start needs it
            decoded_slots,
            encoded_slots,
            read_slots,
        )

        is_worth_it = self._is_worth_it(entries)
        known = self._index.usages() if is_worth_it else {}
        fresh: _Fresh = {}
        for entry in entries:
            state, content = known.get(entry.key, ("", b""))
            slots = decoded_slots(content) if state == entry.state else None
            if slots is None:
                try:
                    slots = read_slots(entry.path)
                except OSError:
                    continue
                fresh[entry.key] = entry.state, encoded_slots(slots)
            yield slots
        if is_worth_it and fresh:
            self._index.keep_usages(fresh, _are_there(entries))

    def search(self, entries: Sequence[SessionEntry], words: str) -> Iterator[tuple[SearchHit, ...]]:
        """The places of the words in these sessions, in their order. There MUST be no other sessions.

        Yields the places found so far, again and again, and finally all of them.
        """
        hits: list[SearchHit] = []
        until = time.monotonic() + _SLICE_SECONDS
        for found in self._found(entries, SessionSearch(words)) if words.strip() else ():
            hits += found[: MOST_HITS - len(hits)]
            if len(hits) == MOST_HITS:
                break
            if time.monotonic() > until:
                yield tuple(hits)
                until = time.monotonic() + _SLICE_SECONDS
        yield tuple(hits)

    def update(self, entries: Sequence[SessionEntry], stop: threading.Event) -> None:
        """Update the index for these sessions in small steps, until `stop` is set. There MUST be no other
        sessions. Only one program at a time does this."""
        if not self._is_worth_it(entries):
            return
        lock = FileLock(self._lock_file, timeout=0, mode=0o600, thread_local=False)
        try:
            lock.acquire()
        except (Timeout, OSError, NotImplementedError):
            return
        try:
            self._update(entries, stop)
        finally:
            lock.release()

    def forget(self, key: str) -> None:
        """Remove a deleted session from the index."""
        self._index.forget([key])

    def _is_worth_it(self, entries: Sequence[SessionEntry]) -> bool:
        return len(entries) > self._few or sum(entry.size for entry in entries) > _LITTLE_BYTES

    def _found(self, entries: Sequence[SessionEntry], search: SessionSearch) -> Iterator[list[SearchHit]]:
        """The places in each session."""
        if not self._is_worth_it(entries):
            yield from (_hits(entry, None, search) for entry in entries)
            return
        with self._index.searching(search.folded) as look:
            for some in _in_parts(entries):
                texts = look([entry.key for entry in some])
                yield from (_hits(entry, texts.get(entry.key), search) for entry in some)

    def _update(self, entries: Sequence[SessionEntry], stop: threading.Event) -> None:
        are_there = _are_there(entries)
        self.rows(entries)
        indexed = self._index.texts()
        known = {*indexed, *self._index.glances(), *self._index.usages()}
        self._index.forget(known - {entry.key for entry in entries})
        texts: dict[str, IndexedText] = {}
        for entry in entries:
            if not entry.changed or entry.size > _MOST_BYTES or indexed.get(entry.key) == entry.state:
                continue
            begun = time.monotonic()
            if text := _text_of(entry, stop):
                texts[entry.key] = text
            if sum(len(each.content) for each in texts.values()) > _WRITTEN_BYTES:
                if not self._index.keep_texts(texts, are_there):
                    return
                texts.clear()
            if stop.wait(_REST * (time.monotonic() - begun)):
                break
        self._index.keep_texts(texts, are_there)


def _row(entry: SessionEntry, known: _Known, fresh: _Fresh) -> SavedSession:
    """The row of a session, from the index if it is there; a new row goes to `fresh`."""
    in_use = entry.may_be_locked and is_locked(entry.lock_file)
    state, content = known.get(entry.key, ("", b""))
    if state == entry.full_state and (row := _from_index(entry, content, in_use=in_use)):
        return row
    row = glance(entry.path, in_use=in_use)
    if not (row.problem or row.is_empty):
        kept = _Glance(row.title, str(row.workspace), row.began, row.turns, row.forked_from)
        with suppress(UnicodeEncodeError):  # a lone surrogate: such a session is read each time
            fresh[entry.key] = entry.full_state, msgspec.json.encode(kept)
    return row


def _from_index(entry: SessionEntry, content: bytes, *, in_use: bool) -> SavedSession | None:
    try:
        kept = _GLANCE.decode(content)
    except msgspec.DecodeError:
        return None
    return SavedSession(
        id=entry.id,
        title=kept.title,
        workspace=Path(kept.workspace),
        began=kept.began,
        last_used=entry.changed / 1e9,
        turns=kept.turns,
        size=entry.size,
        in_use=in_use,
        forked_from=kept.forked_from,
    )


def _hits(entry: SessionEntry, text: IndexedText | None, search: SessionSearch) -> list[SearchHit]:
    if text and text.state == entry.state:
        places = search.in_index(entry.path, text) if text.content else iter(())
    else:
        places = search.in_file(entry.path)
    if not (found := list(islice(places, HITS_A_SESSION))):
        return []
    session = _row(entry, {}, {})
    return [place.of(session) for place in found]


def _in_parts(entries: Sequence[SessionEntry]) -> Iterator[Sequence[SessionEntry]]:
    """The entries in parts, in their order: small parts first, for early results, and never too much text."""
    part: list[SessionEntry] = []
    most, size = _FIRST_PART, 0
    for entry in entries:
        part.append(entry)
        size += entry.size
        if len(part) >= most or size > _PART_BYTES:
            yield part
            part, size, most = [], 0, min(2 * most, _MOST_IN_PART)
    yield part


def _text_of(entry: SessionEntry, stop: threading.Event) -> IndexedText | None:
    try:
        return read_text(entry.path, stop)
    except OSError:
        return None


def _are_there(entries: Sequence[SessionEntry]) -> Callable[[str], bool]:
    """A function that says whether the session with a key still exists."""
    paths = {entry.key: str(entry.path) for entry in entries}
    return lambda key: os.path.lexists(paths[key])
