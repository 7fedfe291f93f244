"""The saved sessions, for a front end: the one at work is written down, others can take its place."""

from __future__ import annotations

import asyncio
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

from keen_tui import __version__
from keen_tui.agent.session import Session
from keen_tui.agent.undo import TurnChanges, TurnKeeper
from keen_tui.display import CommandDisplay
from keen_tui.errors import SessionRefused, StorageFailed
from keen_tui.events import Event, Notice, SessionRenamed
from keen_tui.history import Changes, ExportFormat, SavedSession, SearchHit
from keen_tui.memory.pending import PendingState
from keen_tui.memory.unfinished import Unfinished, endings, still_valid, unfinished
from keen_tui.plain import clean
from keen_tui.storage.checkpoints import Checkpoints
from keen_tui.storage.forgetting import forget_old
from keen_tui.storage.journal import Journal, open_file
from keen_tui.storage.paths import is_regular
from keen_tui.storage.peek import first_line, own_title
from keen_tui.storage.pending_file import PendingFile, read_pending
from keen_tui.storage.reading import SessionFile
from keen_tui.storage.records import Header
from keen_tui.storage.sessions import SessionLock, SessionStore, pending_file

_SUFFIXES = {"markdown": ".md", "json": ".json", "html": ".html"}
_TITLE_LENGTH = 120


class HistoryDesk:
    """Writes the session at work to its file and puts others in its place.

    Args:
        keeper: what the tools keep changed files with; it is given the checkpoints of the session at work.
        keeps_pending: whether pending state shall outlive the program (`pending.durable`).
    """

    def __init__(
        self, session: Session, store: SessionStore, keeper: TurnKeeper, *, keeps_pending: bool = False
    ) -> None:
        self._session = session
        self._store = store
        self._keeper = keeper
        self._keeps_pending = keeps_pending
        self._path = Path()
        self._journal: Journal | None = None
        self._pending: PendingFile | None = None
        self._lock: SessionLock | None = None
        self._cleaning: asyncio.Task[Any] | None = None

    @property
    def session_id(self) -> str:
        """The session at work."""
        return self._path.stem

    async def begin(self) -> None:
        """Begin with an empty session, whose file is made with its first message."""
        self._at_work(self._store.new_path(self._session.workspace))
        self._session.open(self.session_id, "", ())
        self._write_down(None)
        in_use = (self._store.checkpoints_of(self.session_id),)
        self._cleaning = asyncio.create_task(
            asyncio.to_thread(forget_old, self._store.checkpoints, spare=in_use)
        )

    async def sessions(self, *, everywhere: bool = False) -> tuple[SavedSession, ...]:
        """The sessions of this workspace, or of all, newest first."""
        return await asyncio.to_thread(self._store.list, None if everywhere else self._session.workspace)

    async def search(self, words: str) -> tuple[SearchHit, ...]:
        """Where the words stand in any session, newest session first."""
        return await asyncio.to_thread(self._store.search, words)

    async def new(self) -> None:
        """Begin an empty session."""
        await self._leave()
        self._at_work(self._store.new_path(self._session.workspace))
        self._session.open(self.session_id, "", ())
        self._write_down(None)

    async def open(self, session_id: str) -> None:
        """Go on with that session.

        Raises:
            SessionInUse: another program has it. StorageFailed: it can't be read.
        """
        path = await asyncio.to_thread(self._store.path_of, session_id)
        if path == self._path:
            return
        lock = await asyncio.to_thread(self._store.lock, path)
        try:
            saved = await asyncio.to_thread(self._store.read_for_writing, path)
        except BaseException:
            lock.release()
            raise
        await self._leave()
        self._at_work(path, lock)
        events = [record.event for record in saved.records]
        self._session.open(self.session_id, _title_of(path, events), events, skipped=saved.skipped)
        self._write_down(saved)
        await self._end_unfinished(unfinished(events))

    async def fork(self, session_id: str = "", turn: int = 0) -> None:
        """Go on with a copy of that session (""): this one), up to and with that turn (0: whole)."""
        await self._flush()
        path = self._path if not session_id else await asyncio.to_thread(self._store.path_of, session_id)
        if not is_regular(path):
            raise SessionRefused("There is nothing to copy yet.")
        copy = await asyncio.to_thread(fork_session, self._store, path, self._session.workspace, turn)
        await self.open(copy.stem)

    async def rename(self, session_id: str, title: str) -> None:
        """Give a session a title; it may be the one at work."""
        wanted = clean(first_line(title)).strip()[:_TITLE_LENGTH]
        if not wanted:
            raise SessionRefused("A title needs a word: /rename TITLE.")
        if session_id == self.session_id:
            self._session.rename(wanted)
            await self._flush()
            if is_regular(self._path):
                await asyncio.to_thread(self._store.set_title, self._path, wanted)
        else:
            path = await asyncio.to_thread(self._store.path_of, session_id)
            await asyncio.to_thread(self._store.append, path, SessionRenamed(title=wanted))
            await asyncio.to_thread(self._store.set_title, path, wanted)

    async def delete(self, session_id: str) -> None:
        """Delete a session with all that belongs to it."""
        if session_id == self.session_id:
            raise SessionRefused("This session is open: begin another one first (/new).")
        path = await asyncio.to_thread(self._store.path_of, session_id)
        await asyncio.to_thread(self._store.delete, path)

    async def export(self, format: ExportFormat, path: str = "") -> Path:
        """Write this session to a new file; "" names one in the workspace. Gives the file."""
        await self._flush()
        if not is_regular(self._path):
            raise SessionRefused("There is nothing to export yet.")
        return await asyncio.to_thread(
            export_session, self._store, self._path, format, self._session.workspace, path
        )

    async def changes(self, turn: int) -> Changes:
        """What the edits of a turn changed; 0: of all turns, -1: of the newest turn that changed any."""
        changes = await asyncio.to_thread(self._turn_changes().changes, turn)
        past = self._session.past
        titles = (
            message.text
            for message in past.messages
            if message.turn == changes.turn and message.role == "user" and not message.by_program
        )
        commands = sum(
            isinstance(result.display, CommandDisplay)
            for number, steps in past.steps.items()
            if changes.turn in (0, number)
            for step in steps
            for _, result in step.calls
        )
        return replace(changes, title=first_line(next(titles, "")), commands=commands)

    async def undo(self, turn: int) -> str:
        """Take the files of a turn back to what they were before it; gives a sentence about that."""
        async with self._session.undisturbed("undo"):
            work = self._turn_changes()
            number = await asyncio.to_thread(work.turn_meant, turn)
            taken = await asyncio.to_thread(work.undo, number)
            if taken.files:
                self._session.note_undone(number, taken.files)
        return " ".join(taken.problems)

    async def close(self) -> None:
        """After the session was closed: wait until everything is on the disk."""
        await self._put_away()
        if self._cleaning:
            await self._cleaning

    def _turn_changes(self) -> TurnChanges:
        if self._keeper.checkpoints is None:
            raise SessionRefused("Nothing is kept of changes here.")
        return TurnChanges(self._keeper.checkpoints)

    def _at_work(self, path: Path, lock: SessionLock | None = None) -> None:
        self._path, self._lock = path, lock
        self._keeper.checkpoints = Checkpoints(self._store.checkpoints_of(path.stem))
        self._keeper.turn = lambda: self._session.turn

    def _write_down(self, saved: SessionFile | None) -> None:
        """From now on what happens is written to the file of the session at work."""
        header = saved.header if saved else Header(
            id=self.session_id, workspace=str(self._session.workspace), began=self._store.now(),
            model=self._session.model, program=__version__,
        )  # fmt: skip
        self._journal = Journal(
            self._path,
            header,
            self._session.bus,
            on_problem=self._tell,
            size=saved.whole_bytes or 0 if saved else 0,
            number=saved.next_number if saved else 0,
            opener=self._open_locked,
        )
        if self._keeps_pending:
            self._pending = PendingFile(
                pending_file(self._path), journal_flushed=self._journal.flushed, on_problem=self._tell
            )
        self._session.keep_pending_with(self._pending)

    async def _open_locked(self, path: Path) -> Any:
        """The session file, which is this program's own from its first line on. Raises OSError."""
        if self._lock is None:
            try:
                self._lock = await asyncio.to_thread(self._store.lock, path)
            except (StorageFailed, SessionRefused) as error:
                raise OSError(str(error)) from error
        return await open_file(path)

    async def _end_unfinished(self, state: Unfinished) -> None:
        recovered = await self._recovered(state) if self._keeps_pending else None
        self._session.resume(endings(state, recovered), recovered)
        if recovered is None and self._pending:
            self._pending.keep(self._session.identity, None)

    async def _recovered(self, state: Unfinished) -> PendingState | None:
        """The pending state that was kept, where it can be gone on with."""
        kept = await asyncio.to_thread(read_pending, pending_file(self._path))
        if kept is None or not still_valid(kept[1], state):
            return None
        identity, pending = kept
        adopted = self._session.adopt(pending, identity)
        if adopted is None:
            self._tell(f"The incomplete turn belongs to {identity.model}: its work is abandoned.")
            return None
        return replace(adopted, facts=tuple(state.facts))

    async def _leave(self) -> None:
        """End what runs, abandon what is pending, and finish the file of the session at work."""
        self._session.stop()
        await self._session.wait_until_idle()
        if self._session.pending:
            self._session.discard()
        await self._put_away()

    async def _put_away(self) -> None:
        if self._pending:
            await self._pending.kept()
        if self._journal and not await self._journal.close():
            self._tell(f"A part of the session could not be saved: {self._path}.")
        if self._lock:
            self._lock.release()
        self._journal = self._pending = self._lock = None

    async def _flush(self) -> None:
        if self._journal:
            await self._journal.flushed()

    def _tell(self, sentence: str) -> None:
        self._session.bus.publish(Notice(turn=0, text=sentence))


def fork_session(store: SessionStore, path: Path, workspace: Path, turn: int = 0) -> Path:
    """Copy a session, up to and with that turn (0: whole), with what was kept of its changes. Blocks.

    Raises:
        StorageFailed: no such turn, or it can't be written.
    """
    copy = store.fork(path, workspace, turn)
    Checkpoints(store.checkpoints_of(path.stem)).copy_to(
        store.checkpoints_of(copy.stem), up_to=turn or sys.maxsize
    )
    return copy


def export_session(
    store: SessionStore, session: Path, format: ExportFormat, folder: Path, path: str = ""
) -> Path:
    """Write a saved session to a new file; "" names one in the folder. Blocks.

    Raises:
        StorageFailed: it can't be read, the file is there already, or it can't be written.
    """
    from keen_tui.exporting import ExportSource, export_text  # noqa: PLC0415 - only when one exports

    saved = store.read(session)
    events = [record.event for record in saved.records]
    title = _title_of(session, events)
    source = ExportSource(
        title=title or session.stem,
        session_id=session.stem,
        workspace=saved.header.workspace,
        began=saved.header.began,
        model=saved.header.model,
        events=events,
    )
    file = folder / (Path(path).expanduser() if path else f"keen-{session.stem}{_SUFFIXES[format]}")
    try:
        with file.open("x", encoding="utf-8", errors="replace") as opened:
            opened.write(export_text(format, source))
    except FileExistsError as error:
        raise StorageFailed(f"{file} is there already: name another file.") from error
    except OSError as error:
        raise StorageFailed(f"{file} can't be written: {error.strerror}.") from error
    return file


def _title_of(path: Path, events: list[Event]) -> str:
    """The title that the user gave last, as the session file says it, else the one beside it."""
    renamed = (event.title for event in reversed(events) if isinstance(event, SessionRenamed))
    return next(renamed, "") or own_title(path)
