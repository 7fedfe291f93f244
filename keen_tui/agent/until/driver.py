"""Drives the run of a session: it reads what happens there, asks the policy what to do next, and does it."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Sequence
from contextlib import suppress
from typing import Any, Final, Protocol

from keen_tui.agent.session import Session
from keen_tui.agent.until.clock import RunClock, WallClock
from keen_tui.agent.until.policy import (
    EndRun,
    RetryTurn,
    RunCheck,
    RunStep,
    SendMessage,
    WaitFirst,
    next_step,
    reached_limit,
)
from keen_tui.agent.until.progress import NO_RUN, RunProgress, after, of_newest_run, report_of
from keen_tui.domain.errors import PROGRAM_ENDED, STOPPED, SessionRefused
from keen_tui.domain.events import (
    ApprovalAnswered,
    ApprovalRequested,
    Event,
    Notice,
    NoticeOver,
    QuestionAnswered,
    QuestionAsked,
    RunAsked,
    RunBegun,
    RunContinued,
    RunEnded,
    RunWaited,
    RunWaiting,
    SessionOpened,
    SessionRestored,
    ShellFinished,
    ToolFinished,
    ToolStarted,
    TurnError,
    TurnIncomplete,
    TurnStarted,
)
from keen_tui.domain.runs import RunLimits
from keen_tui.text.units import first_line

_LAG: Final = 1_000
"""Deltas that may lie unread: the driver needs none of them."""

_UNSAVED_SECONDS: Final = 5.0
"""Seconds until a run that can't be saved looks again."""
_UNSAVED: Final = "The run waits until the session can be saved, so that nothing runs twice."

NO_CHECK: Final = "Name the command that must succeed, for example: make test"


class RunStore(Protocol):
    """Saves the session of a run."""

    def keep_pending_here(self) -> None:
        """Keep the pending state of this session on the disk from now on."""

    async def flushed(self) -> bool:
        """Wait until everything is on the disk; False: it can't be written."""


class RunDriver:
    """The run of a session. `follow` has to run beside the session.

    Args:
        store: saves the session; None: nothing does.
        clock: for the waits between attempts.
    """

    def __init__(self, session: Session, store: RunStore | None, clock: RunClock | None = None) -> None:
        self._session = session
        self._store = store
        self._clock = clock or WallClock()
        self._reader = session.bus.subscribe(lag=_LAG)
        self._progress = NO_RUN
        self._is_driven = False
        self._is_beginning = False
        self._is_past = False
        self._is_interrupted = False
        self._over: EndRun | None = None
        self._waiter: asyncio.Task[None] | None = None
        self._turn_began = 0.0
        self._open_calls: set[str] = set()
        self._asked: dict[str, str] = {}
        self._is_unsaved = False

    @property
    def progress(self) -> RunProgress:
        """How far the newest run of the session is."""
        return self._progress

    @property
    def is_driven(self) -> bool:
        """Whether this program drives a run now."""
        return self._is_driven

    @property
    def is_left_over(self) -> bool:
        """Whether the session has a run that hasn't ended and that nobody drives."""
        return self._progress.is_on and not self._is_driven

    def begin(self, check: str, limits: RunLimits, task: str = "") -> None:
        """Begin a run. `task` is the message that it begins with, "" for none: then it begins with the check,
        or with a retry if the newest turn isn't done.

        Raises:
            SessionRefused: one is on, there is no check, or the cost can't be measured.
        """
        if self._is_driven:
            raise SessionRefused("A run is already in progress: stop it first.")
        if not check.strip():
            raise SessionRefused(NO_CHECK)
        self._require_price(limits)
        self._keep_pending()
        self._is_beginning, self._is_interrupted = True, False
        pending, messages = self._session.pending, self._session.conversation
        is_open = bool(messages) and messages[-1].role == "user"
        self._session.bus.publish(
            RunBegun(
                check=check.strip(),
                limits=limits,
                task=task,
                is_retried=is_open and not task,
                seconds_before=pending.seconds if pending else 0.0,
            )
        )

    def go_on(self, limits: RunLimits | None = None) -> None:
        """Go on with the run that the last program left, with these limits, None for those of then.

        Raises:
            SessionRefused: there is none, or the cost can't be measured.
        """
        if not self.is_left_over:
            raise SessionRefused("There is no run to continue.")
        limits = limits or self._progress.limits
        self._require_price(limits)
        self._keep_pending()
        self._is_beginning, self._is_interrupted = True, False
        self._session.bus.publish(RunContinued(limits=limits))

    def stop(self) -> bool:
        """End the run, with the turn or the check that runs. False: none is driven."""
        if self._is_beginning:
            self._is_interrupted = True
        if not self._is_driven:
            return self._is_beginning
        if self._session.running:
            self._session.stop()
        else:
            self._end(EndRun("stopped", STOPPED))
        return True

    def leave(self) -> None:
        """Drive the run no longer. It hasn't ended: another program can go on with it."""
        self._is_driven = self._is_beginning = False
        self._stop_waiting()

    async def follow(self) -> None:
        """Read the session's events and drive its run, until the session is closed."""
        try:
            async for batch in self._reader:
                self._take(batch)
                await self._act()
        finally:
            self.leave()

    async def caught_up(self) -> None:
        """Wait until `follow` has read everything that was published so far."""
        while True:
            if not self._reader.unread:
                return
            await asyncio.sleep(0)

    # What happens

    def _take(self, batch: Sequence[Event]) -> None:
        if self._is_past and SessionRestored not in map(type, batch):
            batch = of_newest_run(batch)  # the past comes as a batch of its own, and may be long
        for event in batch:
            before, self._progress = self._progress, after(self._progress, event)
            match event:
                case SessionOpened():
                    self._is_past = event.restoring
                    self.leave()
                case SessionRestored():
                    self._is_past = False
                case RunBegun() | RunContinued() if self._is_beginning and not self._is_past:
                    self._is_driven, self._is_beginning, self._over = True, False, None
                case _ if self._is_driven:
                    self._note(event, before)

    def _note(self, event: Event, before: RunProgress) -> None:
        """Note what the policy can't know: what this program sees happen."""
        match event:
            case TurnStarted():
                self._turn_began, self._over = self._work_clock(), None
                self._open_calls.clear()
                if before.waiting:
                    self._stop_waiting()
                    self._session.bus.publish(self._wait_of(before.waiting))
            case ToolStarted():
                self._open_calls.add(event.id)
            case ToolFinished():
                self._open_calls.discard(event.id)
                self._watch_limits()
            case ApprovalRequested(name=name, target=target):
                self._asked[event.id] = f"{name} {first_line(target)}".strip()
            case QuestionAsked(question=question):
                self._asked[event.id] = first_line(question)
            case ApprovalAnswered(by="headless", allowed=False):
                self._nobody_answered(event.turn, event.id, event.message)
            case QuestionAnswered(by="headless"):
                self._nobody_answered(event.turn, event.id, "")
            case TurnIncomplete(reason="interrupted") | TurnError(reason="interrupted"):
                self._is_interrupted = True
                if event.detail == PROGRAM_ENDED:
                    self.leave()
            case ShellFinished(is_check=True) if event.result.interrupted:
                self._is_interrupted = True

    def _nobody_answered(self, turn: int, call_id: str, advice: str) -> None:
        what = self._asked.pop(call_id, "a question")
        self._session.bus.publish(RunAsked(turn=turn, what=what, advice=advice))

    def _watch_limits(self) -> None:
        """Stop the running turn between two calls if the run has used up its money or its time."""
        if self._over or self._open_calls or self._progress.stage != "turn":
            return
        self._over = reached_limit(self._progress, running=self._work_clock() - self._turn_began)
        if self._over:
            self._session.stop(self._over.detail)

    # What is done

    async def _act(self) -> None:
        """Do the next step, unless something runs or has happened meanwhile."""
        if not self._may_act():
            return
        if self._is_interrupted:
            self._end(self._over or EndRun("stopped", STOPPED))
        elif waiting := self._progress.waiting:
            self._wait(self._waited_out(waiting))
        elif (step := next_step(self._progress)) and await self._is_saved() and self._may_act():
            with suppress(SessionRefused):  # something else has just begun: its end comes next
                self._do(step)

    def _may_act(self) -> bool:
        return self._is_driven and not (self._session.running or self._reader.unread)

    def _do(self, step: RunStep) -> None:
        match step:
            case SendMessage(text):
                self._session.submit(text)
            case RunCheck():
                self._session.run_own(self._progress.check, is_check=True)
            case RetryTurn():
                self._session.retry()
            case WaitFirst(seconds, because, is_named):
                now = self._clock.now()
                self._session.bus.publish(
                    RunWaiting(
                        reason=because.reason,
                        detail=because.detail,
                        began=now,
                        until=now + seconds,
                        is_named=is_named,
                    )
                )
            case EndRun():
                self._end(step)

    def _end(self, end: EndRun) -> None:
        self.leave()
        progress = self._progress
        if progress.waiting:
            waited = self._wait_of(progress.waiting)
            self._session.bus.publish(waited)
            progress = after(progress, waited)
        self._session.bus.publish(RunEnded(report=report_of(progress, end.end, end.detail)))

    async def _is_saved(self) -> bool:
        """Whether the session is on the disk: only then can another program go on without doing anything
        twice. If it can't be written, the run waits and looks again."""
        if self._store is None or await self._store.flushed():
            if self._is_unsaved:
                self._session.bus.publish(NoticeOver(text=_UNSAVED))
            self._is_unsaved = False
            return True
        if not self._is_unsaved:
            self._is_unsaved = True
            self._session.bus.publish(Notice(turn=0, text=_UNSAVED))
        self._wait(self._looked_again())
        return False

    # Waiting

    def _wait(self, job: Coroutine[Any, Any, None]) -> None:
        """Run this job, unless the run waits already."""
        if self._waiter and not self._waiter.done():
            job.close()
        else:
            self._waiter = asyncio.create_task(job, name="wait of a run")

    async def _waited_out(self, waiting: RunWaiting) -> None:
        await self._clock.sleep_until(waiting.until)
        while self._session.running:  # an undo, for example
            await self._clock.sleep_until(self._clock.now() + 1.0)
        self._session.bus.publish(self._wait_of(waiting))

    async def _looked_again(self) -> None:
        await self._clock.sleep_until(self._clock.now() + _UNSAVED_SECONDS)
        self._waiter = None
        await self._act()

    def _stop_waiting(self) -> None:
        if self._waiter:
            self._waiter.cancel()
            self._waiter = None

    def _wait_of(self, waiting: RunWaiting) -> RunWaited:
        """The wait, over now. Time in which no program ran counts, too, but no more than the wait."""
        end = min(self._clock.now(), waiting.until)
        return RunWaited(seconds=max(end - waiting.began, 0.0))

    # Inside

    def _work_clock(self) -> float:
        """Seconds that stand still while the person is asked."""
        return self._session.state.open.setup.clock()

    def _keep_pending(self) -> None:
        if self._store:
            self._store.keep_pending_here()

    def _require_price(self, limits: RunLimits) -> None:
        if limits.cost is not None and self._session.state.open.setup.price is None:
            raise SessionRefused(
                f"Keen can't limit the cost: it doesn't know the price of {self._session.model}. "
                "Limit the turns or the hours instead."
            )
