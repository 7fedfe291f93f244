"""The saved sessions of sub-agents: each has a file, in a folder of the session that it belongs to."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence

from keen_tui.agent.services.session_loading import read_for_opening
from keen_tui.agent.services.session_writer import SessionWriter
from keen_tui.agent.session import Session
from keen_tui.domain.errors import StorageFailed
from keen_tui.domain.events import Event
from keen_tui.storage.lookup.sessions import SessionStore
from keen_tui.storage.paths import is_regular, is_session_id
from keen_tui.storage.pending_file import forget_pending, pending_files


class SavedAgents:
    """Saves the sessions of one session's sub-agents.

    Args:
        session_id: the session that they belong to.
        keeps_pending: whether pending state outlives the program.
        on_problem: is told in a sentence when writing fails or works again.
        on_over: is told the sentence of a failure that is over.
    """

    def __init__(
        self,
        store: SessionStore,
        session_id: str,
        *,
        keeps_pending: Callable[[], bool],
        on_problem: Callable[[str], None],
        on_over: Callable[[str], None] = lambda sentence: None,
    ) -> None:
        self._store = store
        self._of = session_id
        self._keeps_pending = keeps_pending
        self._on_problem = on_problem
        self._on_over = on_over
        self._open: dict[str, tuple[Session, SessionWriter]] = {}

    def new_id(self) -> str:
        """The id of a new session."""
        return self._store.new_agent_id()

    async def open(self, session: Session, session_id: str) -> Sequence[Event]:
        """Save the session from now on. If it was saved before, it goes on from there; returns what happened
        until then. Raises KeenError."""
        if not is_session_id(session_id):
            raise StorageFailed("The session of the sub-agent has no valid id.")
        path, keeps = self._store.agent_path(self._of, session_id), self._keeps_pending()
        opening = None
        if await asyncio.to_thread(is_regular, path):
            opening = await asyncio.to_thread(read_for_opening, self._store, path, keeps_pending=keeps)
        instructions = session.state.open.setup.instructions
        session.open(
            session_id,
            opening.title if opening else "",
            opening.events if opening else (),
            conversation=opening.conversation if opening else None,
            instructions=instructions,
            transcript=str(path),
        )
        writer = SessionWriter(
            session,
            self._store,
            path,
            lock=opening.lock if opening else None,
            saved=opening.saved if opening else None,
            on_problem=self._on_problem,
            on_over=self._on_over,
        )
        writer.take_over(opening, keeps_pending=keeps)
        self._open[session_id] = session, writer
        return opening.events if opening else ()

    async def close(self, session_id: str) -> None:
        """Finish the file of that session."""
        _, writer = self._open.pop(session_id, (None, None))
        if writer and not await writer.close():
            self._on_problem(f"Part of the session of a sub-agent could not be saved: {writer.path}.")

    async def forget_pending(self) -> None:
        """Remove the pending state of all sessions that aren't open: nobody goes on with them."""
        folder = self._store.agent_path(self._of, "any").parent
        for file in await asyncio.to_thread(pending_files, folder):
            if file.stem not in self._open:
                await asyncio.to_thread(forget_pending, file)

    def keep_pending(self, durable: bool) -> None:
        """Whether pending state outlives the program from now on, that of this moment included."""
        for session, writer in self._open.values():
            session.keep_pending_with(writer.pending if durable else None)
            if not durable:
                writer.pending.keep(session.identity, None)
