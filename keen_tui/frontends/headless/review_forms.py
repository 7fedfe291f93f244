"""The output formats of a review: text, JSON, annotations for GitHub, a code quality report for GitLab."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from keen_tui.domain.choices import Priority, ReviewOutput
from keen_tui.domain.review import Finding, ReviewReport
from keen_tui.text.review_words import outcome_words, report_lines

SCHEMA: Final = 1
"""Version of the JSON output, whose schema is in `docs`. New fields don't change it."""

_LEVELS: Final[Mapping[Priority, str]] = {"P0": "error", "P1": "error", "P2": "warning", "P3": "notice"}
"""GitHub's annotation level for each priority."""
_SEVERITIES: Final[Mapping[Priority, str]] = {
    "P0": "blocker",
    "P1": "critical",
    "P2": "minor",
    "P3": "info",
}
"""GitLab's severity for each priority."""


def form_of(report: ReviewReport, output: ReviewOutput, fail_on: Priority | None) -> Iterator[str]:
    """The lines of the output."""
    match output:
        case "text":
            yield from report_lines(report)
        case "json":
            yield _json(as_json(report, fail_on))
        case "github":
            yield from _annotations(report)
        case "gitlab":
            yield _json([_code_quality(finding) for finding in report.findings])


def _json(value: object) -> str:
    """The value as a line of JSON that no build server takes for a command: `##[` anywhere would be one."""
    return re.sub(r"##(?=\w*\[)", r"#\\u0023", json.dumps(value))


def as_json(report: ReviewReport, fail_on: Priority | None) -> dict[str, Any]:
    """The report as the published schema describes it."""
    spent = report.spent
    return {
        "schema": SCHEMA,
        "outcome": report.state,
        "detail": report.detail,
        "failed": fail_on is not None and report.reaches(fail_on),
        "fail_on": fail_on,
        "scope": {
            "kind": report.scope.kind,
            "title": report.scope.title,
            "name": report.scope.name or None,
            "focus": report.scope.focus or None,
            "old_commit": report.scope.old or None,
            "new_commit": report.scope.new or None,
        },
        "files": list(report.files),
        "left_out": [{"path": each.path, "reason": each.reason} for each in report.left_out],
        "summary": report.summary,
        "findings": [_as_record(finding) for finding in report.findings],
        "notices": list(report.notices),
        "session_id": report.session_id or None,
        "model": report.model or None,
        "usage": {
            "input_tokens": spent.input_tokens,
            "output_tokens": spent.output_tokens,
            "cached_tokens": spent.cached_tokens,
            "cost_usd": spent.cost if spent else None,
        },
    }


def _as_record(finding: Finding) -> dict[str, Any]:
    return {
        "priority": finding.priority,
        "title": finding.title,
        "reason": finding.reason,
        "file": finding.file,
        "first_line": finding.first_line,
        "last_line": finding.last_line,
        "confidence": finding.confidence,
        "suggestion": finding.suggestion or None,
    }


def _annotations(report: ReviewReport) -> Iterator[str]:
    """Workflow commands for GitHub: one for each finding and each file that was left out, and one for the
    outcome."""
    for finding in report.findings:
        places = {
            "file": finding.file,
            "line": str(finding.first_line),
            "endLine": str(finding.last_line),
            "title": f"{finding.priority}: {finding.title}",
        }
        told = "\n\n".join(filter(None, (finding.reason, finding.suggestion)))
        yield _command(_LEVELS[finding.priority], places, told)
    for each in report.left_out:
        yield _command("notice", {"title": "Not reviewed"}, f"{each.path}: {each.reason}")
    yield _command(
        "notice" if report.state == "done" else "error", {"title": "Review"}, outcome_words(report)
    )


def _command(level: str, properties: Mapping[str, str], text: str) -> str:
    named = ",".join(f"{name}={_escaped(value, ':,')}" for name, value in properties.items())
    return f"::{level} {named}::{_escaped(text)}"


def _escaped(text: str, more: str = "") -> str:
    """Text escaped for a workflow command. `more` are further characters to escape, as in properties."""
    for character in ("%", "\r", "\n", *more):
        text = text.replace(character, f"%{ord(character):02X}")
    return text


def _code_quality(finding: Finding) -> dict[str, Any]:
    """An issue of GitLab's code quality report."""
    mark = "\0".join((finding.file, finding.title, finding.priority))
    return {
        "description": f"{finding.priority}: {finding.title}. {finding.reason}",
        "check_name": "keen-tui review",
        "fingerprint": hashlib.sha256(mark.encode()).hexdigest(),
        "severity": _SEVERITIES[finding.priority],
        "location": {
            "path": finding.file,
            "lines": {"begin": finding.first_line, "end": finding.last_line},
        },
    }
