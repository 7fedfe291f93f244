"""Pending state: the work of an incomplete turn, so that one key can resume it.

A plain value. The provider client holds the instance, in memory only (turn.md rule 9), since the traces are
in that provider's message format.
"""

from __future__ import annotations

import json
from collections.abc import Iterable

import msgspec
from msgspec import Struct

from keen_tui.domain.messages import Fact, NativeMessage, ToolCall, ToolResult, UnknownCall


class PendingTrace(Struct, frozen=True):
    """The native messages that follow the user message of `turn`: whole steps only."""

    turn: int
    messages: tuple[NativeMessage, ...]


class OpenStep(Struct, frozen=True, kw_only=True):
    """A step that a retry goes on with (turn.md rule 20): some of its calls are unfinished. `native` is the
    reply that asked for the calls, `text` its text as the model wrote it."""

    turn: int
    native: tuple[NativeMessage, ...]
    text: str
    calls: tuple[tuple[ToolCall, ToolResult], ...]

    @property
    def facts(self) -> tuple[Fact, ...]:
        """The facts of its unfinished calls so far."""
        return tuple(fact for _, result in self.calls if result.unfinished for fact in result.facts)


class PendingState(Struct, frozen=True):
    """The traces of turns that ended midway, oldest first, with what they did so far.

    `texts` are the visible assistant texts of the whole steps, `raw_texts` the same as the model wrote them,
    `calls` the number of tool calls with a result, `seconds` how long all of it took, `unknown_calls` the
    calls whose effects nobody knows. `open_step` is no part of the traces yet; None: there is none.
    """

    traces: tuple[PendingTrace, ...] = ()
    texts: tuple[str, ...] = ()
    raw_texts: tuple[str, ...] = ()
    facts: tuple[Fact, ...] = ()
    calls: int = 0
    seconds: float = 0.0
    unknown_calls: tuple[UnknownCall, ...] = ()
    open_step: OpenStep | None = None

    @property
    def all_facts(self) -> tuple[Fact, ...]:
        """The facts, with those of unfinished calls."""
        return self.facts + (self.open_step.facts if self.open_step else ())

    @property
    def agents(self) -> int:
        """The number of sub-agents that a retry goes on with."""
        calls = self.open_step.calls if self.open_step else ()
        return sum(result.unfinished and result.ran for _, result in calls)

    @property
    def trace_bytes(self) -> int:
        """Size of all traces as compact JSON, with the results of the open step."""
        calls = self.open_step.calls if self.open_step else ()
        results = sum(len(result.text.encode("utf-8", "replace")) for _, result in calls)
        return sum(native_bytes(trace.messages) for trace in self.traces) + results


def with_trace(
    pending: PendingState | None, turn: int, messages: Iterable[NativeMessage]
) -> tuple[PendingTrace, ...]:
    """The traces of `pending`, with `messages` added to that of `turn`, the newest one."""
    traces = pending.traces if pending else ()
    added = tuple(messages)
    if traces and traces[-1].turn == turn:
        return (*traces[:-1], PendingTrace(turn, traces[-1].messages + added))
    return (*traces, PendingTrace(turn, added)) if added else traces


def native_bytes(messages: Iterable[NativeMessage]) -> int:
    """Bytes of the messages as compact UTF-8 JSON."""
    return sum(map(json_bytes, messages))


def json_bytes(value: object) -> int:
    """Bytes of a JSON value as compact UTF-8 JSON. Half of a surrogate pair counts as one."""
    try:
        return len(msgspec.json.encode(value))
    except UnicodeEncodeError:
        text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
        return len(text.encode("utf-8", "replace"))
