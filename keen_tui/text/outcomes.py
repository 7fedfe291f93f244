"""What a call came to, for every reader: a sign, a role for its colour, and a few words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from msgspec import Struct

from keen_tui.domain.display import DiffDisplay
from keen_tui.domain.messages import CallOutcome, ToolResult
from keen_tui.text.sanitize import clean


class OutcomeSigns(Struct, frozen=True):
    """How an outcome is marked. `glyph` names the symbol among those of the screen, `sign` is the one in
    exports, `mark` the one in plain lines; `role` is its colour in a theme."""

    glyph: str
    role: str
    sign: str
    mark: str


SIGNS: Final[Mapping[CallOutcome, OutcomeSigns]] = {
    "done": OutcomeSigns("done", "ok", "✓", "+"),
    "failed": OutcomeSigns("failed", "fail", "✗", "x"),
    "denied": OutcomeSigns("none", "dim", "–", "-"),
    "stopped": OutcomeSigns("stopped", "soft", "■", "x"),
    "not_run": OutcomeSigns("none", "dim", "–", "x"),
}

WordsWithRole = tuple[str, str]
"""Words and their role in a theme."""


def outcome_words(result: ToolResult) -> str:
    """What a call came to, in a few words: `+12 −3`, `exit 1`, `142 lines`, `stopped`."""
    return "".join(words for words, _ in outcome_parts(result, result.display))


def outcome_parts(result: ToolResult, display: object, minus: str = "−") -> list[WordsWithRole]:
    """The same with a role for each part. `display` is its display data, if that is still there; `minus` is
    the sign before removed lines."""
    if words := not_done_words(result):
        return [(words, SIGNS[result.outcome].role)]
    if isinstance(display, DiffDisplay) and not result.is_error:
        return [(f"+{display.added}", "add"), (" ", "dim"), (f"{minus}{display.removed}", "del")]
    if result.outcome == "failed":
        return [(failure_words(result), "fail")]
    return [(clean(result.summary), "dim")]


def failure_words(result: ToolResult) -> str:
    """`exit 1`, or why the tool couldn't do it."""
    return f"exit {result.exit_code}" if result.exit_code else clean(result.summary) or "failed"


def not_done_words(result: ToolResult) -> str:
    """What a call came to that was denied, stopped or never ran; "" for others."""
    match result.outcome:
        case "denied":
            return clean(result.summary) or "denied"
        case "stopped":
            return "stopped"
        case "not_run":
            return "not run"
    return ""


def place_words(result: ToolResult) -> str:
    """Where a call ran, if that is neither its sandbox nor the usual place in this mode."""
    return "read-only" if result.read_only else "outside the sandbox" if result.outside else ""
