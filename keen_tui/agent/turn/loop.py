"""The turn loop: call the model, run the tools it asks for, until it finishes or something breaks.

`run_turn` never raises: how a turn ended is a value. What it gathered stands beside it in a ActiveTurn
and outlives whatever ended it. Only whole steps enter the trace.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterator, Sequence
from contextlib import aclosing, contextmanager
from itertools import chain

from keen_tui.agent.turn.active_turn import ActiveTurn
from keen_tui.agent.turn.calls import NOT_RUN, run_call, skip_call
from keen_tui.agent.turn.images import ReadImages, images_of, publish_images
from keen_tui.agent.turn.request import step_request
from keen_tui.agent.turn.settle import Broken, Ending, Finished, pending_of
from keen_tui.agent.turn.stops import is_context_full, is_refused, runnable, stop_notice
from keen_tui.agent.turn.turn_context import Agent
from keen_tui.domain.errors import ContextExceeded, EndReason, ProviderError
from keen_tui.domain.events import (
    Notice,
    ReasoningDelta,
    RetryScheduled,
    Steered,
    StepRestarted,
    TextDelta,
    Usage,
)
from keen_tui.domain.messages import StepReply, TokenUsage, ToolCall, ToolResult
from keen_tui.domain.models import cost_of
from keen_tui.memory.projection import UserText
from keen_tui.memory.unfinished import ENDED_MIDWAY
from keen_tui.providers.base import StepReasoning, StepText

log = logging.getLogger(__name__)


async def run_turn(turn: ActiveTurn, agent: Agent) -> Ending:
    """Run the turn to its end. Cancelling the task ends it as interrupted; nothing is ever raised."""
    try:
        return await _steps(turn, agent)
    except asyncio.CancelledError:
        return Broken(reason="interrupted", detail=agent.why_stopped())
    except ProviderError as error:
        return Broken(reason=error.reason, detail=agent.retries.explain(error))
    except Exception as error:
        return broken_by_bug(turn.turn, error)


def broken_by_bug(turn: int, error: Exception) -> Broken:
    """How a turn ends where Keen itself is wrong. What is known goes to the log."""
    log.error("turn %d ended by a bug", turn, exc_info=error)
    return Broken(reason="internal", detail=f"Keen itself failed ({type(error).__name__}: {error}).")


async def _steps(turn: ActiveTurn, agent: Agent) -> Ending:
    while turn.step < agent.max_steps:
        turn.step += 1
        reply = await _call_model_until_complete(turn, agent)
        if reply.tool_calls and not is_refused(reply):
            _tell_of_odd_end(turn, agent, reply)
            await _run_batch(turn, agent, runnable(reply))
            await _steer(turn, agent)
        else:
            return _last_step(turn, agent, reply)
    return Broken(reason="step_limit", detail=f"The limit of {agent.max_steps} steps a turn is reached.")


def _last_step(turn: ActiveTurn, agent: Agent, reply: StepReply) -> Ending:
    notice = stop_notice(reply)
    if not reply.text.strip() and not is_refused(reply):
        if turn.has_work:
            reason: EndReason = "context" if is_context_full(reply) else "empty"
            return Broken(reason=reason, detail=notice or "The model sent an empty reply.")
        notice = notice or "The model sent an empty reply."
    turn.add_step(reply)
    if notice:
        agent.publish(Notice(turn=turn.turn, text=notice))
    return Finished(reason=reply.stop_reason)


_NO_IMAGES = "{} takes no images: it was told only their paths."


def _tell_of_odd_end(turn: ActiveTurn, agent: Agent, reply: StepReply) -> None:
    """A word for an end is told once a turn: a server with words of its own uses them for every step."""
    if reply.stop_word and reply.stop_word not in turn.told_stop_words:
        turn.told_stop_words.add(reply.stop_word)
        agent.publish(Notice(turn=turn.turn, text=stop_notice(reply)))


async def _call_model_until_complete(turn: ActiveTurn, agent: Agent) -> StepReply:
    """The step's reply, tried again as often as the policy allows. No tool of the step has run yet."""
    attempt = 1
    may_shorten = True
    while True:
        try:
            with _telling_of_images_refused(turn, agent):
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
        await agent.retry_wait.wait(delay)
        agent.publish(StepRestarted(turn=turn.turn, step=turn.step))


def _tell_of_shortening(turn: ActiveTurn, agent: Agent, left_out: int) -> None:
    agent.publish(StepRestarted(turn=turn.turn, step=turn.step))
    text = (
        f"The context window is full: {left_out:,} characters of the oldest tool results are left out, "
        "and the step is tried again."
    )
    agent.publish(Notice(turn=turn.turn, text=text))


@contextmanager
def _telling_of_images_refused(turn: ActiveTurn, agent: Agent) -> Iterator[None]:
    """However the call ends: no later one finds out again."""
    took_images = agent.provider.takes_images
    try:
        yield
    finally:
        if took_images and not agent.provider.takes_images:
            agent.publish(Notice(turn=turn.turn, text=_NO_IMAGES.format(agent.provider.model)))


async def _call_model(turn: ActiveTurn, agent: Agent) -> StepReply:
    request = step_request(turn.past, turn.traces, turn.policy, agent, agent.toolbox.specs, agent.projector)
    words = turn.policy.filter()
    reasoning_since: float | None = None

    def say(text: str) -> None:
        if text:
            agent.publish(TextDelta(turn=turn.turn, step=turn.step, text=text))

    async with aclosing(agent.provider.stream_step(request)) as parts:
        async for part in parts:
            match part:
                case StepText(text):
                    say(words.feed(text))
                case StepReasoning(text):
                    now = agent.clock()
                    reasoning_since = now if reasoning_since is None else reasoning_since
                    seconds = now - reasoning_since
                    agent.publish(ReasoningDelta(turn=turn.turn, step=turn.step, text=text, seconds=seconds))
                case StepReply():
                    say(words.finish())
                    if part.usage != TokenUsage():
                        cost = cost_of(part.usage, agent.price)
                        agent.publish(Usage(turn=turn.turn, step=turn.step, tokens=part.usage, cost=cost))
                    return part
    raise AssertionError("a provider ended a step without a reply and without an error")


async def _run_batch(turn: ActiveTurn, agent: Agent, reply: StepReply) -> None:
    """Run the calls in order. However it is left, every call has exactly one result in the trace."""
    batch: list[tuple[ToolCall, ToolResult]] = []

    def finished(call: ToolCall, result: ToolResult) -> None:
        batch.append((call, result))
        turn.add_result(result)

    try:
        for call in reply.tool_calls:
            await _keep_before(turn, agent, reply, batch)
            if note := turn.repeats.note(call):
                agent.publish(Notice(turn=turn.turn, text=note))
            await run_call(turn.turn, turn.step, call, agent, finished)
    finally:
        for call in reply.tool_calls[len(batch) :]:
            skip_call(turn.turn, turn.step, call, agent, finished)
        turn.add_step(reply, agent.provider.tool_results(batch))
        _keep(turn, agent)


async def _steer(turn: ActiveTurn, agent: Agent) -> None:
    """Hand in what the user wrote meanwhile, behind the tool results (turn.md rule 15), with its images.
    When that is interrupted, the words are handed in all the same."""
    texts = agent.steered()
    if not texts:
        return
    read: list[ReadImages] = []
    try:
        for text in texts:
            read.append(await images_of(text, agent))
    finally:
        images = tuple(chain.from_iterable(each.images for each in read))
        turn.trace.extend(agent.provider.native(UserText("\n\n".join(texts), turn.turn, images)))
        read += [ReadImages()] * (len(texts) - len(read))
        for text, found in zip(texts, read, strict=True):
            agent.publish(Steered(turn=turn.turn, step=turn.step, text=text))
            publish_images(turn.turn, found, agent)
        _keep(turn, agent)


def _keep(turn: ActiveTurn, agent: Agent) -> None:
    if agent.keeper:
        agent.keeper.keep(agent.provider.identity, pending_of(turn.record(agent.clock())))


async def _keep_before(
    turn: ActiveTurn, agent: Agent, reply: StepReply, batch: Sequence[tuple[ToolCall, ToolResult]]
) -> None:
    """Before a call begins: keep what will be true if the process dies while it runs (turn.md rule 9)."""
    if agent.keeper is None:
        return
    begun, *later = reply.tool_calls[len(batch) :]
    results = (*batch, (begun, ENDED_MIDWAY), *((call, NOT_RUN) for call in later))
    agent.keeper.keep(
        agent.provider.identity,
        pending_of(turn.with_step(reply, agent.provider.tool_results(results)).record(agent.clock())),
    )
    await agent.keeper.kept()
