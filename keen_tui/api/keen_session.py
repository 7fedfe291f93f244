"""A session as a program has it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path

from msgspec import Struct

from keen_tui.agent.services.session_manager import SessionManager
from keen_tui.agent.session import Session
from keen_tui.api.answering import ProgramAnswers
from keen_tui.api.running_turn import RunningTurn
from keen_tui.domain.bus import Subscription
from keen_tui.domain.choices import Mode
from keen_tui.domain.errors import SessionRefused
from keen_tui.domain.messages import Message, TurnMemory, UnknownCall
from keen_tui.memory.recorder import turn_memory


class PendingWork(Struct, frozen=True, kw_only=True):
    """The work of an incomplete turn, which `retry` continues.

    `calls` is the number of finished tool calls, `text` what the model said meanwhile, `memory` which files
    they changed and which commands failed. The effects of `unknown_calls` aren't known: they were cut off.
    `agents` is the number of sub-agents that a retry goes on with.
    """

    calls: int
    text: str
    memory: TurnMemory
    unknown_calls: tuple[UnknownCall, ...] = ()
    agents: int = 0


class KeenSession:
    """A session in a folder. `open_session` makes one. It belongs to one event loop.

    `notices` are sentences about its opening: what couldn't be read, which instructions were.
    """

    def __init__(
        self, session: Session, history: SessionManager, answering: ProgramAnswers, notices: tuple[str, ...]
    ) -> None:
        self.notices = notices
        self._session = session
        self._history = history
        self._answering = asyncio.create_task(answering.follow(), name="answer questions")
        self._loop = asyncio.get_running_loop()
        self._beginning = asyncio.Lock()
        self._current: Subscription | None = None
        self._is_ending = False
        self._is_closed = False

    # What a program reads.

    @property
    def id(self) -> str:
        """The id of the session, for `resume`."""
        return self._history.session_id

    @property
    def folder(self) -> Path:
        """The folder that it works in."""
        return self._session.workspace

    @property
    def model(self) -> str:
        """The name of the model."""
        return self._session.model

    @property
    def mode(self) -> Mode:
        """The permission mode."""
        return self._session.mode

    @property
    def running(self) -> bool:
        """Whether a turn runs."""
        return self._session.running

    @property
    def pending(self) -> PendingWork | None:
        """The work of a turn that broke off, until a retry finishes it or `discard`; None: there is none."""
        kept = self._session.pending
        if kept is None:
            return None
        return PendingWork(
            calls=kept.calls,
            text="\n\n".join(filter(None, kept.texts)),
            memory=turn_memory(kept.all_facts),
            unknown_calls=kept.unknown_calls,
            agents=kept.agents,
        )

    @property
    def memory(self) -> Mapping[int, TurnMemory]:
        """What later turns remember, by the number of the turn. A summary stands under its last turn."""
        answered = (each for each in self._session.conversation if each.role == "assistant")
        return {each.turn: each.memory or TurnMemory() for each in answered}

    @property
    def conversation(self) -> tuple[Message, ...]:
        """The messages that later turns are built from."""
        return self._session.conversation

    # What it can be told.

    def ask(self, text: str) -> RunningTurn:
        """A turn with this message: iterate over its events. If the last turn is incomplete, its work is kept
        and this turn continues after it.

        The iteration raises SessionRefused if the message is empty, another turn runs, or the session is
        closed.
        """
        return RunningTurn(self, lambda: self._submit(text))

    def retry(self) -> RunningTurn:
        """Another attempt at the turn that broke off, from its last result: iterate over its events.

        The iteration raises SessionRefused if the last turn is done, another one runs, or the session is
        closed.
        """
        return RunningTurn(self, self._session.retry)

    def stop(self) -> None:
        """Stop the running turn. Its end event still comes. No effect if none runs."""
        self._is_ending = True
        self._session.stop()

    def discard(self) -> None:
        """Give up the turn that broke off. Later turns still know which files it changed. Raises
        SessionRefused: the last turn is done, or one runs."""
        self._session.discard()

    def set_mode(self, mode: Mode) -> None:
        """Change the permission mode, from the next call on."""
        self._session.set_mode(mode)

    # What a `RunningTurn` needs, and `open_session`.

    async def begin(self, start: Callable[[], None]) -> Subscription:
        """Start a turn, once one that was stopped has ended. Returns its events. Raises SessionRefused."""
        async with self._beginning:
            if self._is_closed:
                raise SessionRefused("The session is closed.")
            if self._is_ending:
                await self._session.halt()
                self._is_ending = False
            if self._session.running:
                raise SessionRefused(
                    "A turn is running in this session: read its events to the end, or call stop() first."
                )
            reader = self._session.bus.subscribe()
            try:
                start()
            except SessionRefused:
                reader.close()
                raise
            self._current = reader
            return reader

    async def flushed(self) -> bool:
        """Wait until the session file holds everything so far; False: it can't be written."""
        return await self._history.flushed()

    def leave(self, reader: Subscription) -> None:
        """Nobody reads that turn any more: stop it, if it is the newest. In any thread."""
        if reader is self._current:
            self._is_ending = True
        with suppress(RuntimeError):  # the loop is closed
            self._loop.call_soon_threadsafe(self._left, reader)

    async def close(self) -> str:
        """Stop what runs, and wait until everything is saved. Returns a sentence about what couldn't be,
        "" if all is."""
        self._is_closed = True
        await self._session.close()
        problem = await self._history.close()
        await self._answering
        return problem

    def _submit(self, text: str) -> None:
        if not text.strip():
            raise SessionRefused("The message is empty.")
        self._session.submit(text)

    def _left(self, reader: Subscription) -> None:
        reader.close()
        if reader is self._current and self._is_ending:
            self._session.stop()
