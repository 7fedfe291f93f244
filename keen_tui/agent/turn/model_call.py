"""A call of the model: the reply streams in, what it took is published, and a failed call is tried again."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import aclosing

from keen_tui.agent.turn.stopped_replies import stop_notice
from keen_tui.agent.turn.turn_setup import TurnSetup
from keen_tui.domain.errors import ProviderError, ReplyUnreadable
from keen_tui.domain.events import RetryScheduled, Usage
from keen_tui.domain.messages import StepReply, TokenUsage
from keen_tui.domain.models import cost_of
from keen_tui.memory.projection import UserText
from keen_tui.providers.wire.provider import StepPart, StepRequest


def _unheard(_: StepPart) -> None:
    """Does nothing."""


async def stream_reply(
    request: StepRequest,
    setup: TurnSetup,
    hear: Callable[[StepPart], None] = _unheard,
    *,
    turn: int = 0,
    step: int = 0,
) -> StepReply:
    """Call the model once. `hear` is told each part as it comes, the reply last.

    Raises:
        ProviderError: no complete reply came.
    """
    async with aclosing(setup.provider.stream_step(request)) as parts:
        async for part in parts:
            setup.pace.passed()
            hear(part)
            if isinstance(part, StepReply):
                if part.usage != TokenUsage():
                    cost, model = cost_of(part.usage, setup.price), setup.provider.model
                    setup.publish(Usage(turn=turn, step=step, tokens=part.usage, cost=cost, model=model))
                return part
    raise AssertionError("a provider ended a step without a reply and without an error")


async def until_complete(
    call: Callable[[], Awaitable[StepReply]],
    setup: TurnSetup,
    *,
    turn: int = 0,
    step: int = 0,
    mend: Callable[[ProviderError], bool] = lambda _: False,
    before_retry: Callable[[ProviderError, float], None] = lambda _, __: None,
) -> StepReply:
    """The reply of `call`, which is tried again as often as the policy of retries allows. A rate limit that a
    sub-agent has met, or the session itself, holds all of them back, and counts once.

    Args:
        mend: removes the cause of a failure; True: the call is tried again at once, as the same attempt.
        before_retry: called when the wait before another attempt is over, with the failure and the seconds
            that it took.

    Raises:
        ProviderError: no complete reply came, and the call isn't tried again.
    """
    attempt, pace = 1, setup.pace
    while True:
        async with pace.request() as limits:
            try:
                return await call()
            except ProviderError as error:
                failure = error
        if mend(failure):
            continue
        is_known = failure.rate_limited and pace.limits > limits
        delay = pace.seconds_left if is_known else setup.options.retries.delay(attempt, failure)
        if delay is None:
            raise failure
        if not is_known:
            attempt += 1
            if failure.rate_limited:
                pace.limit(delay)
        setup.publish(
            RetryScheduled(
                turn=turn,
                step=step,
                attempt=attempt,
                max_attempts=setup.options.retries.most_attempts(failure),
                delay=delay,
                reason=failure.reason,
                detail=str(failure),
            )
        )
        began = setup.clock()
        if await setup.retry_wait.wait(delay):
            pace.free()
        before_retry(failure, setup.clock() - began)


async def answer_aside(prompt: str, setup: TurnSetup) -> str:
    """The model's answer to one message beside the conversation: no tools, no trace, no pending state
    (turn.md rule 10). What it took is published. Asked once, never again.

    Raises:
        ProviderError: no whole answer came.
    """
    request = StepRequest(system="", parts=(UserText(prompt),), tools=())
    reply = await stream_reply(request, setup)
    if reply.is_cut:
        raise ReplyUnreadable(stop_notice(reply))
    return reply.text
