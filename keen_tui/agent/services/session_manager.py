"""The saved sessions, for a front end: the one at work is written down, others can take its place."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import AsyncGenerator, Callable
from pathlib import Path

from keen_tui.agent.services.agent_files import SavedAgents
from keen_tui.agent.services.other_programs import Neighbours
from keen_tui.agent.services.session_export import export_session
from keen_tui.agent.services.session_loading import Opening, is_long, preview, read_for_opening
from keen_tui.agent.services.session_writer import SessionWriter
from keen_tui.agent.services.store_upkeep import Upkeep
from keen_tui.agent.services.titles import Titler
from keen_tui.agent.services.undo import TurnBackup
from keen_tui.agent.session import Session
from keen_tui.agent.subagents.sub_agents import SubAgents
from keen_tui.domain.choices import ExportFormat, Titles
from keen_tui.domain.errors import KeenError, SessionRefused, SessionUnknown, StorageFailed
from keen_tui.domain.events import Notice, NoticeOver, PendingKept, SessionRenamed
from keen_tui.domain.reports import SavedSession, SearchHit
from keen_tui.storage.checkpoints.checkpoints import Checkpoints
from keen_tui.storage.journal import FileOpener, open_file
from keen_tui.storage.lookup.sessions import SessionStore
from keen_tui.storage.outputs import OutputFiles
from keen_tui.storage.paths import is_regular
from keen_tui.text.sanitize import clean
from keen_tui.text.units import first_line

_TITLE_LENGTH = 120


class SessionManager:
    """Writes the session at work to its file and puts others in its place.

    Args:
        backup: what the tools keep changed files and long output with; it is given where, session by session.
        keeps_pending: whether pending state outlives the program (`pending.durable`).
        memory_only: whether the user has decided that pending state stays in memory. It is asked when a
            program ends unasked, or finds saved pending state. May block.
        titles: which models are asked for the title of a session.
        opener: opens session files to be written; tests hand in one that breaks.
        neighbours: the other programs in this folder; None where they don't matter.
        agents: the sub-agents of the session, whose sessions are saved with it; None: there are none.
        indexes: whether to build, behind the start, what makes lists and searches of many sessions fast.
    """

    def __init__(
        self,
        session: Session,
        store: SessionStore,
        backup: TurnBackup,
        *,
        keeps_pending: bool = False,
        memory_only: Callable[[], bool] = lambda: False,
        titles: Titles = "off",
        opener: FileOpener = open_file,
        indexes: bool = False,
        neighbours: Neighbours | None = None,
        agents: SubAgents | None = None,
    ) -> None:
        self.neighbours = neighbours
        self._session = session
        self._store = store
        self._backup = backup
        self.agents = agents or SubAgents()
        self._keeps_pending = keeps_pending
        self._keeps_pending_here = keeps_pending
        self._memory_only = memory_only
        self._opener = opener
        self._scribe: SessionWriter | None = None
        self._titles: Titles = titles
        self._titler: Titler | None = None
        self._upkeep = Upkeep(store, indexes=indexes)

    @property
    def session_id(self) -> str:
        """The session at work."""
        return self._scribe.path.stem if self._scribe else ""

    @property
    def keeps_pending(self) -> bool:
        """Whether the pending state of the session at work outlives the program."""
        return self._keeps_pending_here

    def keep_pending(self, durable: bool) -> None:
        """Whether pending state outlives the program from now on, that of this moment included."""
        self._keeps_pending = durable
        self._keep_here(durable)
        if self._scribe and not durable:
            self._scribe.pending.keep(self._session.identity, None)

    def keep_unasked(self) -> None:
        """The program or its session is about to end, and nobody can be asked about the turn that runs or is
        pending: let its pending state outlive the program, unless the user has decided otherwise (turn.md
        rule 9). Call it before the session is closed."""
        has_work = self._session.running or self._session.pending
        if has_work and not (self._keeps_pending_here or self._memory_only()):
            self._keep_here(True)

    def keep_pending_here(self) -> None:
        """Let the pending state of this session alone outlive the program, as a run needs it."""
        if not self._keeps_pending_here:
            self._keep_here(True)

    def _keep_here(self, durable: bool) -> None:
        self._keeps_pending_here = durable
        if scribe := self._scribe:
            self._session.keep_pending_with(scribe.pending if durable else None)
        if files := self.agents.files:
            files.keep_pending(durable)
        self._session.bus.publish(PendingKept(durable=durable))

    async def begin(self) -> None:
        """Begin with an empty session, whose file is made with its first message."""
        if self.neighbours:
            self.neighbours.start()
        if self._titles != "off":
            self._titler = Titler(self._session, self._titles, self.rename)
        await self.new()
        self._upkeep.start()

    async def sessions(
        self, *, everywhere: bool = False, most: int | None = None
    ) -> tuple[SavedSession, ...]:
        """The sessions of this workspace, or of all, newest first; at most so many."""
        workspace = None if everywhere else self._session.workspace
        return await asyncio.to_thread(self._store.list, workspace, most=most)

    async def search(self, words: str) -> AsyncGenerator[tuple[SearchHit, ...], None]:
        """Where the words stand in any session, newest session first: what is found so far, time and again,
        and at last all of it. Whoever has enough of it goes away."""
        search = await asyncio.to_thread(self._store.search, words)
        while (hits := await asyncio.to_thread(next, search, None)) is not None:
            yield hits

    async def new(self) -> None:
        """Begin an empty session."""
        await self._replace(self._store.new_path(self._session.workspace))

    async def promise(self) -> str:
        """Let other programs open this session by its id, though it isn't saved before its first turn.
        Returns a sentence if they can't, "" if they can."""
        try:
            await asyncio.to_thread(self._store.promise, self.session_id)
        except StorageFailed as error:
            return f"Another program can't load this session before its first turn. {error}"
        return ""

    async def open(self, session_id: str) -> None:
        """Go on with that session, or begin the one that another program promised.

        Raises:
            SessionUnknown: there is none. SessionInUse: another program has it. StorageFailed: it can't be
                read. SessionRefused: kept work of another model would be lost (turn.md rule 8).
        """
        try:
            path = await asyncio.to_thread(self._store.path_of, session_id)
        except SessionUnknown:
            if not (promised := self._store.promised_path(session_id, self._session.workspace)):
                raise
            await self._replace(promised)
            return
        if path.stem == self.session_id:
            return
        is_empty = not (self._session.turn or self._session.running)
        if is_empty and await asyncio.to_thread(is_long, path):
            try:
                opening = await self._read_behind_tail(path)
            except KeenError:
                await self.new()
                raise
            await self._replace(path, opening)
        else:
            await self._replace(path, await self._read(path))

    async def fork(self, session_id: str = "", turn: int = 0) -> None:
        """Continue in a copy of that session ("": this one), up to and with that turn (0: whole)."""
        if session_id:
            path = await asyncio.to_thread(self._store.path_of, session_id)
        else:
            await self._session.halt()
            path = await self._flushed()
        if not is_regular(path):
            raise SessionRefused("Nothing to copy yet.")
        copy = await asyncio.to_thread(fork_session, self._store, path, self._session.workspace, turn)
        await self.open(copy.stem)

    async def rename(self, session_id: str, title: str) -> None:
        """Give a session a title; it may be the one at work."""
        wanted = clean(first_line(title)).strip()[:_TITLE_LENGTH]
        if not wanted:
            raise SessionRefused("A title needs at least one word: /rename TITLE.")
        if session_id == self.session_id:
            self._session.rename(wanted)
            path = await self._flushed()
            if not is_regular(path):
                return
        else:
            path = await asyncio.to_thread(self._store.path_of, session_id)
            await asyncio.to_thread(self._store.append, path, SessionRenamed(title=wanted))
        await asyncio.to_thread(self._store.set_title, path, wanted)

    async def delete(self, session_id: str) -> None:
        """Delete a session with all that belongs to it."""
        if session_id == self.session_id:
            raise SessionRefused("This session is open: start another one first (/new).")
        path = await asyncio.to_thread(self._store.path_of, session_id)
        await asyncio.to_thread(self._store.delete, path)

    async def export(self, format: ExportFormat, path: str = "") -> Path:
        """Write this session to a new file: in the folder of exports, or to `path`, which is relative to the
        workspace. Returns the file."""
        session = await self._flushed()
        if not is_regular(session):
            raise SessionRefused("Nothing to export yet.")
        return await asyncio.to_thread(
            export_session, self._store, session, format, self._session.workspace, path
        )

    async def flushed(self) -> bool:
        """Wait until the session at work is on the disk with all that was published so far, and with what is
        pending where that is kept; False when it can't be written."""
        return self._scribe is not None and await self._scribe.flushed()

    async def close(self) -> str:
        """After the session was closed: wait until everything is on the disk. Gives a sentence about what
        could not be saved, "" when all is."""
        self._upkeep.stop_indexing()
        if self.neighbours:
            await self.neighbours.close()
        if self._titler:
            await self._titler.close()
        problem = await _put_away(self._scribe) if self._scribe else ""
        await self._upkeep.wait()
        return problem

    async def _read(self, path: Path) -> Opening:
        opening = await asyncio.to_thread(self._read_file, path)
        if opening.kept and self._session.adopt(opening.kept[1], opening.kept[0]) is None:
            opening.release()
            origin = opening.kept[0]
            raise SessionRefused(
                f"Its incomplete turn belongs to {origin.model} at {origin.base_url}: "
                "open it with that model, or fork it without the turn."
            )
        return opening

    def _read_file(self, path: Path) -> Opening:
        keeps = self._keeps_pending or not self._memory_only()
        return read_for_opening(self._store, path, keeps_pending=keeps)

    async def _read_behind_tail(self, path: Path) -> Opening:
        """Read a long session while its newest turns stand on the screen already, in the place of an empty
        session. What is sent meanwhile waits, and comes into the composer."""
        async with self._session.held():
            if self._scribe:
                self._scribe.stop_listening()
            for event in await asyncio.to_thread(preview, path):
                self._session.bus.publish(event)
            return await self._read(path)

    def _moved(self, opening: Opening) -> str:
        """Says so where a session goes on in another folder than before."""
        before, now = opening.saved.header.workspace, self._session.workspace
        if not before or os.path.realpath(before) == os.path.realpath(now):
            return ""
        return f"This session began in {before}; from now on it works in {now}."

    async def _replace(self, path: Path, opening: Opening | None = None) -> None:
        """Put that session in the place of the one at work, abandoning what is pending there.

        Between the end of what runs and the last event of the past there is no `await`: whatever is said
        belongs to the one session or to the other. The old file is finished afterwards.
        """
        instructions = await self._session.read_instructions()
        await self._session.halt()
        if self._session.pending:
            self._session.discard()
        old, self._scribe = self._scribe, None
        if old:
            old.stop_listening()
        self._backup.checkpoints = Checkpoints(self._store.checkpoints_of(path.stem))
        self._backup.outputs = OutputFiles(self._store.outputs_of(path.stem))
        self._backup.turn = lambda: self._session.turn
        if opening:
            self._session.open(
                path.stem,
                opening.title,
                opening.events,
                skipped=" ".join(
                    filter(
                        None, (opening.saved.skipped, self._moved(opening), opening.copied, instructions.told)
                    )
                ),
                conversation=opening.conversation,
                instructions=instructions,
                transcript=str(path),
            )
        else:
            self._session.open(path.stem, "", (), instructions=instructions, transcript=str(path))
            self._tell(instructions.told)  # before it is written down: the file begins with the first message
        self._scribe = SessionWriter(
            self._session,
            self._store,
            path,
            lock=opening.lock if opening else None,
            saved=opening.saved if opening else None,
            on_problem=self._tell,
            on_over=self._tell_over,
            opener=self._opener,
        )
        keeps = self._keeps_pending or (opening is not None and opening.keeps_pending)
        self._scribe.take_over(opening, keeps_pending=keeps)
        if keeps != self._keeps_pending_here:
            self._keep_here(keeps)
        self.agents.files = files = SavedAgents(
            self._store,
            path.stem,
            keeps_pending=lambda: self._keeps_pending_here,
            on_problem=self._tell,
            on_over=self._tell_over,
        )
        if old:
            self._tell(await _put_away(old))
        if not (self._session.pending and self._session.pending.open_step):
            await files.forget_pending()

    async def _flushed(self) -> Path:
        """The file of the session at work, with all that was said so far."""
        scribe = self._scribe
        if scribe is None:
            raise SessionRefused("No session is open.")
        await scribe.flushed()
        return scribe.path

    def _tell(self, sentence: str) -> None:
        if sentence:
            self._session.bus.publish(Notice(turn=0, text=sentence))

    def _tell_over(self, sentence: str) -> None:
        self._session.bus.publish(NoticeOver(text=sentence))


async def _put_away(scribe: SessionWriter) -> str:
    """Finish a session's file; gives a sentence about what could not be saved."""
    return "" if await scribe.close() else f"Part of the session could not be saved: {scribe.path}."


def fork_session(store: SessionStore, path: Path, workspace: Path, turn: int = 0) -> Path:
    """Copy a session, up to and with that turn (0: whole), with what was kept of its changes. Blocks.

    Raises:
        StorageFailed: no such turn, or it can't be written.
    """
    copy = store.fork(path, workspace, turn)
    kept = Checkpoints(store.checkpoints_of(path.stem))
    try:
        kept.copy_to(store.checkpoints_of(copy.stem), up_to=turn or sys.maxsize)
    except StorageFailed:
        store.delete(copy)
        raise
    return copy
