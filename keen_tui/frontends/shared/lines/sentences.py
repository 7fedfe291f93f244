"""Sentences about what happens in a session, for reading aloud."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from keen_tui.domain.display import CommandDisplay, DiffDisplay, TodoDisplay
from keen_tui.domain.errors import STOPPED
from keen_tui.domain.events import (
    Compacted,
    CompactionEvent,
    CompactionFailed,
    CompactionStarted,
    EndEvent,
    RetryScheduled,
    ShellFinished,
    ToolFinished,
    ToolStarted,
    TurnAbandoned,
    TurnDone,
    TurnError,
    TurnIncomplete,
    TurnStarted,
)
from keen_tui.domain.messages import ToolResult, UnknownCall
from keen_tui.frontends.shared.lines.displays import diff_counts, display_lines
from keen_tui.text.labels import (
    DETAILED,
    OF_THE_SERVER,
    changed_words,
    kept_parts,
    memory_words,
    tool_label,
    unknown_call,
    why_ended,
)
from keen_tui.text.outcomes import not_done_words, place_words
from keen_tui.text.sanitize import clean
from keen_tui.text.units import counted, duration, size

_LAST_LINES: Final = 10
_LONG_WAIT: Final = 3.0
"""Seconds of a wait from which on it is said how to end it."""
"""Lines at the end of its output that are told of a command that failed."""
_RULED: Final = re.compile(r"([=_*#~+-])\1{3,}")
"""Lines drawn with signs, which would be read one by one."""


def turn_begins(event: TurnStarted) -> Iterator[str]:
    if event.text is not None:
        yield f"Turn {event.turn} begins."
    elif event.recovering:
        yield f"Turn {event.turn} continues from {counted(event.recovering, 'call')}."
    else:
        yield f"Turn {event.turn} begins again."


def tool_begins(event: ToolStarted) -> str:
    return f"Tool {tool_label(event.name)}: {event.target}".rstrip(": ")


def tool_ends(event: ToolFinished) -> Iterator[str]:
    """How a call ended, and if it failed, the end of its output."""
    result = event.result
    yield f"Tool {tool_label(event.name)} {_outcome(result)}."
    yield from _changed(result)
    if isinstance(result.display, TodoDisplay):
        yield from display_lines(result.display)
    elif result.outcome != "failed":
        return
    elif result.exit_code and isinstance(result.display, CommandDisplay):
        yield from _end_of(result.display.output)
    elif result.is_error:
        yield from _end_of(result.text)


def _changed(result: ToolResult) -> Iterator[str]:
    if words := changed_words(result.display):
        yield f"It {words}."


def _outcome(result: ToolResult) -> str:
    if words := not_done_words(result):
        return words
    words = _what_came(result)
    return f"{'failed' if result.is_error else 'finished'}{': ' if words else ''}{words}"


def _what_came(result: ToolResult) -> str:
    match result.display:
        case CommandDisplay(exit_code=code, output=output):
            ended = "timed out" if result.summary == "timed out" else f"exit code {code or 0}"
            return f"{ended}, {counted(len(output.splitlines()), 'line')} of output{_how(result)}"
        case DiffDisplay() as diff if not result.is_error:
            return diff_counts(diff)
        case _:
            return clean(result.summary).rstrip(".")


def _how(result: ToolResult) -> str:
    where = place_words(result)
    return f", ran {where}" if where else ""


def _end_of(output: str) -> Iterator[str]:
    lines = [line for line in output.splitlines() if line.strip()]
    if not lines:
        return
    yield "Its output:" if len(lines) <= _LAST_LINES else f"The last {_LAST_LINES} lines of its output:"
    yield from (_RULED.sub("", line).strip() for line in lines[-_LAST_LINES:])
    yield "End of output."


def tries_again(event: RetryScheduled, *, hurry: str = "/retry tries now, Ctrl+C stops.") -> str:
    """That the step is tried again, and when; after a long wait also how to end it, which `hurry` says."""
    attempt = f"attempt {event.attempt} of {event.max_attempts}"
    again = f"Trying again in {duration(event.delay)}, {attempt}."
    return f"{event.detail} {again}{f' {hurry}' if event.delay >= _LONG_WAIT else ''}"


def turn_ends(event: EndEvent, *, lost_words: bool) -> Iterator[str]:
    """How the turn ended, and what the user can do now. `lost_words`: a reply was still arriving."""
    match event:
        case TurnDone():
            yield _done(event)
        case TurnIncomplete():
            yield f"Turn {event.turn} incomplete: {why_ended(event)}."
            yield from _detail(event)
            yield f"Kept: {', '.join(kept_parts(event))}."
            yield from _not_kept(lost_words)
            yield from map(_unknown, event.unknown_calls)
            yield from _ways_on(event)
        case TurnError():
            why = "" if event.detail == STOPPED else f": {why_ended(event)}"
            yield f"Turn {event.turn} {event.outcome}{why}."
            yield from _detail(event)
            yield from _not_kept(lost_words)
            yield from _ways_on(event)


def _done(end: TurnDone) -> str:
    facts = [duration(end.seconds)]
    facts += [counted(end.calls, "call")] if end.calls else []
    facts += [counted(end.attempt - 1, "retry", "retries")] if end.attempt > 1 else []
    memory = memory_words(end.turn_memory)
    remembered = (f"Memory: {memory}." if memory else "", memory_words(end.turn_memory, carried=False))
    return " ".join(filter(None, (f"Turn {end.turn} done: {', '.join(facts)}.", *remembered)))


def _detail(end: TurnIncomplete | TurnError) -> Iterator[str]:
    if end.reason in DETAILED and end.detail.strip():
        yield end.detail.strip()


def _not_kept(lost_words: bool) -> Iterator[str]:
    if lost_words:
        yield "The unfinished text above is not carried over."


def _unknown(call: UnknownCall) -> str:
    return f"Cut off, effects unknown: {unknown_call(call)}"


def _ways_on(end: TurnIncomplete | TurnError) -> Iterator[str]:
    if end.reason == "context":
        yield "/compact makes room by summarising earlier turns."
    if isinstance(end, TurnIncomplete):
        yield "/retry continues from the last result; no call runs twice."
        yield "/discard drops the turn; the files it changed stay remembered."
        return
    yield "/retry sends the message again. /discard removes it."
    if end.reason in OF_THE_SERVER:
        yield "Choose another model with /model, or enter another key with /key."


def abandoned(event: TurnAbandoned) -> str:
    memory = memory_words(event.turn_memory)
    return f"Turn {event.turn} abandoned." + (f" Remembered: {memory}." if memory else "")


def own_command_ends(event: ShellFinished) -> str:
    return " ".join((f"Your command {_outcome(event.result)}.", *_changed(event.result)))


def compaction_words(event: CompactionEvent) -> str | None:
    match event:
        case CompactionStarted():
            return f"Summarising {counted(event.turns, 'turn')}."
        case Compacted():
            sizes = f"{size(event.bytes_before)} became {size(event.bytes_after)}"
            return f"{counted(event.turns, 'turn')} summarised: {sizes}."
        case CompactionFailed():
            return f"Nothing was summarised: {event.detail}"
    return None


def queue_words(waiting: int) -> str:
    """Returns a sentence about the messages that wait in the queue after a turn that wasn't done."""
    waits = counted(waiting, "message waits", "messages wait")
    which = "it" if waiting == 1 else "the first"
    return f"{waits} in the queue until a turn is done; /steer sends {which} now."
