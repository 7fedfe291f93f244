"""Metadata (`_meta`) of responses and updates: facts about turns and calls for which the protocol has no
field."""

from __future__ import annotations

from typing import Any

import msgspec

from keen_tui.domain.events import EndEvent, RetryScheduled, TurnDone, TurnIncomplete
from keen_tui.domain.messages import ToolResult, TurnMemory
from keen_tui.text.labels import unknown_call

Numbers = dict[str, Any]


def of_call(result: ToolResult, seconds: float) -> Numbers:
    """How a call ended, and how long it took in seconds."""
    numbers: Numbers = {"keen/outcome": result.outcome, "keen/seconds": round(seconds, 3)}
    if result.exit_code is not None:
        numbers["keen/exitCode"] = result.exit_code
    for name, holds in (
        ("keen/sandboxed", result.sandboxed),
        ("keen/readOnly", result.read_only),
        ("keen/outsideSandbox", result.outside),
        ("keen/effectsUnknown", result.effects_unknown),
    ):
        if holds:
            numbers[name] = True
    return numbers


def of_turn(end: EndEvent) -> Numbers:
    """How a turn ended, its time in seconds, and what is remembered or kept."""
    numbers: Numbers = {
        "keen/turn": end.turn,
        "keen/attempt": end.attempt,
        "keen/reason": end.reason,
        "keen/seconds": round(end.seconds, 3),
        "keen/memory": _memory(end.turn_memory),
    }
    match end:
        case TurnDone():
            return numbers | {
                "keen/end": "done",
                "keen/calls": end.calls,
                "keen/carriedBytes": end.carried_bytes,
                "keen/traceBytes": end.trace_bytes,
            }
        case TurnIncomplete():
            return numbers | {
                "keen/end": "incomplete",
                "keen/detail": end.detail,
                "keen/keptCalls": end.calls,
                "keen/keptBytes": end.trace_bytes,
                "keen/unknownCalls": [unknown_call(call) for call in end.unknown_calls],
                "keen/mayPass": end.may_pass,
            }
    return numbers | {"keen/end": "error", "keen/detail": end.detail, "keen/mayPass": end.may_pass}


def of_retry(event: RetryScheduled) -> Numbers:
    """An automatic retry, and the wait before it in seconds."""
    return {
        "keen/retry": event.attempt,
        "keen/retries": event.max_attempts,
        "keen/delay": event.delay,
        "keen/reason": event.reason,
    }


def _memory(memory: TurnMemory) -> Numbers:
    """The TurnMemory, without empty fields."""
    fields: dict[str, Any] = msgspec.to_builtins(memory)
    return {name: value for name, value in fields.items() if value}
