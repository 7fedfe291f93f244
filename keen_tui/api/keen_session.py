"""The session that a program works with."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import get_args

from msgspec import Struct

from keen_tui.agent.services.session_manager import SessionManager
from keen_tui.agent.session import Session
from keen_tui.api.answering import ProgramAnswers
from keen_tui.api.running_turn import RunningTurn
from keen_tui.domain.bus import Subscription
from keen_tui.domain.choices import Mode
from keen_tui.domain.errors import ConfigError, SessionRefused
from keen_tui.domain.messages import Message, TurnMemory, UnknownCall, turn_memory


class PendingWork(Struct, frozen=True, kw_only=True):
    """The work of an incomplete turn, which `retry` continues.

    `calls` is the number of finished tool calls, `text` the model's text so far, `memory` the files that the
    calls changed and the commands that failed. `unknown_calls` were cut off, so their effects aren't known.
    `agents` is the number of sub-agents that a retry continues.
    """

    calls: int
    text: str
    memory: TurnMemory
    unknown_calls: tuple[UnknownCall, ...] = ()
    agents: int = 0


class KeenSession:
    """A session in a folder, made by `open_session`. It belongs to one event loop.

    `notices` are sentences about its opening, such as which instructions were read and what couldn't be.
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

    # Facts for the program

    @property
    def id(self) -> str:
        """The id of the session, for `resume`."""
        return self._history.session_id

    @property
    def folder(self) -> Path:
        """The folder that the session works in."""
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
        """Whether a turn is running."""
        return self._session.running

    @property
    def pending(self) -> PendingWork | None:
        """The work of an interrupted turn, until a retry finishes it or `discard` drops it; None if there
        is none."""
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
        """The TurnMemory of each turn, by its number. A summary has the number of the last turn in it."""
        answered = (each for each in self._session.conversation if each.role == "assistant")
        return {each.turn: each.memory or TurnMemory() for each in answered}

    @property
    def conversation(self) -> tuple[Message, ...]:
        """The messages that later turns are built from."""
        return self._session.conversation

    # Commands for the program

    def ask(self, text: str) -> RunningTurn:
        """A turn with this message: iterate over it for its events. If the last turn is incomplete, its work
        is kept and this turn continues after it.

        The iteration raises SessionRefused if the message is empty, another turn is running, or the session
        is closed.

        Raises:
            ConfigError: the message isn't a text.
        """
        if not isinstance(text, str):
            raise ConfigError(f"ask: the message must be a string, not {type(text).__name__}.")
        return RunningTurn(self, lambda: self._submit(text))

    def retry(self) -> RunningTurn:
        """Another attempt at the interrupted turn, from its last result: iterate over it for its events.

        The iteration raises SessionRefused if the last turn is done, another one is running, or the session
        is closed.
        """
        return RunningTurn(self, self._session.retry)

    def stop(self) -> None:
        """Stop the running turn, from any thread. Its end event still comes. No effect if no turn is
        running."""
        self._is_ending = True
        if self._is_own_loop():
            self._session.stop()
        else:
            self._in_loop(self._stop_now)

    def discard(self) -> None:
        """Give up the interrupted turn. Later turns still know which files it changed.

        Raises:
            SessionRefused: the last turn is done, or a turn is running.
        """
        self._session.discard()

    def set_mode(self, mode: Mode) -> None:
        """Change the permission mode, from the next call on. Raises ConfigError: there is no such mode."""
        if mode not in get_args(Mode):
            raise ConfigError(f"set_mode: the mode must be one of {', '.join(get_args(Mode))}, not {mode!r}.")
        self._session.set_mode(mode)

    # For `RunningTurn` and `open_session`

    async def begin(self, start: Callable[[], None]) -> Subscription:
        """Start a turn, after the end of one that was stopped. Returns its events. Raises SessionRefused."""
        if not self._is_own_loop():
            raise SessionRefused("A session belongs to the event loop that opened it: ask it there.")
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
        """Wait until the session file holds everything so far. False if it can't be written."""
        return await self._history.flushed()

    def leave(self, reader: Subscription) -> None:
        """Stop the turn with this reader, which nobody reads any more, if it is the newest. Thread-safe."""
        if reader is self._current:
            self._is_ending = True
        self._in_loop(self._left, reader)

    async def close(self) -> str:
        """Stop the running turn, and wait until everything is saved. Returns a sentence about what couldn't
        be saved, "" if everything was."""
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
        if reader is self._current:
            self._stop_now()

    def _stop_now(self) -> None:
        if self._is_ending:  # else the next turn has begun
            self._session.stop()

    def _is_own_loop(self) -> bool:
        try:
            return asyncio.get_running_loop() is self._loop
        except RuntimeError:
            return False

    def _in_loop(self, action: Callable[..., None], *arguments: object) -> None:
        with suppress(RuntimeError):  # the loop is closed
            self._loop.call_soon_threadsafe(action, *arguments)
