"""A call of the model: the reply streams in, what it took is published, and a failed call is tried again."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import aclosing

from keen_tui.agent.turn.turn_setup import TurnSetup
from keen_tui.domain.errors import ProviderError
from keen_tui.domain.events import RetryScheduled, Usage
from keen_tui.domain.messages import StepReply, TokenUsage
from keen_tui.domain.models import cost_of
from keen_tui.providers.base import StepPart, StepRequest


def _unheard(_: StepPart) -> None:
    """Nobody listens."""


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
    before_retry: Callable[[], None] = lambda: None,
) -> StepReply:
    """The reply of `call`, which is tried again as often as the policy of retries allows.

    Args:
        mend: removes the cause of a failure; True: the call is tried again at once, as the same attempt.
        before_retry: called when the wait before another attempt is over.

    Raises:
        ProviderError: no complete reply came, and the call isn't tried again.
    """
    attempt = 1
    while True:
        try:
            return await call()
        except ProviderError as error:
            if mend(error):
                continue
            delay = setup.retries.delay(attempt, error)
            if delay is None:
                raise
            attempt += 1
            setup.publish(
                RetryScheduled(
                    turn=turn,
                    step=step,
                    attempt=attempt,
                    max_attempts=setup.retries.attempts,
                    delay=delay,
                    reason=error.reason,
                    detail=str(error),
                )
            )
        await setup.retry_wait.wait(delay)
        before_retry()
