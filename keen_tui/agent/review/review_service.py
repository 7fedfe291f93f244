"""The reviews of a front end with a person: one at a time, beside the session."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from typing import TYPE_CHECKING

from msgspec.structs import replace

from keen_tui.domain.errors import KeenError, SessionRefused
from keen_tui.text.labels import REASONS

if TYPE_CHECKING:
    from keen_tui.agent.review.review import Review
    from keen_tui.domain.review import ReviewReport, ReviewWish
    from keen_tui.tools.review.review_diff import ReviewDiff

log = logging.getLogger(__name__)


class ReviewService:
    """Begins reviews and knows the newest.

    Args:
        read: reads the changes; blocks, and raises KeenError.
        build: makes the review of a diff; raises KeenError.
    """

    def __init__(
        self, read: Callable[[ReviewWish], ReviewDiff], build: Callable[[ReviewDiff], Review]
    ) -> None:
        self._read = read
        self._build = build
        self._is_reading = False
        self._review: Review | None = None
        self._task: asyncio.Task[ReviewReport] | None = None
        self._report: ReviewReport | None = None

    @property
    def newest(self) -> ReviewReport | None:
        """How the newest review stands; None before the first."""
        return self._review.report if self._review else self._report

    @property
    def running(self) -> bool:
        """Whether a review runs."""
        return self._task is not None and not self._task.done()

    async def begin(self, wish: ReviewWish) -> None:
        """Begin a review. Raises KeenError: one runs, or there are no such changes."""
        if self.running or self._is_reading:
            raise SessionRefused("A review is running: /review shows it, /review stop ends it.")
        from keen_tui.agent.review.review import report_of  # noqa: PLC0415 - not without a review

        self._is_reading = True
        try:
            diff = await asyncio.to_thread(self._read, wish)
        finally:
            self._is_reading = False
        self._report, self._review = report_of(diff), None
        if self._report.state == "running":
            self._review = review = self._build(diff)
            self._task = asyncio.create_task(self._to_the_end(review), name="review")

    async def ended(self) -> None:
        """Wait until no review runs."""
        if self._task:
            await asyncio.wait((self._task,))

    def stop(self) -> None:
        """Stop the review. No effect if none runs."""
        if self._review and self.running:
            self._review.stop()

    async def _to_the_end(self, review: Review) -> ReviewReport:
        try:
            return await review.run()
        except Exception as error:
            if not isinstance(error, KeenError):
                log.exception("a review failed")
            why = str(error) if isinstance(error, KeenError) else f"{REASONS['internal']}."
            review.report = replace(review.report, state="error", detail=why)
            return review.report
