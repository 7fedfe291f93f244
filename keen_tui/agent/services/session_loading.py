"""A saved session, read and made ready to take the place of the one at work."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from msgspec import Struct

from keen_tui.domain.errors import StorageFailed
from keen_tui.domain.events import (
    Event,
    ModelChanged,
    RunBegun,
    SessionOpened,
    SessionRenamed,
    SessionRestored,
    TurnAbandoned,
)
from keen_tui.domain.models import Identity
from keen_tui.memory.conversation import Conversation, conversation_of
from keen_tui.memory.pending import PendingState
from keen_tui.memory.unfinished import Unfinished, endings, still_valid, unfinished
from keen_tui.storage.lookup.sessions import SessionLock, SessionStore, pending_file
from keen_tui.storage.lookup.summaries import own_title
from keen_tui.storage.pending_file import forget_pending, read_pending
from keen_tui.storage.reading import SessionFile, read_tail

KeptPending = tuple[Identity, PendingState]
"""Pending state that a session's last program left on the disk, and what it belongs to."""


_OF_A_COPY = (SessionRenamed, TurnAbandoned)
"""Events that are written to a copy of a session when it is made and first opened."""


class Opening(Struct, frozen=True):
    """The content of a session's file, the values derived from it, and the lock on it; None if nothing can be
    written. `kept` is pending state that continues, `has_run` says whether it had a run."""

    lock: SessionLock | None
    saved: SessionFile
    title: str
    events: tuple[Event, ...]
    conversation: Conversation
    unfinished: Unfinished
    kept: KeptPending | None
    has_run: bool

    @property
    def keeps_pending(self) -> bool:
        """Whether its pending state is kept on the disk, whatever the settings say: it has a run, or the
        pending state was found there."""
        return self.has_run or self.kept is not None

    @property
    def copied(self) -> str:
        """Says so while nothing has happened in a copy since it was made; "" otherwise."""
        header = self.saved.header
        since = (record.event for record in self.saved.records if record.at > header.began)
        if not header.forked_from or not all(isinstance(event, _OF_A_COPY) for event in since):
            return ""
        return "You are now in a copy of the session. The original is unchanged: /resume opens it."

    def release(self) -> None:
        """Let go of the file: the session is not opened after all."""
        if self.lock:
            self.lock.release()


LONG = 20_000_000
"""Bytes from which on a session takes so long to read that its newest turns are shown before."""


def is_long(path: Path) -> bool:
    """Whether its newest turns are shown before all of it is read."""
    try:
        return path.stat().st_size >= LONG
    except OSError:
        return False


def preview(path: Path) -> list[Event]:
    """The newest turns, as the screen is told of a session. Raises StorageFailed."""
    events = read_tail(path)
    return [
        SessionOpened(id=path.stem, title=title_of(path, events), restoring=True),
        *(event for event in events if not isinstance(event, ModelChanged)),
        *endings(unfinished(events), None),
        SessionRestored(),
    ]


def read_for_opening(store: SessionStore, path: Path, *, keeps_pending: bool) -> Opening:
    """Lock the file and read it. Blocks, for about a second with a session of 1,000 turns.

    Raises:
        SessionInUse: another program has it. StorageFailed: it can't be read.
    """
    lock = _lock(store, path)
    try:
        saved = store.read_for_writing(path) if lock else store.read(path)
        events = tuple(record.event for record in saved.records)
        left, has_run = unfinished(events), any(isinstance(event, RunBegun) for event in events)
        return Opening(
            lock=lock,
            saved=saved,
            title=title_of(path, events),
            events=events,
            conversation=conversation_of(events),
            unfinished=left,
            kept=_kept(pending_file(path), left, is_wanted=keeps_pending or has_run),
            has_run=has_run,
        )
    except BaseException:
        if lock:
            lock.release()
        raise


def _kept(file: Path, left: Unfinished, *, is_wanted: bool) -> KeptPending | None:
    """The pending state that was kept and can be gone on with. A file that isn't wanted, or is of no use, is
    removed."""
    kept = read_pending(file) if is_wanted else None
    if kept and still_valid(kept[1], left):
        return kept
    forget_pending(file)
    return None


def _lock(store: SessionStore, path: Path) -> SessionLock | None:
    """The lock; None where it can't be made, as in a folder that is read-only. Raises SessionInUse."""
    try:
        return store.lock(path)
    except StorageFailed:
        return None


def title_of(path: Path, events: Iterable[Event]) -> str:
    """The title that the user gave last, as the session file says it, else the one beside it."""
    titles = [event.title for event in events if isinstance(event, SessionRenamed)]
    return titles[-1] if titles else own_title(path)
