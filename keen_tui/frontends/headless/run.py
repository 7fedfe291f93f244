"""Runs one turn without a screen, from the prompt to the exit code."""

from __future__ import annotations

import asyncio
import os
import signal
import stat
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from typing import Final, TextIO, assert_never

from keen_tui.agent.services.session_manager import SessionManager
from keen_tui.agent.session import Session
from keen_tui.domain.bus import Subscription
from keen_tui.domain.choices import Output
from keen_tui.domain.errors import (
    PROGRAM_ENDED,
    STOPPED,
    ConfigError,
    OutputFailed,
    SessionInUse,
    SessionRefused,
)
from keen_tui.domain.events import (
    AgentEvent,
    BackgroundChanged,
    Compacted,
    EndEvent,
    Event,
    Notice,
    SessionOpened,
    SessionRestored,
    ToolFinished,
    TurnAbandoned,
    TurnDone,
    TurnError,
    TurnIncomplete,
    TurnStarted,
)
from keen_tui.frontends.headless.outlets import is_abandoned, note, unwritable
from keen_tui.frontends.headless.printer import Printer, is_without_answer
from keen_tui.frontends.headless.sentences import what_is_pending, what_opening_did

EXIT_DONE, EXIT_ERROR, EXIT_INCOMPLETE = 0, 1, 3

_STOPPING: Final = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)
"""The signals of ctrl+c, of a system that shuts down, of a lost terminal and of ctrl+\\."""

_OPENING = (SessionOpened, SessionRestored, TurnAbandoned, Notice)
"""Events that may say what the opening of a session did."""

_ENDS = (TurnDone, TurnIncomplete, TurnError)

_LATE = (Notice, BackgroundChanged)
"""Events that may come while the end is saved."""

SAVED_FIRST = (TurnStarted, ToolFinished, Compacted, *_ENDS)
"""Events that are printed only when the session file holds them, so readers can rely on them."""


def is_saved_first(event: Event) -> bool:
    """Whether the event is one of these, or a sub-agent's: then the session file holds its facts."""
    return isinstance(event.event if isinstance(event, AgentEvent) else event, SAVED_FIRST)


async def run_prompt(
    session: Session,
    prompt: str | Callable[[], Awaitable[str]],
    output: Output,
    out: TextIO,
    err: TextIO | None,
    history: SessionManager,
    *,
    opening: str = "",
    notices: Sequence[str] = (),
) -> int:
    """Run one turn and print it. `prompt` is its message, or gives it. Returns the exit code. SIGINT,
    SIGTERM, SIGHUP and SIGQUIT stop the turn; after the last three, and when nobody reads `out` any more, an
    incomplete turn outlives the program, unless the user has decided otherwise.

    `opening` is the id of the session that the turn goes on with, "" begins a new one. `notices` are said
    before the turn.

    Raises:
        ConfigError: mode auto without a sandbox that was not turned off.
        SessionRefused: there is no message. SessionInUse: another program has that session.
        StorageFailed: it can't be read.
        OutputFailed: `out` can't be written. The turn was stopped then.
    """
    try:
        await require_sandbox(session)
        opened = await opened_session(session, history, opening)
        printer = Printer(output, out, err, history.session_id, keeps_pending=history.keeps_pending)
        printer.begin((*notices, *opened))
        text = prompt if isinstance(prompt, str) else await filled_in(prompt)
        cut_off = CutOff(history, printer, partial(session.stop, PROGRAM_ENDED))
        with stopping_on_signals(session.stop, cut_off), watching(out, cut_off):
            reader = session.bus.subscribe()
            session.submit(text)
            await _print_turn(reader, history, printer, out)
    except OutputFailed as error:
        raise OutputFailed(f"{error} The turn is in session {history.session_id}.") from error
    finally:
        await session.close()
        if problem := await history.close():
            note(problem, err)
    return exit_code(printer.end)


async def opened_session(session: Session, history: SessionManager, opening: str) -> list[str]:
    """Begin a session, or open the one with that id. Returns sentences about what that did.

    Raises:
        SessionInUse, SessionRefused, StorageFailed: it can't be opened.
    """
    past = session.bus.subscribe(wants=lambda event: isinstance(event, _OPENING))
    await history.begin()
    if opening:
        await _open(history, opening)
    await session.report_saved_commits()
    past.close()
    opened = what_opening_did([event async for batch in past for event in batch])
    if session.pending:
        opened.append(what_is_pending(session.pending))
    return opened


async def require_sandbox(session: Session) -> None:
    """Raises ConfigError in auto mode if there is no sandbox, unless `--no-sandbox` was given: nobody can be
    asked whether commands may run without one."""
    if session.mode == "auto" and (reason := await session.missing_sandbox()):
        raise ConfigError(
            f"Auto mode runs commands in a sandbox, and there is none here: {reason}. "
            "Add --no-sandbox to run them without one, or use --mode auto-edit."
        )


async def filled_in(prompt: Callable[[], Awaitable[str]]) -> str:
    """The text of the prompt. Raises SessionRefused, also if a signal stops the wait."""
    asking = asyncio.ensure_future(prompt())
    with stopping_on_signals(asking.cancel):
        await asyncio.wait({asking})
    if asking.cancelled():
        raise SessionRefused(STOPPED)
    return asking.result()


async def _print_turn(reader: Subscription, history: SessionManager, printer: Printer, out: TextIO) -> None:
    """Print the events up to the end of the turn. Notices and ends of commands in the background that come
    while the end is saved are printed before it."""
    async for batch in reader:
        for event in batch:
            saved = await history.flushed() if is_saved_first(event) else None
            if isinstance(event, _ENDS):
                reader.close()
                for late in [late async for rest in reader for late in rest if isinstance(late, _LATE)]:
                    printer.show(late)
                require_reader(out)
            printer.show(event, saved=saved)
            if printer.end:
                return


async def _open(history: SessionManager, session_id: str) -> None:
    try:
        await history.open(session_id)
    except SessionInUse as error:
        raise SessionInUse(
            f"Session {session_id} is open in another program. Add --fork to continue in a copy."
        ) from error


class CutOff:
    """Stops the work of a program that is ended from outside. The turn can be continued afterwards, since
    nobody can be asked about it."""

    def __init__(self, history: SessionManager, printer: Printer, stop: Callable[[], object]) -> None:
        self._history = history
        self._printer = printer
        self._stop = stop

    def __call__(self) -> None:
        self._history.keep_unasked()
        self._printer.keeps_pending = self._history.keeps_pending
        self._stop()


@contextmanager
def stopping_on_signals(
    stop: Callable[[], object], cut_off: Callable[[], object] | None = None
) -> Iterator[None]:
    """A context in which these signals call `stop`; all but SIGINT call `cut_off` instead, if there is one.
    Signals that the parent made us ignore, as nohup does, stay ignored."""
    loop = asyncio.get_running_loop()
    numbers = [number for number in _STOPPING if signal.getsignal(number) is not signal.SIG_IGN]
    for number in numbers:
        loop.add_signal_handler(number, stop if number == signal.SIGINT else cut_off or stop)
    try:
        yield
    finally:
        for number in numbers:
            loop.remove_signal_handler(number)


@contextmanager
def watching(out: TextIO, stop: Callable[[], None]) -> Iterator[None]:
    """A context in which `stop` is called when the last reader of `out` has gone, if `out` is a pipe."""
    loop = asyncio.get_running_loop()
    descriptor = _pipe_of(out)

    def look() -> None:
        if is_abandoned(descriptor):
            loop.remove_reader(descriptor)
            stop()

    if descriptor >= 0:
        loop.add_reader(descriptor, look)  # nothing can be read there: it wakes us for errors alone
    try:
        yield
    finally:
        if descriptor >= 0:
            loop.remove_reader(descriptor)


def require_reader(out: TextIO) -> None:
    """Raises OutputFailed if `out` is a pipe whose last reader has gone."""
    descriptor = _pipe_of(out)
    if descriptor >= 0 and is_abandoned(descriptor):
        raise unwritable(out, BrokenPipeError())


def _pipe_of(out: TextIO) -> int:
    """The descriptor of `out` if it is a pipe, otherwise -1."""
    with suppress(OSError, ValueError):
        descriptor = out.fileno()
        if stat.S_ISFIFO(os.fstat(descriptor).st_mode):
            return descriptor
    return -1


def exit_code(end: EndEvent | None) -> int:
    """The exit code for the end event of the turn; None means that no turn ended."""
    match end:
        case TurnDone():
            return EXIT_ERROR if is_without_answer(end) else EXIT_DONE
        case TurnIncomplete():
            return EXIT_INCOMPLETE
        case TurnError() | None:
            return EXIT_ERROR
        case _:
            assert_never(end)
