"""Sentences for standard error: progress, what the opening of a session did, and what is lost of a turn."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from keen_tui.domain.display import CommandDisplay
from keen_tui.domain.errors import NOBODY
from keen_tui.domain.events import (
    AgentEvent,
    ApprovalAnswered,
    Event,
    HostContacted,
    Notice,
    RetryScheduled,
    RunBegun,
    RunContinued,
    RunWaiting,
    SessionOpened,
    SessionRestored,
    ShellFinished,
    ToolFinished,
    TurnAbandoned,
    TurnError,
    TurnIncomplete,
    WebSearched,
)
from keen_tui.domain.messages import UnknownCall
from keen_tui.memory.pending import PendingState
from keen_tui.text.labels import (
    changed_words,
    contact_line,
    search_line,
    unknown_call,
)
from keen_tui.text.outcomes import SIGNS
from keen_tui.text.run_words import limits_words, run_begins, run_waits

FAILURE_LINES = 5
"""The most lines that are shown of a failed call's output."""

NO_REPLY = "The model sent an empty reply."
"""The notice for a turn that is done without an answer."""


def progress_line(event: Event) -> str | None:
    """One line about the event for a person who watches a log; None for no line."""
    match event:
        case ToolFinished(result=result):
            mark = SIGNS[result.outcome].mark
            changed = changed_words(result.display)
            return "   ".join(filter(None, (f"{mark} {event.name} {event.target}", result.summary, changed)))
        case AgentEvent(event=ToolFinished() | RetryScheduled() as inner):
            line = progress_line(inner)
            return line and f"  {event.agent}: {line}"
        case RetryScheduled():
            again = f"Trying again in {event.delay:.1f} s ({event.attempt} of {event.max_attempts})."
            return f"! {event.detail} {again}"
        case ApprovalAnswered(by="headless"):
            return f"- denied: {event.message}"
        case Notice():
            return f"! {event.text}"
        case RunBegun():
            return run_begins(event)
        case RunContinued():
            return f"The run continues. {limits_words(event.limits)}"
        case RunWaiting():
            return f"! {run_waits(event)}"
        case ShellFinished(is_check=True, result=result):
            return f"{SIGNS[result.outcome].mark} check   {result.summary}"
        case WebSearched():
            return f"{'x' if event.problem else '+'} {search_line(event)}"
        case HostContacted() if event.problem.startswith(NOBODY):
            return None  # the answer has just said so
        case HostContacted():
            return f"{'x' if event.problem else '+'} the command {contact_line(event)}"
    return None


def failure_lines(event: Event) -> list[str]:
    """The last lines of a failed call's or check's output. No lines for calls that were denied or stopped:
    another line says that."""
    if not isinstance(event, ToolFinished | ShellFinished) or event.result.outcome != "failed":
        return []
    result = event.result
    if result.exit_code and isinstance(result.display, CommandDisplay):
        said = result.display.output
    else:
        said = result.text.removeprefix("Error: ") if result.is_error else ""
    return [line.rstrip() for line in said.splitlines() if line.strip()][-FAILURE_LINES:]


def what_opening_did(events: Iterable[Event]) -> list[str]:
    """Sentences about the session that was opened last: which instructions were read, what couldn't be read,
    and which work couldn't be continued. Events before `SessionRestored` belong to its past and are left
    out."""
    said: list[str] = []
    restored = False
    for event in events:
        match event:
            case SessionOpened():
                said.clear()
                restored = not event.restoring
            case SessionRestored():
                restored = True
                said.append(event.skipped)
            case TurnAbandoned() if restored:
                files = ", ".join(event.turn_memory.files_changed) or "none"
                said.append(
                    f"Turn {event.turn} was incomplete and its work was abandoned; files changed: {files}."
                )
            case Notice() if restored:
                said.append(event.text)
    return [sentence for sentence in said if sentence]


def what_is_lost(end: TurnIncomplete | TurnError, kept_in: str) -> str:
    """Why the turn isn't done, and what is lost with this process (turn.md rule 8). If its work is `kept_in`
    a session, nothing is lost, and the sentence says how to continue."""
    if isinstance(end, TurnError):
        return f"Turn {end.outcome}: {_as_sentence(end.detail)} Nothing was run."
    files = ", ".join(end.turn_memory.files_changed) or "none"
    calls = "1 call is" if end.calls == 1 else f"{end.calls} calls are"
    if kept_in:
        fate = (
            f"kept; files changed: {files}. keen-tui --resume {kept_in} opens the session: "
            "continue with /retry, or with -p TEXT."
        )
    else:
        fate = f"lost with this process; files changed: {files}."
    return f"Turn incomplete: {_as_sentence(end.detail)} {calls} {fate}{_unknown(end.unknown_calls)}"


def what_is_pending(pending: PendingState) -> str:
    """A sentence about the work of an incomplete turn that the next message continues."""
    calls = "1 call" if pending.calls == 1 else f"{pending.calls} calls"
    unknown = _unknown(pending.unknown_calls)
    return f"The last turn was incomplete; this one continues after its {calls}.{unknown}"


def _unknown(calls: Sequence[UnknownCall]) -> str:
    """One more sentence, which names the calls whose effects aren't known; "" for none."""
    return f" Effects unknown: {'; '.join(map(unknown_call, calls))}." if calls else ""


def _as_sentence(detail: str) -> str:
    """The words with a full stop: those of a server may have none."""
    words = detail.strip()
    return words if words.endswith((".", "!", "?")) else f"{words}."
