"""What the readable formats say of calls, ends, memory and all that happens between turns."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Final

from keen_tui.domain.events import (
    Compacted,
    EndEvent,
    HostContacted,
    ImagesAttached,
    ModelChanged,
    Notice,
    PolicyChanged,
    ResourcesAttached,
    RunAsked,
    RunBegun,
    RunEnded,
    RunWaiting,
    SkillCalled,
    TurnAbandoned,
    TurnDone,
    TurnError,
    TurnIncomplete,
    TurnUndone,
    WebSearched,
)
from keen_tui.domain.messages import TurnMemory
from keen_tui.domain.own_tools import own_tool
from keen_tui.export.document import ExportedCall, ExportedSession
from keen_tui.text.labels import (
    contact_line,
    done_words,
    drawn,
    image_line,
    kept_parts,
    resource_line,
    search_line,
    skill_line,
    unknown_call,
    why_ended,
)
from keen_tui.text.outcomes import SIGNS, outcome_words
from keen_tui.text.run_words import report_lines, run_asked, run_begins, run_waits
from keen_tui.text.sanitize import clean
from keen_tui.text.units import counted, dollars, duration, size

LOST: Final = "cut here: the words above are not carried over"
UNFINISHED: Final = "not finished"


def header_facts(document: ExportedSession) -> list[tuple[str, str]]:
    """What stands below the title, each with its label."""
    began = datetime.fromtimestamp(document.began, UTC).strftime("%Y-%m-%d %H:%M UTC")
    facts = [
        ("session", document.session_id),
        ("folder", document.workspace),
        ("began", began),
        ("model", document.model),
        ("turns", str(len(document.turns))),
        ("cost", dollars(document.cost) if document.cost else ""),
    ]
    return [(label, clean(fact)) for label, fact in facts if fact]


def outcome(call: ExportedCall) -> str:
    """What a call came to, in a few words."""
    result = call.result
    if result is None:
        return UNFINISHED if own_tool(call.started.name).reads else f"{UNFINISHED}, effects unknown"
    if result.effects_unknown:
        return "stopped, effects unknown"
    return outcome_words(result)


def call_sign(call: ExportedCall) -> str:
    """The sign of what it came to."""
    return "…" if call.state == "unfinished" else SIGNS[call.state].sign


def call_time(call: ExportedCall) -> str:
    ran = call.finished is not None and call.state in ("done", "failed", "stopped")
    return duration(call.finished.seconds) if ran and call.finished else ""


def end_facts(end: EndEvent | TurnAbandoned, cost: float | None) -> tuple[str, list[str]]:
    """The glyph and the words of the row that closes a turn, or an attempt at it."""
    match end:
        case TurnDone():
            return "✓", done_words(end, cost)
        case TurnIncomplete():
            why, (calls, *others) = f"{why_ended(end)} after {duration(end.seconds)}", kept_parts(end)
            return "▲", [f"turn {end.turn} incomplete", why, f"{calls} kept", *others]
        case TurnError(reason="interrupted"):
            return "■", [f"turn {end.turn} stopped", duration(end.seconds)]
        case TurnError():
            return "✗", [f"turn {end.turn} failed", why_ended(end)]
        case TurnAbandoned():
            changed = len(end.turn_memory.files_changed)
            kept = [f"{counted(changed, 'file')} remembered"] if changed else []
            return "–", [f"turn {end.turn} abandoned", *kept]


def end_detail(end: EndEvent | TurnAbandoned) -> str:
    """The server's own words about a failure, "" where there are none."""
    return clean(end.detail.strip()) if isinstance(end, TurnIncomplete | TurnError) else ""


def unknown_effects(end: EndEvent | TurnAbandoned) -> list[str]:
    """The calls whose effects nobody knew when the turn ended, each in one line."""
    calls = end.unknown_calls if isinstance(end, TurnIncomplete) else ()
    return [f"effects unknown: {unknown_call(call)}" for call in calls]


def memory_entries(memory: TurnMemory) -> list[tuple[str, str, str]]:
    """Sign, words and what came of it, for each row about what is remembered."""
    found = ((kind.SIGN, drawn(row)) for kind, facts in memory.by_kind for row in kind.rows(facts))
    return [(sign, row.text, row.came_to) for sign, row in found]


def aside(
    event: Notice
    | HostContacted
    | ImagesAttached
    | SkillCalled
    | ResourcesAttached
    | WebSearched
    | Compacted
    | TurnUndone
    | ModelChanged
    | PolicyChanged
    | RunBegun
    | RunWaiting
    | RunAsked
    | RunEnded,
) -> str:
    """One sentence about what happened beside the conversation."""
    match event:
        case Notice():
            return clean(event.text)
        case WebSearched():
            return search_line(event)
        case HostContacted():
            return f"the command {contact_line(event)}"
        case ImagesAttached():
            return "; ".join(map(image_line, event.images))
        case SkillCalled():
            return f"with the {skill_line(event.skill)}"
        case ResourcesAttached():
            return "; ".join(map(resource_line, event.resources))
        case Compacted():
            sizes = f"{size(event.bytes_before)} → {size(event.bytes_after)}"
            return f"{counted(event.turns, 'turn')} summarised, {sizes}"
        case TurnUndone():
            return f"changes of turn {event.undone} undone: {clean(', '.join(event.files))}"
        case ModelChanged():
            return clean(f"model {event.model} at {event.server}")
        case PolicyChanged():
            return f"memory policy {event.policy}"
        case RunBegun():
            return run_begins(event)
        case RunWaiting():
            return run_waits(event)
        case RunAsked():
            return run_asked(event)
        case RunEnded():
            return "; ".join(report_lines(event.report))
