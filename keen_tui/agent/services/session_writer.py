"""Writes one session down: its file, the lock on it, the journal, and the pending file beside it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

from keen_tui import __version__
from keen_tui.agent.services.session_loading import Opening
from keen_tui.agent.session import Session
from keen_tui.domain.errors import SessionRefused, StorageFailed
from keen_tui.memory.unfinished import endings
from keen_tui.storage.journal import FileOpener, Journal, open_file
from keen_tui.storage.lookup.sessions import SessionLock, SessionStore, pending_file
from keen_tui.storage.pending_file import PendingFile
from keen_tui.storage.reading import SessionFile
from keen_tui.storage.records import Header
from keen_tui.storage.session_record import FileRecord


class SessionWriter:
    """Writes down what the session publishes from now on.

    Args:
        path: the session's file; it is made with the first message.
        lock: on that file, where it is held already; else it is taken with the first line.
        saved: what stands in the file, None where there is none.
        on_problem: is told in a sentence when writing fails or works again.
        on_over: is told the sentence of a failure that is over.
        opener: opens the file; tests hand in one that breaks.
    """

    def __init__(
        self,
        session: Session,
        store: SessionStore,
        path: Path,
        *,
        lock: SessionLock | None,
        saved: SessionFile | None,
        on_problem: Callable[[str], None],
        on_over: Callable[[str], None] = lambda sentence: None,
        opener: FileOpener = open_file,
    ) -> None:
        self.path = path
        self._opener = opener
        self._store = store
        self._session = session
        self._lock = lock
        self._size = saved.whole_bytes if saved else 0
        header = saved.header if saved else Header(
            id=path.stem, workspace=str(session.workspace), began=store.now(),
            model=session.model, program=__version__,
        )  # fmt: skip
        self._journal = Journal(
            path,
            header,
            session.bus,
            on_problem=on_problem,
            on_over=on_over,
            size=saved.whole_bytes or 0 if saved else 0,
            number=saved.next_number if saved else 0,
            opener=self._open_locked,
        )
        self.record = FileRecord(path, self._journal.unsaved)
        self.pending = PendingFile(
            pending_file(path),
            journal_flushed=self._journal.flushed,
            on_problem=on_problem,
            on_over=on_over,
        )
        """Takes pending state, for users who want that."""

    def take_over(self, opening: Opening | None, *, keeps_pending: bool) -> None:
        """From now on the session works with this file: it saves its pending state beside it, if the user
        wants that, and `recall` reads it. What the last program left unfinished in it ends; None: it is a new
        file."""
        session = self._session
        session.keep_pending_with(self.pending if keeps_pending else None)
        session.recall_from(self.record)
        if opening is None:
            return
        adopted = session.adopt(opening.kept[1], opening.kept[0]) if opening.kept else None
        recovered = opening.unfinished.recovered(adopted) if adopted else None
        session.resume(endings(opening.unfinished, recovered), recovered)
        if recovered is None and keeps_pending:
            self.pending.keep(session.identity, None)

    async def flushed(self) -> bool:
        """Wait until all that was published so far is on the disk; False when it could not be written."""
        is_saved = await self._journal.flushed()
        await self.pending.kept()
        return is_saved

    def stop_listening(self) -> None:
        """Stop reading events: those that are published from now on belong to another session."""
        self._journal.stop_reading()

    async def close(self) -> bool:
        """Finish the file and let go of it; False when a part could not be saved."""
        await self.pending.kept()
        is_saved = await self._journal.close()
        if self._lock:
            self._lock.release()
        return is_saved

    async def _open_locked(self, path: Path) -> Any:
        """The session file, which is this program's own from its first line on. Raises OSError."""
        if self._lock is None:
            self._lock = await asyncio.to_thread(self._locked)
        return await self._opener(path)

    def _locked(self) -> SessionLock:
        """The lock, taken late. What another program did to the file meanwhile is not written over."""
        path = self.path
        try:
            lock = self._store.lock(path)
        except (StorageFailed, SessionRefused) as error:
            raise OSError(str(error)) from error
        if (path.stat().st_size if path.exists() else 0) != self._size:
            lock.release()
            raise OSError("its file is damaged, or has changed in the meantime")
        return lock
