"""Runs the turns that a program asks for on standard input, up to the exit code."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from functools import partial
from typing import Final, TextIO, assert_never

import msgspec

from keen_tui.agent.services.session_manager import SessionManager
from keen_tui.agent.session import Session
from keen_tui.domain.errors import PROGRAM_ENDED, STOPPED, OutputFailed, SessionRefused
from keen_tui.domain.events import (
    ApprovalAnswered,
    ApprovalRequested,
    EndEvent,
    Event,
    QuestionAnswered,
    QuestionAsked,
    TurnIncomplete,
)
from keen_tui.frontends.headless.input_lines import (
    AnswerLine,
    AnyInputLine,
    ApproveLine,
    DiscardLine,
    InputError,
    InputReader,
    InputRefused,
    MessageLine,
    ReceivedLine,
    RetryLine,
    StopLine,
)
from keen_tui.frontends.headless.outlets import note
from keen_tui.frontends.headless.printer import Printer
from keen_tui.frontends.headless.run import (
    CutOff,
    exit_code,
    filled_in,
    is_saved_first,
    opened_session,
    require_reader,
    stopping_on_signals,
    watching,
)

_ENDED: Final = "standard input has ended, so no answer can come"


class ConversationPrinter(Printer):
    """Prints the events of several turns; the end of a turn isn't the end."""

    def show_end(self, end: EndEvent, *, saved: bool) -> None:
        """Do nothing: the event has been printed, and the turn may still be retried."""

    def show_last(self) -> None:
        """Say on standard error what is lost of the last turn."""
        if self.end:
            super().show_end(self.end, saved=True)


async def run_conversation(
    session: Session,
    prompt: str | Callable[[], Awaitable[str]],
    source: int,
    out: TextIO,
    err: TextIO | None,
    history: SessionManager,
    *,
    opening: str = "",
    notices: Sequence[str] = (),
) -> int:
    """Run the turns that the lines of a file ask for, and print their events. Returns the exit code of the
    last turn, once the lines have ended. Signals stop it as they stop `run_prompt`.

    Args:
        prompt: the first message, or a function that gives it; "" for none.
        source: the file descriptor that has the lines.

    The other arguments are those of `run_prompt`.

    Raises:
        SessionRefused, SessionInUse, StorageFailed, OutputFailed: as `run_prompt` does.
    """
    try:
        opened = await opened_session(session, history, opening)
        printer = ConversationPrinter(
            "stream-json", out, err, history.session_id, keeps_pending=history.keeps_pending
        )
        printer.begin((*notices, *opened))
        text = prompt if isinstance(prompt, str) else await filled_in(prompt)
        conversation = _Conversation(session, history, printer)
        cut_off = CutOff(history, printer, partial(conversation.leave, PROGRAM_ENDED))
        with stopping_on_signals(conversation.leave, cut_off), watching(out, cut_off):
            session.submit(text)
            await conversation.run(source)
        require_reader(out)
        if session.pending or not isinstance(printer.end, TurnIncomplete):
            printer.show_last()
    except OutputFailed as error:
        raise OutputFailed(f"{error} The turns are in session {history.session_id}.") from error
    finally:
        await session.close()
        if problem := await history.close():
            note(problem, err)
    return exit_code(printer.end)


class _Conversation:
    """Obeys the lines and prints the events, until the lines have ended and no turn runs."""

    def __init__(self, session: Session, history: SessionManager, printer: ConversationPrinter) -> None:
        self._session = session
        self._history = history
        self._printer = printer
        self._reader = session.bus.subscribe()
        self._open: dict[str, Event] = {}
        self._is_over = False
        self._is_done = False
        self._failure: OutputFailed | None = None

    async def run(self, source: int) -> None:
        """Read the lines of that file descriptor to their end. Raises OutputFailed."""
        lines = InputReader(source)
        lines.start()
        obeying = asyncio.create_task(self._obey(lines), name="standard input")
        try:
            async for batch in self._reader:
                for event in batch:
                    await self._show(event)
                self._leave_if_done()
        finally:
            obeying.cancel()
        if self._failure:
            raise self._failure

    def leave(self, why: str = STOPPED) -> None:
        """Stop the running turn, and read no more lines. `why` says in a sentence who does that."""
        self._session.stop(why)
        self._end_of_lines()

    async def _show(self, event: Event) -> None:
        saved = await self._history.flushed() if is_saved_first(event) else None
        self._printer.show(event, saved=saved)
        match event:
            case ApprovalRequested() | QuestionAsked():
                self._open[event.id] = event
                if self._is_over:
                    self._decline_open()
            case ApprovalAnswered() | QuestionAnswered():
                self._open.pop(event.id, None)

    async def _obey(self, lines: InputReader) -> None:
        try:
            while not self._is_over and (received := await lines.lines.get()):
                self._take(received)
        except OutputFailed as error:
            self._failure = error
            self._session.stop()
        self._end_of_lines()

    def _take(self, received: ReceivedLine) -> None:
        """Obey a line, or print why it can't be obeyed. Raises OutputFailed."""
        try:
            line = received.read()
            if line is not None:
                self._do(line)
        except (InputRefused, SessionRefused) as refused:
            error = InputError(line=received.number, text=str(refused))
            self._printer.print_json(msgspec.to_builtins(error))

    def _do(self, line: AnyInputLine) -> None:
        """Raises SessionRefused."""
        match line:
            case MessageLine():
                if not line.text.strip():
                    raise SessionRefused("The message is empty.")
                self._session.submit(line.text)
            case ApproveLine():
                self._session.answer(line.id, allow=line.allow, scope=line.scope, message=line.message)
            case AnswerLine():
                self._session.reply(line.id, line.choice, line.words)
            case StopLine():
                self._session.stop()
            case RetryLine():
                self._session.retry()
            case DiscardLine():
                self._session.discard()
            case _:
                assert_never(line)

    def _end_of_lines(self) -> None:
        self._is_over = True
        self._decline_open()
        self._leave_if_done()

    def _decline_open(self) -> None:
        """Deny open approvals and decline open questions: nobody can answer any more."""
        for event in self._open.values():
            with suppress(SessionRefused):  # it was answered or stopped meanwhile
                if isinstance(event, ApprovalRequested):
                    self._session.answer(event.id, allow=False, message=_ENDED)
                elif isinstance(event, QuestionAsked):
                    self._session.reply(event.id, None)

    def _leave_if_done(self) -> None:
        """End the printing once the lines have ended and no turn runs. Messages that are still queued aren't
        sent: they would need a turn that is done."""
        if self._is_done or not self._is_over or self._session.running or self._reader.unread:
            return
        self._is_done = True
        if waiting := len(self._session.queue):
            what = "1 message was" if waiting == 1 else f"{waiting} messages were"
            self._printer.say(f"! {what} not sent, because the turn before isn't done.")
        self._reader.close()
