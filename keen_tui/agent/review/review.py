"""A review: one turn that only reads, in a session of its own, and its report."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from typing import Final

from msgspec.structs import replace

from keen_tui.agent.review.reviewer import message_of
from keen_tui.agent.services.session_manager import SessionManager
from keen_tui.agent.session import Session
from keen_tui.domain.errors import KeenError
from keen_tui.domain.events import (
    EndEvent,
    Event,
    Notice,
    RetryScheduled,
    ToolFinished,
    TurnDone,
    TurnError,
    TurnIncomplete,
    Usage,
)
from keen_tui.domain.review import ReviewReport
from keen_tui.text.labels import call_line
from keen_tui.tools.builtin.report_findings import ReportFindings
from keen_tui.tools.review.review_diff import ReviewDiff

NOT_REPORTED: Final = (
    "The model ended its turn without reporting what it found. Review again, or with another model."
)
_ALL_LEFT_OUT: Final = "None of the changed files can be reviewed."
_NO_CHANGES: Final = "There are no changes to review."


class Review:
    """Reviews a diff.

    Args:
        session: the session of the review, which has `tool`; closed at the end.
        history: saves the session.
        tool: collects the findings.
        hear: called with each event of the session.

    `report` is the report so far.
    """

    def __init__(
        self,
        session: Session,
        history: SessionManager,
        tool: ReportFindings,
        diff: ReviewDiff,
        hear: Callable[[Event], None] = lambda _: None,
    ) -> None:
        self.report = replace(report_of(diff), model=session.model)
        self._session = session
        self._history = history
        self._tool = tool
        self._diff = diff
        self._hear = hear

    async def run(self) -> ReviewReport:
        """Review; returns the final report. If it is cancelled, the turn is stopped and saved."""
        try:
            await self._history.new()
            self.report = replace(self.report, session_id=self._history.session_id)
            await self._turn()
            with suppress(KeenError):
                await self._history.rename(self._history.session_id, f"Review: {self._diff.scope.title}")
        finally:
            await self._session.close()
            self._note_problem(await self._history.close())
        return self.report

    def stop(self) -> None:
        """Stop the review, which then ends as incomplete."""
        self._session.stop()

    async def _turn(self) -> None:
        text = await self._session.state.open.setup.toolbox.without_keys(self._diff.text)
        message = await asyncio.to_thread(message_of, self._diff, text)
        reader = self._session.bus.subscribe()
        self._session.submit(message)
        async for batch in reader:
            for event in batch:
                self._note(event)
                self._hear(event)
                if isinstance(event, EndEvent):
                    reader.close()
                    return

    def _note(self, event: Event) -> None:
        report = self.report
        match event:
            case ToolFinished():
                call = call_line(event.name, event.target)
                self.report = replace(report, calls=report.calls + 1, newest_call=call)
            case RetryScheduled():
                self.report = replace(report, newest_call=f"{event.detail} Trying again.")
            case Usage():
                self.report = replace(report, spent=report.spent.plus(event))
            case Notice():
                self.report = replace(report, notices=(*report.notices, event.text))
            case TurnDone() | TurnIncomplete() | TurnError():
                self.report = self._ended(event)

    def _ended(self, end: EndEvent) -> ReviewReport:
        report = replace(self.report, summary=self._tool.summary, findings=self._tool.findings or ())
        if isinstance(end, TurnIncomplete):
            return replace(report, state="incomplete", detail=end.detail)
        if isinstance(end, TurnError):
            return replace(report, state="error", detail=end.detail)
        if self._tool.findings is None:
            return replace(report, state="error", detail=NOT_REPORTED)
        return replace(report, state="done")

    def _note_problem(self, problem: str) -> None:
        if problem:
            self.report = replace(self.report, notices=(*self.report.notices, problem))


def report_of(diff: ReviewDiff) -> ReviewReport:
    """The report before the turn begins. If there is no file to review, it is the final one."""
    report = ReviewReport(
        scope=diff.scope,
        root=str(diff.root),
        files=tuple(file.path for file in diff.files),
        left_out=diff.left_out,
        notices=diff.notices,
    )
    if diff.files:
        return report
    if diff.left_out:
        return replace(report, state="error", detail=_ALL_LEFT_OUT)
    return replace(report, state="done", summary=_NO_CHANGES)
