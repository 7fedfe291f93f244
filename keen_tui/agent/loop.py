"""The turn loop: call the model, run the tools it asks for, until it finishes or something breaks.

`run_turn` never raises: how a turn ended is a value. What it gathered stands beside it in a WorkingTurn
and outlives whatever ended it. Only whole steps enter the trace.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field, replace

from keen_tui.agent.calls import run_call, skip_call
from keen_tui.agent.parts import Agent
from keen_tui.agent.repeats import RepeatWatch
from keen_tui.agent.settle import Broken, Ending, Finished, TurnRecord
from keen_tui.errors import ContextExceeded, ProviderError
from keen_tui.events import (
    Notice,
    ReasoningDelta,
    RetryScheduled,
    StepRestarted,
    TextDelta,
    Usage,
)
from keen_tui.memory.pending import PendingState, with_trace
from keen_tui.memory.recorder import Recorder
from keen_tui.memory.shortening import shorten_oldest
from keen_tui.messages import Message, NativeMessage, StepReply, TokenUsage, ToolCall, ToolResult
from keen_tui.models import cost_of
from keen_tui.providers.base import Provider, StepReasoning, StepRequest, StepText

log = logging.getLogger(__name__)


@dataclass(slots=True, kw_only=True)
class WorkingTurn:
    """What a turn has gathered so far in this attempt. `conversation` ends with its user message."""

    turn: int
    attempt: int
    conversation: Sequence[Message]
    injected: PendingState | None
    started_at: float
    step: int = 0
    trace: list[NativeMessage] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)
    calls: int = 0
    recorder: Recorder = field(init=False)
    repeats: RepeatWatch = field(default_factory=RepeatWatch)

    def __post_init__(self) -> None:
        self.recorder = Recorder(self.injected.facts if self.injected else ())

    @property
    def has_work(self) -> bool:
        """Whether anything would be lost if the turn just vanished."""
        return bool(self.calls or self.injected)

    def add_step(self, reply: StepReply, results: Sequence[NativeMessage] = ()) -> None:
        """Keep a whole step: the reply with the results of all its calls."""
        self.trace.extend((*reply.native, *results))
        if reply.text.strip():
            self.texts.append(reply.text)

    def add_result(self, result: ToolResult) -> None:
        """Count a call that began to run or was answered, and keep its facts."""
        if result.ran or not result.interrupted:
            self.calls += 1
            self.recorder.record(result.facts)

    def shorten(self, provider: Provider) -> int:
        """Shorten the oldest tool results, those of the pending state included, here and in what will be
        saved (turn.md rule 11). Gives the number of characters left out, 0 when nothing could be."""
        texts: list[str] = []

        def collected(text: str) -> str:
            texts.append(text)
            return text

        self._rewrite_results(provider, collected)
        shortened = shorten_oldest(texts)
        replacements = iter(shortened)
        self._rewrite_results(provider, lambda _: next(replacements))
        return sum(map(len, texts)) - sum(map(len, shortened))

    def _rewrite_results(self, provider: Provider, rewrite: Callable[[str], str]) -> None:
        if self.injected:
            traces = (
                replace(trace, messages=provider.rewrite_results(trace.messages, rewrite))
                for trace in self.injected.traces
            )
            self.injected = replace(self.injected, traces=tuple(traces))
        self.trace[:] = provider.rewrite_results(self.trace, rewrite)

    def record(self, now: float) -> TurnRecord:
        """All of it as a value, for `settle`."""
        return TurnRecord(
            turn=self.turn,
            attempt=self.attempt,
            injected=self.injected,
            trace=tuple(self.trace),
            texts=tuple(self.texts),
            facts=self.recorder.facts,
            calls=self.calls,
            seconds=now - self.started_at,
        )


async def run_turn(turn: WorkingTurn, agent: Agent) -> Ending:
    """Run the turn to its end. Cancelling the task ends it as interrupted; nothing is ever raised."""
    try:
        return await _steps(turn, agent)
    except asyncio.CancelledError:
        return Broken(reason="interrupted", detail="You stopped it.")
    except ProviderError as error:
        return Broken(reason=error.reason, detail=agent.retries.explain(error))
    except Exception as error:
        log.exception("turn %d ended by a bug", turn.turn)
        return Broken(reason="internal", detail=f"Keen itself failed ({type(error).__name__}: {error}).")


async def _steps(turn: WorkingTurn, agent: Agent) -> Ending:
    while turn.step < agent.max_steps:
        turn.step += 1
        reply = await _call_model_until_complete(turn, agent)
        if reply.tool_calls and reply.stop_reason not in _REFUSED:
            await _run_batch(turn, agent, reply)
        else:
            return _last_step(turn, agent, reply)
    return Broken(reason="step_limit", detail=f"The limit of {agent.max_steps} steps a turn is reached.")


def _last_step(turn: WorkingTurn, agent: Agent, reply: StepReply) -> Ending:
    notice = _NOTICES.get(reply.stop_reason, "")
    if not reply.text.strip() and reply.stop_reason not in _REFUSED:
        if turn.has_work:
            return Broken(reason="empty", detail=notice or "The model sent an empty reply.")
        notice = notice or "The model sent an empty reply."
    turn.add_step(reply)
    if notice:
        agent.publish(Notice(turn=turn.turn, text=notice))
    return Finished(reason=reply.stop_reason)


_REFUSED = ("refusal", "content_filter")
"""Ends that are named and final: what the reply had begun to call is not run."""

_NOTICES = {
    "length": 'The reply stops here because the model reached its output limit. Say "continue" to go on.',
    "refusal": "The model refused to answer.",
    "content_filter": "The provider's content filter ended the reply.",
}


async def _call_model_until_complete(turn: WorkingTurn, agent: Agent) -> StepReply:
    """The step's reply, tried again as often as the policy allows. No tool of the step has run yet."""
    attempt = 1
    may_shorten = True
    while True:
        try:
            return await _call_model(turn, agent)
        except ContextExceeded:
            left_out = turn.shorten(agent.provider) if may_shorten else 0
            if not left_out:
                raise
            may_shorten = False
            _tell_of_shortening(turn, agent, left_out)
            continue
        except ProviderError as error:
            delay = agent.retries.delay(attempt, error)
            if delay is None:
                raise
            attempt += 1
            agent.publish(
                RetryScheduled(
                    turn=turn.turn,
                    step=turn.step,
                    attempt=attempt,
                    max_attempts=agent.retries.attempts,
                    delay=delay,
                    reason=error.reason,
                    detail=str(error),
                )
            )
        await asyncio.sleep(delay)
        agent.publish(StepRestarted(turn=turn.turn, step=turn.step))


def _tell_of_shortening(turn: WorkingTurn, agent: Agent, left_out: int) -> None:
    agent.publish(StepRestarted(turn=turn.turn, step=turn.step))
    text = (
        f"The context window is full: {left_out:,} characters of the oldest tool results are left out, "
        "and the step is tried again."
    )
    agent.publish(Notice(turn=turn.turn, text=text))


async def _call_model(turn: WorkingTurn, agent: Agent) -> StepReply:
    request = StepRequest(
        system=agent.system,
        conversation=turn.conversation,
        traces=with_trace(turn.injected, turn.turn, turn.trace),
        tools=agent.toolbox.specs,
    )
    reasoning_since: float | None = None
    async with aclosing(agent.provider.stream_step(request)) as parts:
        async for part in parts:
            match part:
                case StepText(text):
                    agent.publish(TextDelta(turn=turn.turn, step=turn.step, text=text))
                case StepReasoning(text):
                    now = agent.clock()
                    reasoning_since = now if reasoning_since is None else reasoning_since
                    seconds = now - reasoning_since
                    agent.publish(ReasoningDelta(turn=turn.turn, step=turn.step, text=text, seconds=seconds))
                case StepReply():
                    if part.usage != TokenUsage():
                        cost = cost_of(part.usage, agent.price)
                        agent.publish(Usage(turn=turn.turn, step=turn.step, tokens=part.usage, cost=cost))
                    return part
    raise AssertionError("a provider ended a step without a reply and without an error")


async def _run_batch(turn: WorkingTurn, agent: Agent, reply: StepReply) -> None:
    """Run the calls in order. However it is left, every call has exactly one result in the trace."""
    batch: list[tuple[ToolCall, ToolResult]] = []

    def finished(call: ToolCall, result: ToolResult) -> None:
        batch.append((call, result))
        turn.add_result(result)

    try:
        for call in reply.tool_calls:
            if note := turn.repeats.note(call):
                agent.publish(Notice(turn=turn.turn, text=note))
            await run_call(turn.turn, call, agent, finished)
    finally:
        for call in reply.tool_calls[len(batch) :]:
            skip_call(turn.turn, call, agent, finished)
        turn.add_step(reply, agent.provider.tool_results(batch))
