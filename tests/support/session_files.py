"""Session files for tests, whole and damaged."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from keen_tui.domain.events import (
    Compacted,
    Event,
    SessionRenamed,
    TextDelta,
    ToolFinished,
    ToolStarted,
    TurnDone,
    TurnIncomplete,
    TurnStarted,
)
from keen_tui.domain.facts.command_failed import CommandFailed
from keen_tui.domain.facts.file_changed import FileChanged
from keen_tui.domain.messages import Fact, ToolResult, TurnMemory
from keen_tui.storage.records import Header, event_line, header_line

AT = 1_700_000_000.0
"""The time at which the records of these files were written."""


def started(turn: int, text: str | None = "hi", *, attempt: int = 1) -> TurnStarted:
    return TurnStarted(turn=turn, attempt=attempt, text=text)


def done(turn: int, text: str = "Done.", *, memory: TurnMemory | None = None) -> TurnDone:
    return TurnDone(
        turn=turn,
        attempt=1,
        reason="stop",
        text=text,
        turn_memory=memory or TurnMemory(),
        calls=0,
        seconds=1.0,
        carried_bytes=len(text),
        trace_bytes=0,
    )


def incomplete(turn: int, *facts: Fact) -> TurnIncomplete:
    return TurnIncomplete(
        turn=turn,
        attempt=1,
        reason="cut",
        detail="The connection was lost.",
        text="",
        turn_memory=TurnMemory(),
        calls=1,
        seconds=1.0,
        trace_bytes=10,
    )


def call(
    turn: int, id: str, *facts: Fact, text: str = "ok", arguments: dict[str, object] | None = None
) -> list[Event]:
    """A tool call from start to result."""
    given = {"turn": turn, "step": 1, "id": id, "name": "edit_file", "target": "a.py"}
    start = ToolStarted(**given, arguments=arguments or {"path": "a.py"})  # type: ignore[arg-type]
    result = ToolResult(text=text, facts=facts)
    return [
        start,
        ToolFinished(**given, arguments=start.arguments, result=result, seconds=0.1),  # type: ignore[arg-type]
    ]


def turn(number: int, *, reply: str = "Done.") -> list[Event]:
    """A finished turn with text, a call and facts."""
    changed, failed = FileChanged(path="a.py"), CommandFailed(command="make", exit_code=2)
    memory = TurnMemory(files_changed=("a.py",), failed_bash=(failed,))
    return [
        started(number, f"please do {number}"),
        TextDelta(turn=number, step=1, text="I'll look."),
        *call(number, f"c{number}", changed, failed),
        TextDelta(turn=number, step=2, text=reply),
        done(number, reply, memory=memory),
    ]


def compacted(turn: int, summary: str = "All went well.") -> Compacted:
    return Compacted(
        turn=turn,
        turns=turn,
        summary=summary,
        turn_memory=TurnMemory(files_changed=("a.py",)),
        bytes_before=1000,
        bytes_after=100,
        seconds=1.0,
    )


REPRESENTATIVE: Sequence[Event] = (
    *turn(1, reply='Größe: 5 µm \u2028 \0 \ud800 {"n":1}'),
    SessionRenamed(title="Ärger"),
    compacted(1),
    started(2, "and now?\nplease"),
    *call(2, "x", FileChanged(path="b.py"), arguments={"n": 1, "type": "turn_done", "deep": {"n": 2}}),
    incomplete(2),
)
"""One event of each important kind, with text that is hard to write and arguments that look like records."""


def lines(events: Iterable[Event], *, id: str = "s") -> list[bytes]:
    """The lines of a session file with these events."""
    header = header_line(Header(id=id, workspace="/home/me/shop", began=AT))
    return [header, *(event_line(number, AT + number, event) for number, event in enumerate(events, 1))]


def write_session(path: Path, events: Iterable[Event]) -> Path:
    """A session file with these events."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"".join(lines(events, id=path.stem)))
    return path
