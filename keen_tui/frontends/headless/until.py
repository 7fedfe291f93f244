"""A run without a screen: turns until a check passes, up to the exit code."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any, Final, TextIO

from msgspec import Struct, to_builtins

from keen_tui.agent.services.session_manager import SessionManager
from keen_tui.agent.session import Session
from keen_tui.agent.until.clock import RunClock
from keen_tui.agent.until.driver import RunDriver
from keen_tui.domain.bus import Subscription
from keen_tui.domain.choices import Output
from keen_tui.domain.errors import PROGRAM_ENDED, OutputFailed
from keen_tui.domain.events import EndEvent, Event, RunBegun, RunContinued, RunEnded, TurnDone
from keen_tui.domain.runs import RunEnd, RunLimits, RunReport
from keen_tui.frontends.headless.outlets import note, write_line
from keen_tui.frontends.headless.printer import Printer
from keen_tui.frontends.headless.run import (
    EXIT_DONE,
    EXIT_ERROR,
    EXIT_INCOMPLETE,
    filled_in,
    is_saved_first,
    opened_session,
    require_reader,
    require_sandbox,
    stopping_on_signals,
    watching,
)
from keen_tui.text.labels import why_ended
from keen_tui.text.run_words import report_lines
from keen_tui.text.sanitize import clean

EXIT_LIMIT, EXIT_SAME_FAILURE, EXIT_ASKED = 4, 5, 6

EXIT_OF: Final[Mapping[RunEnd, int]] = {
    "passed": EXIT_DONE,
    "failed": EXIT_ERROR,
    "stopped": EXIT_INCOMPLETE,
    "turns": EXIT_LIMIT,
    "cost": EXIT_LIMIT,
    "hours": EXIT_LIMIT,
    "unmeasured": EXIT_LIMIT,
    "same_failure": EXIT_SAME_FAILURE,
    "asked": EXIT_ASKED,
}


class WantedRun(Struct, frozen=True, kw_only=True):
    """The run that the flags ask for. A limit is None if no flag sets it; `cost` is in US dollars."""

    check: str
    turns: int | None = None
    cost: float | None = None
    hours: float | None = None

    def limits(self, known: RunLimits) -> RunLimits:
        """The limits of the flags, and `known` ones if a flag is missing."""
        return RunLimits(
            turns=known.turns if self.turns is None else self.turns,
            cost=known.cost if self.cost is None else self.cost,
            hours=known.hours if self.hours is None else self.hours,
        )


class RunPrinter(Printer):
    """Prints the events of a run; the end of a turn isn't the end. `report` is set when the run has ended."""

    report: RunReport | None = None
    _last: EndEvent | None = None

    def show(self, event: Event, *, saved: bool | None = None) -> None:
        """Print an event. Raises OutputFailed if it can't be printed."""
        super().show(event, saved=saved)
        if isinstance(event, RunEnded):
            self.report = event.report
            self._show_report(event.report, saved=bool(saved))

    def show_end(self, end: EndEvent, *, saved: bool) -> None:
        """Say how the turn ended; its answer is printed when the run ends."""
        self._last = end
        if isinstance(end, TurnDone):
            if self.output == "text":
                self.say(f"Turn {end.turn} done.")
        else:
            detail = end.detail.strip() or why_ended(end)
            self.say(f"! Turn {end.turn} isn't done: {detail}")

    def _show_report(self, report: RunReport, *, saved: bool) -> None:
        for line in report_lines(report):
            self.say(line)
        self.say_not_done()
        if self.output == "json":
            self._print_run(report, saved=saved)
        elif self.output == "text" and self._last and self._last.text:
            text = self._last.text
            write_line(clean(text) if self.out.isatty() else text, self.out)

    def _print_run(self, report: RunReport, *, saved: bool) -> None:
        record: dict[str, Any] = {"type": "run_ended", "text": self._last.text if self._last else ""}
        facts = self.facts(is_error=report.end != "passed", saved=saved)
        self.print_json(record | facts | {"report": to_builtins(report)})


async def run_until(
    session: Session,
    prompt: str | Callable[[], Awaitable[str]],
    wanted: WantedRun,
    output: Output,
    out: TextIO,
    err: TextIO | None,
    history: SessionManager,
    *,
    opening: str = "",
    notices: Sequence[str] = (),
    clock: RunClock | None = None,
) -> int:
    """Run turns until the check passes or the run ends in another way, and print the events. Returns the exit
    code. SIGINT, SIGTERM, SIGHUP and SIGQUIT stop the program; the run can be continued.

    Args:
        prompt: the task, or a function that gives it. "", or the task that the run began with, continues the
            run of the session `opening`; if that has no such run, one begins there, with its check.
        wanted: the check and the limits.
        clock: waits between attempts.

    The other arguments are those of `run_prompt`.

    Raises:
        ConfigError, SessionRefused, SessionInUse, StorageFailed, OutputFailed: as `run_prompt` does.
    """
    driver = RunDriver(session, history, clock)
    following = asyncio.create_task(driver.follow(), name="run")
    try:
        await require_sandbox(session)
        opened = await opened_session(session, history, opening)
        printer = RunPrinter(output, out, err, history.session_id, keeps_pending=True)
        printer.begin((*notices, *opened))
        task = prompt if isinstance(prompt, str) else await filled_in(prompt)
        await driver.caught_up()
        reader = session.bus.subscribe()
        stopping = _Stopping(session, driver, reader)
        with stopping_on_signals(stopping.stop), watching(out, stopping.stop):
            _start(driver, wanted, task)
            await _print_run(reader, history, printer)
        await stopping.done()
        require_reader(out)
    except OutputFailed as error:
        raise OutputFailed(f"{error} The run is in session {history.session_id}.") from error
    finally:
        driver.leave()
        await session.close()
        with suppress(asyncio.CancelledError):
            await following
        if problem := await history.close():
            note(problem, err)
    if printer.report is None:
        note(_way_on(wanted), err)
        return EXIT_INCOMPLETE
    return EXIT_OF[printer.report.end]


class _Stopping:
    """Stops the program in the middle of a run, at most once."""

    def __init__(self, session: Session, driver: RunDriver, reader: Subscription) -> None:
        self._session = session
        self._driver = driver
        self._reader = reader
        self._task: asyncio.Task[None] | None = None

    def stop(self) -> None:
        """Stop driving the run, and stop the running turn or check."""
        self._driver.leave()
        self._task = self._task or asyncio.create_task(self._halt(), name="stop the run")

    async def done(self) -> None:
        """Wait until everything has stopped, if `stop` was called."""
        if self._task:
            await self._task

    async def _halt(self) -> None:
        self._session.stop(PROGRAM_ENDED)
        await self._session.halt()
        self._reader.close()


def _start(driver: RunDriver, wanted: WantedRun, task: str) -> None:
    """Continue the session's run if it has the wanted check and task, otherwise begin one."""
    known = driver.progress
    is_same = driver.is_left_over and wanted.check.strip() == known.check
    if is_same and task in ("", known.first_task):
        driver.go_on(wanted.limits(known.limits))
    else:
        driver.begin(wanted.check, wanted.limits(RunLimits()), task)


async def _print_run(reader: Subscription, history: SessionManager, printer: RunPrinter) -> None:
    """Print what happens, up to the end of the run, or until the reader is closed."""
    async for batch in reader:
        for event in batch:
            is_first = is_saved_first(event) or isinstance(event, (RunBegun, RunContinued, RunEnded))
            printer.show(event, saved=await history.flushed() if is_first else None)
            if printer.report:
                return


def _way_on(wanted: WantedRun) -> str:
    check = wanted.check.replace("'", "'\\''")
    return f"The run was stopped. Continue it with: keen-tui --continue -p --until '{check}'"
