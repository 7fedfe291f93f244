"""Decides what becomes of a turn: commit, save or discard. One pure function for every front end.

The session applies the settlement first and publishes its event then (turn.md, "How a turn ends").
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from msgspec import Struct
from msgspec.structs import replace

from keen_tui.domain.errors import EndReason
from keen_tui.domain.events import TurnDone, TurnError, TurnIncomplete
from keen_tui.domain.messages import (
    Fact,
    Message,
    NativeMessage,
    StopReason,
    ToolCall,
    ToolResult,
    ToolStep,
    UnknownCall,
    turn_memory,
)
from keen_tui.memory.pending import OpenStep, PendingState, PendingTrace, native_bytes, with_trace
from keen_tui.memory.policies import MemoryPolicy, carried_bytes, policy_of, visible


class Finished(Struct, frozen=True, kw_only=True):
    """The model finished, with this stop reason."""

    reason: StopReason


class Broken(Struct, frozen=True, kw_only=True):
    """The turn ended before the model finished. `detail` is a sentence for the user. `may_pass`: the same
    request may succeed later; `retry_after`: the seconds that the server asked to wait, if it named any."""

    reason: EndReason
    detail: str
    may_pass: bool = False
    retry_after: float | None = None


Ending = Finished | Broken

ToolCalls = Sequence[tuple[ToolCall, ToolResult]]
"""The calls of a step with their results, in order."""


class TurnRecord(Struct, frozen=True, kw_only=True):
    """The record of one attempt of a turn.

    `injected` is the pending state that it continued from. `trace` and `texts` come from the whole steps of
    this attempt only; `facts` include the injected ones; `calls` counts the tool calls that began to run or
    were answered in this attempt, and `unknown_calls` are those whose effects nobody knows; `seconds` is its
    duration, including earlier attempts that kept nothing; `steps` are those of the turn in all its attempts:
    what a policy may replay. `is_kept_going`: a hook kept it going after a reply. `open_step` is the step
    with unfinished calls that it ended in, None if there is none.
    """

    turn: int
    attempt: int
    injected: PendingState | None
    trace: tuple[NativeMessage, ...]
    texts: tuple[str, ...]
    raw_texts: tuple[str, ...]
    facts: tuple[Fact, ...]
    calls: int
    seconds: float
    policy: MemoryPolicy
    unknown_calls: tuple[UnknownCall, ...] = ()
    steps: Sequence[ToolStep] = ()
    is_kept_going: bool = False
    open_step: OpenStep | None = None


class Commit(Struct, frozen=True):
    """Append the assistant message that the event holds; pending state is cleared."""

    event: TurnDone


class Save(Struct, frozen=True):
    """Append nothing; keep this pending state."""

    pending: PendingState
    event: TurnIncomplete


class Discard(Struct, frozen=True):
    """Append nothing, keep nothing."""

    event: TurnError


Settlement = Commit | Save | Discard


def settle(record: TurnRecord, ending: Ending) -> Settlement:
    """Decide what becomes of the turn: done is committed, work done is saved, nothing done is discarded."""
    if isinstance(ending, Finished):
        return _commit(record, ending)
    if record.calls or record.injected or record.is_kept_going or record.open_step:
        return _save(record, ending)
    return Discard(
        TurnError(
            turn=record.turn,
            attempt=record.attempt,
            reason=ending.reason,
            detail=ending.detail,
            seconds=record.seconds,
            may_pass=ending.may_pass,
            retry_after=ending.retry_after,
        )
    )


def _commit(record: TurnRecord, ending: Finished) -> Commit:
    text, raw = "\n\n".join(_all_texts(record)), "\n\n".join(_all_raw_texts(record))
    memory = turn_memory(record.facts)
    message = Message(
        role="assistant",
        text=text,
        turn=record.turn,
        memory=memory or None,
        raw=raw if raw != text else None,
    )
    return Commit(
        TurnDone(
            turn=record.turn,
            attempt=record.attempt,
            reason=ending.reason,
            text=text,
            turn_memory=memory,
            calls=_all_calls(record),
            seconds=_all_seconds(record),
            carried_bytes=carried_bytes(record.policy, message, record.steps),
            trace_bytes=_trace_bytes(_all_traces(record)),
            raw=message.raw,
            whole_bytes=carried_bytes(policy_of("full-trace"), message, record.steps),
        ),
    )


def _save(record: TurnRecord, ending: Broken) -> Save:
    pending = pending_of(record)
    return Save(
        pending,
        TurnIncomplete(
            turn=record.turn,
            attempt=record.attempt,
            reason=ending.reason,
            detail=ending.detail,
            text="\n\n".join(pending.texts),
            turn_memory=turn_memory(pending.all_facts),
            calls=pending.calls,
            seconds=pending.seconds,
            trace_bytes=pending.trace_bytes,
            unknown_calls=pending.unknown_calls,
            agents=pending.agents,
            may_pass=ending.may_pass,
            retry_after=ending.retry_after,
        ),
    )


def pending_of(record: TurnRecord) -> PendingState:
    """The pending state if the turn ends now: what it continued from, plus what this attempt gathered. An
    attempt that did nothing changes only the time."""
    if record.injected and not (record.trace or record.calls):
        return replace(record.injected, seconds=_all_seconds(record), open_step=record.open_step)
    return PendingState(
        traces=_all_traces(record),
        texts=_all_texts(record),
        raw_texts=_all_raw_texts(record),
        facts=record.facts,
        calls=_all_calls(record),
        seconds=_all_seconds(record),
        unknown_calls=(record.injected.unknown_calls if record.injected else ()) + record.unknown_calls,
        open_step=record.open_step,
    )


def with_step_closed(
    pending: PendingState, policy: MemoryPolicy, tool_results: Callable[[ToolCalls], Sequence[NativeMessage]]
) -> PendingState:
    """The pending state before another message of the user: the open step becomes a whole one, in which each
    unfinished call has the result that it has now. `tool_results` gives results as messages."""
    step = pending.open_step
    if step is None:
        return pending
    calls = tuple((call, replace(result, unfinished=False)) for call, result in step.calls)
    said = (step.text,) if step.text.strip() else ()
    shown = visible(policy, step.text)
    begun = sum(result.unfinished and result.ran for _, result in step.calls)
    return replace(
        pending,
        traces=with_trace(pending, step.turn, (*step.native, *tool_results(calls))),
        texts=pending.texts + ((shown,) if shown.strip() else ()),
        raw_texts=pending.raw_texts + said,
        facts=pending.all_facts,
        calls=pending.calls + begun,
        open_step=None,
    )


def _all_traces(record: TurnRecord) -> tuple[PendingTrace, ...]:
    return with_trace(record.injected, record.turn, record.trace)


def _all_texts(record: TurnRecord) -> tuple[str, ...]:
    earlier = record.injected.texts if record.injected else ()
    return earlier + record.texts


def _all_raw_texts(record: TurnRecord) -> tuple[str, ...]:
    earlier = record.injected.raw_texts if record.injected else ()
    return earlier + record.raw_texts


def _all_calls(record: TurnRecord) -> int:
    return record.calls + (record.injected.calls if record.injected else 0)


def _all_seconds(record: TurnRecord) -> float:
    return record.seconds + (record.injected.seconds if record.injected else 0.0)


def _trace_bytes(traces: tuple[PendingTrace, ...]) -> int:
    return sum(native_bytes(trace.messages) for trace in traces)
