"""Pending state: the work of an incomplete turn, so that one key can resume it.

A plain value. The provider client holds the instance, in memory only (turn.md rule 9), since the traces are
in that provider's message format.
"""

from __future__ import annotations

import json
from collections.abc import Iterable

from msgspec import Struct

from keen_tui.domain.messages import Fact, NativeMessage, UnknownCall


class PendingTrace(Struct, frozen=True):
    """The native messages that follow the user message of `turn`: whole steps only."""

    turn: int
    messages: tuple[NativeMessage, ...]


class PendingState(Struct, frozen=True):
    """The traces of turns that ended midway, oldest first, with what they did so far.

    `texts` are the visible assistant texts of the whole steps, `raw_texts` the same as the model wrote them,
    `calls` the number of tool calls with a result, `seconds` how long all of it took, `unknown_calls` the
    calls whose effects nobody knows.
    """

    traces: tuple[PendingTrace, ...] = ()
    texts: tuple[str, ...] = ()
    raw_texts: tuple[str, ...] = ()
    facts: tuple[Fact, ...] = ()
    calls: int = 0
    seconds: float = 0.0
    unknown_calls: tuple[UnknownCall, ...] = ()

    @property
    def trace_bytes(self) -> int:
        """Size of all traces as compact JSON."""
        return sum(native_bytes(trace.messages) for trace in self.traces)


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
    return sum(
        len(json.dumps(message, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace"))
        for message in messages
    )
