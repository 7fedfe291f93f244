"""The second front end: one prompt in, text, JSON or a stream of JSON lines out. Same core, same events."""

from __future__ import annotations

import asyncio
import json
import signal
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any, TextIO, assert_never

from keen_tui.agent.history_desk import HistoryDesk
from keen_tui.agent.session import Session
from keen_tui.choices import Output
from keen_tui.display import CommandDisplay
from keen_tui.errors import KeenError, SessionInUse
from keen_tui.events import (
    ApprovalAnswered,
    EndEvent,
    Event,
    Notice,
    RetryScheduled,
    SessionOpened,
    SessionRestored,
    ToolFinished,
    TurnAbandoned,
    TurnDone,
    TurnError,
    TurnIncomplete,
    Usage,
    as_record,
    as_told,
)
from keen_tui.plain import clean

FAILURE_LINES = 5
"""Lines that are shown of what a failed tool call said."""

EXIT_DONE, EXIT_ERROR, EXIT_USAGE, EXIT_INCOMPLETE = 0, 1, 2, 3


async def run_prompt(
    session: Session,
    prompt: str,
    output: Output,
    out: TextIO,
    err: TextIO,
    history: HistoryDesk,
    *,
    opening: str = "",
    keeps_pending: bool = False,
) -> int:
    """Run one turn and print it. Returns the exit code. SIGINT and SIGTERM stop the turn.

    `opening` is the id of the session that the turn goes on with, "" begins a new one. `keeps_pending`:
    what an incomplete turn leaves outlives this process.

    Raises:
        SessionInUse: another program has that session. StorageFailed: it can't be read.
    """
    past = session.bus.subscribe(wants=lambda event: isinstance(event, _OPENING))
    try:
        await history.begin()
        if opening:
            await _open(history, opening)
    except KeenError:
        await _finish(session, history, err)
        raise
    printer = _Printer(output, out, err, history.session_id, keeps_pending=keeps_pending)
    past.close()
    for sentence in what_opening_did([event async for batch in past for event in batch]):
        printer.say(f"! {sentence}")
    printer.show(SessionOpened(id=history.session_id))
    reader = session.bus.subscribe()
    with _stopping_on_signals(session):
        session.submit(prompt)
        try:
            async for batch in reader:
                for event in batch:
                    printer.show(event)
                if printer.end:
                    break
        except BrokenPipeError:
            pass
        finally:
            await _finish(session, history, err)
    return _exit_code(printer.end)


_OPENING = (SessionOpened, SessionRestored, TurnAbandoned, Notice)
"""Events that may tell what opening a session did to it, besides drawing its past."""


async def _open(history: HistoryDesk, session_id: str) -> None:
    try:
        await history.open(session_id)
    except SessionInUse as error:
        raise SessionInUse(
            f"Session {session_id} is open in another program. Add --fork to go on with a copy of it."
        ) from error


async def _finish(session: Session, history: HistoryDesk, err: TextIO) -> None:
    await session.close()
    if problem := await history.close():
        print(clean(problem), file=err, flush=True)


@contextmanager
def _stopping_on_signals(session: Session) -> Iterator[None]:
    loop = asyncio.get_running_loop()
    numbers = (signal.SIGINT, signal.SIGTERM)
    for number in numbers:
        loop.add_signal_handler(number, session.stop)
    try:
        yield
    finally:
        for number in numbers:
            loop.remove_signal_handler(number)


def _exit_code(end: EndEvent | None) -> int:
    match end:
        case TurnDone():
            return EXIT_DONE
        case TurnIncomplete():
            return EXIT_INCOMPLETE
        case TurnError() | None:
            return EXIT_ERROR
        case _:
            assert_never(end)


class _Printer:
    """Prints events in one of the output formats; `end` is the end event once it came.

    What a person should know goes to `err` in the text format, so that `out` holds the answer alone.
    """

    def __init__(
        self, output: Output, out: TextIO, err: TextIO, session_id: str, *, keeps_pending: bool
    ) -> None:
        self._session_id = session_id
        self._keeps_pending = keeps_pending
        self.end: EndEvent | None = None
        self._output = output
        self._out = out
        self._err = err
        self._usage = _Total()

    def show(self, event: Event) -> None:
        if self._output == "stream-json":
            self._print_json(as_told(event))
        match event:
            case Usage():
                self._usage.add(event)
            case TurnDone() | TurnIncomplete() | TurnError():
                self.end = event
                self._show_end(event)
            case _ if self._output == "text":
                self.say(progress_line(event))
                for line in failure_lines(event):
                    self.say(f"    {line}")

    def _show_end(self, end: EndEvent) -> None:
        if self._output == "json":
            facts = {"session_id": self._session_id, "usage": self._usage.record()}
            self._print_json(as_record(end) | facts)
        if self._output == "text" and end.text:
            print(clean(end.text) if self._out.isatty() else end.text, file=self._out, flush=True)
        if not isinstance(end, TurnDone):
            self.say(what_is_lost(end, self._session_id if self._keeps_pending else ""))

    def say(self, line: str | None) -> None:
        """A line for a person, None for none."""
        if line:
            print(clean(line), file=self._err, flush=True)

    def _print_json(self, record: dict[str, Any]) -> None:
        print(json.dumps(record, ensure_ascii=False), file=self._out, flush=True)


class _Total:
    """Tokens and cost of all steps. The cost is unknown as soon as that of one step is."""

    def __init__(self) -> None:
        self._tokens = {"input_tokens": 0, "output_tokens": 0, "cached_tokens": 0}
        self._costs: list[float | None] = []

    def add(self, usage: Usage) -> None:
        for name in self._tokens:
            self._tokens[name] += getattr(usage.tokens, name) or 0
        self._costs.append(usage.cost)

    def record(self) -> dict[str, Any]:
        known = [cost for cost in self._costs if cost is not None]
        is_known = bool(known) and len(known) == len(self._costs)
        return {**self._tokens, "cost_usd": sum(known) if is_known else None}


def progress_line(event: Event) -> str | None:
    """One line for a person who watches a log, or None."""
    match event:
        case ToolFinished(result=result):
            mark = "-" if result.denied else "x" if result.is_error or result.exit_code else "+"
            return f"{mark} {event.name} {event.target}   {result.summary}".rstrip()
        case RetryScheduled():
            again = f"Trying again in {event.delay:.1f} s ({event.attempt} of {event.max_attempts})."
            return f"! {event.detail} {again}"
        case ApprovalAnswered(by="headless"):
            return f"- denied: {event.message}"
        case Notice():
            return f"! {event.text}"
    return None


def failure_lines(event: Event) -> list[str]:
    """Why a tool call failed: the last lines of what it said. None for calls that were denied or stopped:
    that is said elsewhere."""
    if not isinstance(event, ToolFinished) or event.result.denied or event.result.interrupted:
        return []
    result = event.result
    if result.exit_code and isinstance(result.display, CommandDisplay):
        said = result.display.output
    else:
        said = result.text.removeprefix("Error: ") if result.is_error else ""
    return [line.rstrip() for line in said.splitlines() if line.strip()][-FAILURE_LINES:]


def what_opening_did(events: Iterable[Event]) -> list[str]:
    """Sentences about the session that was opened last: which instructions were read, what of it could not
    be, and work that could not be gone on with. All that happened before it was restored is of its past."""
    said: list[str] = []
    restored = False
    for event in events:
        match event:
            case SessionOpened():
                said.clear()
                restored = not event.restoring
            case SessionRestored():
                restored = True
                said.append(event.skipped)
            case TurnAbandoned() if restored:
                files = ", ".join(event.turn_memory.files_changed) or "none"
                said.append(f"Turn {event.turn} was not done: its work is abandoned; files changed: {files}.")
            case Notice() if restored:
                said.append(event.text)
    return [sentence for sentence in said if sentence]


def what_is_lost(end: TurnIncomplete | TurnError, kept_in: str) -> str:
    """Why the turn is not done and what goes with this process (turn.md rule 8). Nothing does where its work
    is `kept_in` a session: then how to go on."""
    if isinstance(end, TurnError):
        how = "stopped" if end.reason == "interrupted" else "failed"
        return f"Turn {how}: {end.detail} Nothing was run."
    files = ", ".join(end.turn_memory.files_changed) or "none"
    calls = "1 finished call is" if end.calls == 1 else f"{end.calls} finished calls are"
    if kept_in:
        fate = f"kept; files changed: {files}. keen-tui --resume {kept_in} goes on, /retry there or -p TEXT."
    else:
        fate = f"lost with this process; files changed: {files}."
    return f"Turn incomplete: {end.detail} {calls} {fate}"
