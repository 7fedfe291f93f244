"""report_findings: how a review says what it found, so that nothing has to be read out of prose."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any, Final

from msgspec import Meta, Struct

from keen_tui.domain.choices import PRIORITIES, Priority
from keen_tui.domain.display import TextDisplay
from keen_tui.domain.errors import ToolFailure
from keen_tui.domain.messages import ToolResult, ToolSpec
from keen_tui.domain.review import Finding, in_order
from keen_tui.text.sanitize import clean
from keen_tui.text.units import counted
from keen_tui.tools.access.access import NOTHING_TOUCHED
from keen_tui.tools.calls.arguments import checked, converted, whole
from keen_tui.tools.calls.tool import PreparedCall
from keen_tui.tools.process.bounded_output import OutputSink
from keen_tui.tools.review.numbered import ReviewedFile, named

REPORT_FINDINGS: Final = "report_findings"
_MOST: Final = 100
_LONGEST_TITLE: Final = 200
_LONGEST_TEXT: Final = 4_000
_MOST_PROBLEMS: Final = 10
_MOST_NAMED: Final = 30


class _ReportedFinding(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    priority: Priority
    title: str
    reason: str
    file: str
    first_line: Annotated[int, Meta(ge=1)]
    last_line: Annotated[int, Meta(ge=1)]
    confidence: Annotated[float, Meta(ge=0, le=1)]
    suggestion: str | None = None


class ReportFindings:
    """Takes the findings of a review, and refuses those whose place isn't inside the diff.

    `findings` and `summary` are those of the newest call; `findings` is None before the first.
    """

    spec = ToolSpec(
        name=REPORT_FINDINGS,
        description=(
            "Report what the review found, at its end and all at once: another call replaces the report. If "
            "you found nothing, call it with an empty list. The lines of each finding must be inside the "
            "diff, in one hunk; otherwise the whole report is refused, with the reason."
        ),
        parameters={
            "type": "object",
            "properties": {
                "findings": {
                    "type": "array",
                    "description": "The findings; an empty list for none.",
                    "maxItems": _MOST,
                    "items": {
                        "type": "object",
                        "properties": {
                            "priority": {
                                "type": "string",
                                "enum": list(PRIORITIES),
                                "description": (
                                    "P0: must not be merged, breaks everything or loses data. P1: a real "
                                    "bug or hole, to be fixed now. P2: to be fixed at some time. P3: small."
                                ),
                            },
                            "title": {"type": "string", "description": "The problem, in one short line."},
                            "reason": {
                                "type": "string",
                                "description": "Why it is a problem, and when it happens.",
                            },
                            "file": {"type": "string", "description": "The path, as the diff names it."},
                            "first_line": {
                                "type": "integer",
                                "description": "The first line, as the diff numbers it.",
                            },
                            "last_line": {"type": "integer", "description": "The last line."},
                            "confidence": {
                                "type": "number",
                                "description": "How sure you are, from 0 to 1.",
                            },
                            "suggestion": {"type": "string", "description": "How to fix it, if you know."},
                        },
                        "required": [
                            "priority",
                            "title",
                            "reason",
                            "file",
                            "first_line",
                            "last_line",
                            "confidence",
                        ],
                    },
                },
                "summary": {
                    "type": "string",
                    "description": "What the changes do and how good they are, in one to three sentences.",
                },
            },
            "required": ["findings"],
        },
    )
    only_reads = False

    def __init__(self, files: Sequence[ReviewedFile]) -> None:
        self._files = {file.path: file for file in files} | {named(file.path): file for file in files}
        self._names = [named(file.path) for file in files]
        self.findings: tuple[Finding, ...] | None = None
        self.summary = ""

    def target(self, arguments: Mapping[str, Any]) -> str:
        """How many findings there are."""
        given = arguments.get("findings")
        return counted(len(given), "finding") if isinstance(given, list) else ""

    async def prepare(self, arguments: Mapping[str, Any]) -> PreparedCall:
        given = checked(self.spec, arguments)
        found = in_order(self._checked(given["findings"]))
        summary = clean(given.get("summary", ""), newlines=True).strip()[:_LONGEST_TEXT]

        async def run(_: OutputSink) -> ToolResult:
            self.findings, self.summary = found, summary
            lines = [f"{each.priority} {each.place}  {each.title}" for each in found]
            said = counted(len(found), "finding")
            shown = TextDisplay(text="\n".join(map(clean, lines)) or "No findings.")
            return ToolResult(text=f"Reported: {said}.", summary=said, display=shown)

        return PreparedCall(access=NOTHING_TOUCHED, display=None, run=run)

    def _checked(self, given: Sequence[object]) -> tuple[Finding, ...]:
        """The findings. Raises ToolFailure with every problem."""
        if len(given) > _MOST:
            raise ToolFailure(f"findings must be at most {_MOST}: report the most important ones.")
        items = converted(
            REPORT_FINDINGS, "findings", list(map(_with_numbers, given)), list[_ReportedFinding]
        )
        problems = [
            f"Finding {number}: {problem}"
            for number, item in enumerate(items, 1)
            if (problem := self._problem(item))
        ]
        if problems:
            more = len(problems) - _MOST_PROBLEMS
            rest = [f"And {more} more."] if more > 0 else []
            raise ToolFailure("\n".join(("nothing was reported.", *problems[:_MOST_PROBLEMS], *rest)))
        return tuple(self._finding(item) for item in items)

    def _problem(self, item: _ReportedFinding) -> str:
        """Why the finding can't be taken, as a sentence; "" if it can."""
        if not (item.title.strip() and item.reason.strip()):
            return "it needs a title and a reason."
        if item.first_line > item.last_line:
            return "first_line is after last_line."
        file = self._files.get(item.file)
        if file is None:
            return f"{item.file[:200]!r} isn't a file of the diff. These are: {', '.join(self._known())}."
        if not file.covers(item.first_line, item.last_line):
            return (
                f"lines {item.first_line} to {item.last_line} of {named(file.path)} aren't inside the diff, "
                f"which shows {file.shown_places}. Keep to one of these ranges."
            )
        return ""

    def _known(self) -> Iterator[str]:
        yield from self._names[:_MOST_NAMED]
        if len(self._names) > _MOST_NAMED:
            yield f"and {len(self._names) - _MOST_NAMED} more"

    def _finding(self, item: _ReportedFinding) -> Finding:
        return Finding(
            priority=item.priority,
            title=clean(item.title).strip()[:_LONGEST_TITLE],
            reason=clean(item.reason, newlines=True).strip()[:_LONGEST_TEXT],
            file=self._files[item.file].path,
            first_line=item.first_line,
            last_line=item.last_line,
            confidence=item.confidence,
            suggestion=clean(item.suggestion or "", newlines=True).strip()[:_LONGEST_TEXT],
        )


def _with_numbers(item: object) -> object:
    if not isinstance(item, Mapping):
        return item
    lines = {name: whole(item[name]) for name in ("first_line", "last_line") if name in item}
    return {**item, **lines}
