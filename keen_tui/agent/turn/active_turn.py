"""A running turn: what it has gathered so far, however it will end."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from msgspec import Struct, field
from msgspec.structs import replace

from keen_tui.agent.turn.settle import TurnRecord
from keen_tui.domain.messages import Fact, NativeMessage, StepReply, ToolCall, ToolResult, UnknownCall
from keen_tui.memory.conversation import Past
from keen_tui.memory.pending import OpenStep, PendingState, PendingTrace, with_trace
from keen_tui.memory.policies import MemoryPolicy, visible
from keen_tui.providers.wire.provider import Provider

_EVERY = 5
"""Number of identical calls in a row after which the user is told, and told again."""


class _RepeatWatch:
    """Counts identical calls in a row, for a notice."""

    def __init__(self) -> None:
        self._last: tuple[str, Mapping[str, Any]] | None = None
        self._count = 0

    def note(self, call: ToolCall) -> str | None:
        """Count the call; returns a sentence for the user if it has come too often, else None."""
        same = self._last == (call.name, call.arguments)
        self._count = self._count + 1 if same else 1
        self._last = (call.name, call.arguments)
        if self._count % _EVERY:
            return None
        return f"The model has made the same {call.name} call {self._count} times in a row."


class ActiveTurn(Struct, kw_only=True):
    """The state of a running attempt of a turn. The messages of `past` end with its user message;
    `seconds_before` is the time of attempts that kept nothing; `open_step` is a step with unfinished calls,
    None if there is none."""

    turn: int
    attempt: int
    past: Past
    policy: MemoryPolicy
    injected: PendingState | None
    seconds_before: float = 0.0
    started_at: float
    step: int = 0
    trace: list[NativeMessage] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)
    raw_texts: list[str] = field(default_factory=list)
    calls: int = 0
    unknown_calls: list[UnknownCall] = field(default_factory=list)
    facts: list[Fact]
    repeats: _RepeatWatch = field(default_factory=_RepeatWatch)
    told_stop_words: set[str] = field(default_factory=set)
    stops_blocked: int = 0
    open_step: OpenStep | None = None

    @property
    def has_work(self) -> bool:
        """Whether anything would be lost if the turn vanished now."""
        return bool(self.calls or self.injected or self.open_step)

    @property
    def traces(self) -> tuple[PendingTrace, ...]:
        """The injected traces, followed by this turn's own."""
        return with_trace(self.injected, self.turn, self.trace)

    def add_step(self, reply: StepReply, results: Sequence[NativeMessage] = ()) -> None:
        """Keep a whole step: the reply with the results of all its calls."""
        self.trace.extend((*reply.native, *results))
        if reply.text.strip():
            self.raw_texts.append(reply.text)
        if (text := visible(self.policy, reply.text)).strip():
            self.texts.append(text)

    def close_step(
        self, reply: StepReply, calls: Sequence[tuple[ToolCall, ToolResult]], provider: Provider
    ) -> None:
        """Keep a step whose calls have results: as a whole step, or as an open one if some are unfinished."""
        if any(result.unfinished for _, result in calls):
            self.open_step = OpenStep(
                turn=self.turn, native=reply.native, text=reply.text, calls=tuple(calls)
            )
        else:
            self.open_step = None
            self.add_step(reply, provider.tool_results(calls))

    def copied(self) -> ActiveTurn:
        """A copy that can gather more while this one stays as it is."""
        return replace(
            self,
            trace=list(self.trace),
            texts=list(self.texts),
            raw_texts=list(self.raw_texts),
            unknown_calls=list(self.unknown_calls),
            facts=list(self.facts),
        )

    def add_result(self, call: ToolCall, target: str, result: ToolResult) -> None:
        """Count a call that began to run or was answered, and keep its facts. `target` is what it acts on.
        An unfinished call counts once it is finished."""
        if result.unfinished:
            return
        if result.ran or not result.interrupted:
            self.calls += 1
            self.facts += result.facts
        if result.effects_unknown:
            self.unknown_calls.append(UnknownCall(id=call.id, name=call.name, target=target))

    def note_unknown(self, calls: Sequence[UnknownCall]) -> None:
        """Keep calls of sub-agents whose effects nobody knows, each once."""
        self.unknown_calls[:] = dict.fromkeys((*self.unknown_calls, *calls))

    def shorten(self, provider: Provider) -> int:
        """Shorten the oldest tool results, also those of the pending state, here and in what will be saved
        (turn.md rule 11). Returns the number of characters left out, 0 if there was nothing to shorten."""
        texts: list[str] = []

        def collected(text: str) -> str:
            texts.append(text)
            return text

        self._rewrite_results(provider, collected)
        shortened = shorten_oldest(texts)
        replacements = iter(shortened)
        self._rewrite_results(provider, lambda _: next(replacements))
        return sum(map(len, texts)) - sum(map(len, shortened))

    def record(self, now: float) -> TurnRecord:
        """Everything gathered, as a value for `settle`."""
        return TurnRecord(
            turn=self.turn,
            attempt=self.attempt,
            injected=self.injected,
            trace=tuple(self.trace),
            texts=tuple(self.texts),
            raw_texts=tuple(self.raw_texts),
            facts=tuple(self.facts),
            calls=self.calls,
            unknown_calls=tuple(self.unknown_calls),
            seconds=self.seconds_before + now - self.started_at,
            policy=self.policy,
            is_kept_going=self.stops_blocked > 0,
            open_step=self.open_step,
        )

    def _rewrite_results(self, provider: Provider, rewrite: Callable[[str], str]) -> None:
        if self.injected:
            traces = (
                replace(trace, messages=provider.rewrite_results(trace.messages, rewrite))
                for trace in self.injected.traces
            )
            self.injected = replace(self.injected, traces=tuple(traces))
        self.trace[:] = provider.rewrite_results(self.trace, rewrite)


KEPT = 400
"""Characters kept of a shortened result: half from its beginning, half from its end."""

WORTHWHILE = 3 * KEPT
"""A result with fewer characters is left alone."""


def shorten_oldest(texts: Sequence[str]) -> list[str]:
    """The results, oldest first, with the oldest shortened until at least half of all text is gone (turn.md
    rule 11).

    Shortened results stay short, so calling it again shortens the next ones. The list is returned unchanged
    if nothing is left to shorten.
    """
    to_free = sum(map(len, texts)) // 2
    shortened: list[str] = []
    for text in texts:
        short = _shortened(text) if to_free > 0 and len(text) > WORTHWHILE else text
        to_free -= len(text) - len(short)
        shortened.append(short)
    return shortened


def _shortened(text: str) -> str:
    half = KEPT // 2
    left_out = len(text) - KEPT
    note = f"[{left_out:,} characters left out to fit the context window; read again what you still need]"
    return f"{text[:half]}\n{note}\n{text[-half:]}"
