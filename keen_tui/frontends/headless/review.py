"""A review without a screen: progress on standard error, the report on standard output."""

from __future__ import annotations

from typing import TextIO

from keen_tui.agent.review.review import Review
from keen_tui.domain.choices import Priority, ReviewOutput
from keen_tui.domain.events import Event
from keen_tui.domain.review import ReviewReport
from keen_tui.frontends.headless.outlets import note, write_line
from keen_tui.frontends.headless.review_forms import form_of
from keen_tui.frontends.headless.run import (
    EXIT_DONE,
    EXIT_ERROR,
    EXIT_INCOMPLETE,
    stopping_on_signals,
    watching,
)
from keen_tui.frontends.headless.sentences import progress_line
from keen_tui.text.review_words import outcome_words


async def run_review(review: Review, out: TextIO) -> ReviewReport:
    """Run the review. Signals, and the end of the output's reader, stop it."""
    with stopping_on_signals(review.stop), watching(out, review.stop):
        return await review.run()


def note_progress(event: Event, err: TextIO | None) -> None:
    """Write a line about the event for a person, if there is one."""
    if line := progress_line(event):
        note(line, err)


def print_report(
    report: ReviewReport, output: ReviewOutput, fail_on: Priority | None, out: TextIO, err: TextIO | None
) -> int:
    """Print the report, and on standard error what is missing; returns the exit code.

    Raises:
        OutputFailed: it can't be printed.
    """
    for line in form_of(report, output, fail_on):
        write_line(line, out)
    if output != "text":
        for each in report.left_out:
            note(f"! Not reviewed: {each.path}: {each.reason}", err)
        note(outcome_words(report), err)
    if report.state == "incomplete":
        note("! Nothing was changed. Run the same command again for a new review.", err)
        return EXIT_INCOMPLETE
    is_bad = report.state == "error" or (fail_on is not None and report.reaches(fail_on))
    return EXIT_ERROR if is_bad else EXIT_DONE
