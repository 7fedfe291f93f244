"""What is said of a review, for all front ends."""

from __future__ import annotations

from collections.abc import Iterator

from keen_tui.domain.review import Finding, ReviewReport
from keen_tui.text.sanitize import clean, defused
from keen_tui.text.units import counted


def outcome_words(report: ReviewReport) -> str:
    """What came of the review, in a sentence; how far it is while it runs."""
    if report.state == "running":
        return f"Reviewing {counted(len(report.files), 'file')}, {counted(report.calls, 'call')} so far."
    if report.state != "done":
        why = clean(report.detail).strip()
        return f"The review isn't finished: {why}" if report.state == "incomplete" else f"No review: {why}"
    if not report.files:
        return clean(report.summary)
    return f"{found_words(report)} in {counted(len(report.files), 'file')}."


def found_words(report: ReviewReport) -> str:
    """`3 findings`, `No findings`."""
    return counted(len(report.findings), "finding") if report.findings else "No findings"


def lines_words(finding: Finding) -> str:
    """`12`, `12-14`."""
    first, last = finding.first_line, finding.last_line
    return str(first) if first == last else f"{first}-{last}"


def place_words(finding: Finding) -> str:
    """`src/cart.py:12-14`."""
    return f"{clean(finding.file)}:{lines_words(finding)}"


def report_lines(report: ReviewReport) -> Iterator[str]:
    """The whole report in lines, the most urgent finding first. No line is a command for a build server."""
    return map(defused, _report_lines(report))


def _report_lines(report: ReviewReport) -> Iterator[str]:
    yield f"Review of {clean(report.scope.title)}"
    for finding in report.findings:
        yield ""
        yield from finding_lines(finding)
    if report.left_out:
        yield ""
        yield "Left out:"
        yield from (f"  {clean(each.path)}: {clean(each.reason)}" for each in report.left_out)
    yield ""
    if report.files and report.summary:
        yield from clean(report.summary, newlines=True).split("\n")
    yield outcome_words(report)


def finding_lines(finding: Finding) -> Iterator[str]:
    """A finding with its reason."""
    yield f"{finding.priority}  {place_words(finding)}  {clean(finding.title)}"
    for text in filter(None, (finding.reason, finding.suggestion and f"Suggestion: {finding.suggestion}")):
        yield from (f"    {defused(line)}".rstrip() for line in clean(text, newlines=True).split("\n"))


def task_of(finding: Finding) -> str:
    """A message that hands a finding back as a task."""
    text = f"Fix this finding of a review, in {place_words(finding)}: {finding.title}\n\n{finding.reason}"
    return f"{text}\n\nSuggestion: {finding.suggestion}" if finding.suggestion else text
